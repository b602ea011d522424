// Package schema reads JSON documents, validates them by JSON Schema, and takes from a schema what a policy language needs: types for
// expr's checker, defaults, and known values.
//
// It promises that nothing but the schema is read (no file, no network), that sizes and depths are bounded, and that each problem says
// which field it is about. It leaves out files and front matter, and it does not validate itself: github.com/santhosh-tekuri/jsonschema/v5
// does, which no other package needs to import. How long that takes is for the author of the schema to mind. Start with [Compile].
package schema

import (
	"embed"
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

const maxLevels = 100 // of a document that is validated

// Schema is a compiled JSON Schema. It is safe for concurrent use. A nil Schema accepts any value and has no defaults.
type Schema struct {
	source    []byte
	validator *jsonschema.Schema
	typ       *Type
}

// Source returns the text of the schema, for a model that must answer by it. It is shared: do not change it.
func (s *Schema) Source() []byte {
	if s == nil {
		return nil
	}
	return s.source
}

// Type returns what the policy language takes from the schema. It is shared: do not change it.
func (s *Schema) Type() *Type {
	if s == nil {
		return nil
	}
	return s.typ
}

// Read makes a decoded document ready for rules: a null in an object counts as absent, a string that is exactly a number or boolean
// counts as one where the schema's type is that alone, jsonschema/v5 validates, and defaults fill what is absent, at every depth. Values
// that JSON does not have become texts, as fmt.Sprint writes them. Read owns v and may change it; the defaults in the result are
// shared, so do not change it. The value is usable but for what the problems name.
func (s *Schema) Read(v any) (any, Problems) {
	p := preparation{}
	v = p.value(s.Type(), v, 0)
	if s == nil {
		return v, nil
	}
	if p.depth > maxLevels { // an error takes time by the square of the depth
		return v, Problems{{Message: fmt.Sprintf("must not be nested deeper than %d levels", maxLevels)}}
	}
	problems := s.validate(v)
	left := maxFilled
	v = s.typ.filled(v, &left)
	if left < 0 {
		problems = append(Problems{{Message: "must be smaller: it has too many values without the defaults of the schema"}}, problems...)
	}
	return v, problems
}

// validate returns what jsonschema/v5 finds in a document.
func (s *Schema) validate(v any) Problems {
	var invalid *jsonschema.ValidationError
	switch err := s.validator.Validate(v); {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return problems(invalid, v)
	default:
		return Problems{{Message: strings.TrimPrefix(err.Error(), "jsonschema: ")}}
	}
}

// Complete fills in the defaults only. It is for values that a program gives as maps of type map[string]any and lists of type []any;
// what has another type stays as it is. It changes no map or list, but copies those in which something is absent. The defaults in the
// result are shared: do not change it.
func (s *Schema) Complete(v any) any {
	left := maxFilled
	return s.Type().filled(v, &left)
}

// shipped has the schemas of the state files that ralph's own policies read.
//
//go:embed shipped/*.json
var shipped embed.FS

// Shipped returns the schema that ralph ships under a name such as "speckit-state", which policies write ralph:speckit-state.
func Shipped(name string) (src []byte, ok bool) {
	src, err := shipped.ReadFile("shipped/" + name + ".json")
	return src, err == nil
}

// ShippedNames lists the names that Shipped knows, sorted.
func ShippedNames() []string {
	var names []string
	entries, _ := shipped.ReadDir("shipped") // it is embedded
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}
