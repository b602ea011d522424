package schema

import "github.com/google/go-cmp/cmp/cmpopts"

// Bare returns only the type of a schema.
func Bare(s *Schema) *Schema {
	bare := *s
	bare.compiled, bare.node = nil, nil
	return &bare
}

// Types compares only the types of schemas.
var Types = cmpopts.IgnoreFields(Schema{}, "compiled", "node")
