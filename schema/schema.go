package schema

import "github.com/santhosh-tekuri/jsonschema/v5"

// compiled is what Compile makes of a schema beside its type.
type compiled struct {
	name    string
	root    *node
	widened []Widening
	unknown []Violation

	library *jsonschema.Schema // nil without rare keywords

	values       int // that the schema is made of
	instructions int // of all its patterns
}

// Widening is a place in the schema whose values can be typed only as anything.
type Widening struct {
	Pointer string // JSON pointer in the schema
	Why     string // a clause, such as "anyOf allows different types"
}

// Compile compiles a schema document. Errors contain the name. The draft is that of $schema, 2020-12, 2019-09 or 7, and
// defaults to 2020-12. A $ref names a schema of the document, as "#" or "#/…"; nothing is ever loaded. Schemas of more than
// MaxSchemaSize bytes, 128 levels or some thousands of schemas inside are refused. Every error is a *CompileError, the first in the
// document.
//
// Unknown keywords and formats are no errors, see [Schema.Unknown].
func Compile(name string, src []byte) (*Schema, error) {
	doc, err := parseJSON(src, MaxSchemaSize)
	if err != nil {
		syntax := err.(*SyntaxError) // the only error there is
		return nil, &CompileError{Name: name, Line: syntax.Line, Col: syntax.Col, Message: "not a JSON document: " + syntax.Message}
	}
	return build(name, doc.Value, doc.Position)
}

// FromValue compiles a schema that is already decoded, such as one that stands in a YAML file: map[string]any, []any,
// string, bool, nil and numbers of any type. The value is not changed and not kept. See Compile for name and errors; there
// are pointers, but no lines.
func FromValue(name string, v any) (*Schema, error) {
	return build(name, v, func(string) (int, int) { return 0, 0 })
}

// Name is the name that the schema was compiled under, "" for one that Compile did not make.
func (s *Schema) Name() string { return s.document().name }

// Widened lists where the type says less than the schema, sorted by pointer.
func (s *Schema) Widened() []Widening { return s.document().widened }

// Unknown lists keywords that JSON Schema does not have, which have no effect, and formats that are not checked, sorted by
// pointer. They are allowed, but most of them are typos, and the message names the nearest word.
func (s *Schema) Unknown() []Violation { return s.document().unknown }

// Size is how large the schema is: the values that it is made of, and the instructions of all its patterns.
func (s *Schema) Size() (values, instructions int) {
	c := s.document()
	return c.values, c.instructions
}

// document returns what Compile made, nothing for a schema without it.
func (s *Schema) document() *compiled {
	if s == nil || s.compiled == nil {
		return &compiled{}
	}
	return s.compiled
}
