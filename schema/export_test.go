package schema

import "github.com/google/go-cmp/cmp/cmpopts"

// Bare returns the type of a schema alone.
func Bare(s *Schema) *Schema {
	bare := *s
	bare.compiled = nil
	return &bare
}

// Types compares schemas by their types alone.
var Types = cmpopts.IgnoreFields(Schema{}, "compiled")
