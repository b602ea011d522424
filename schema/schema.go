package schema

import "github.com/santhosh-tekuri/jsonschema/v5"

// compiled is a compiled schema without its type.
type compiled struct {
	name    string
	root    *node
	widened []Widening
	unknown []Violation

	library *jsonschema.Schema // nil without rare keywords

	values       int // number of values in the schema
	instructions int // of all its patterns
}

// Widening is a part of the schema whose values can only be typed as anything.
type Widening struct {
	Pointer string // JSON pointer into the schema
	Why     string // a clause, such as "anyOf allows different types"
}

// Compile compiles a schema document. Errors contain the name. The draft is that of $schema: 2020-12, 2019-09 or 7; the
// default is 2020-12. A $ref must name a schema of the document, as "#" or "#/…"; nothing is ever loaded. Compile
// rejects schemas of more than MaxSchemaSize bytes, 128 levels or some thousands of subschemas. Every error is a
// *CompileError, the first in the document.
//
// Unknown keywords and formats are not errors, see [Schema.Unknown].
func Compile(name string, src []byte) (*Schema, error) {
	doc, err := parseJSON(src, MaxSchemaSize)
	if err != nil {
		syntax := err.(*SyntaxError) // its only error
		return nil, &CompileError{Name: name, Line: syntax.Line, Col: syntax.Col, Message: "not a JSON document: " + syntax.Message}
	}
	return build(name, doc.Value, doc.Position)
}

// FromValue compiles a decoded schema, such as one within a YAML file: map[string]any, []any, string, bool, nil and
// numbers of any type. It neither modifies nor keeps the value. Name and errors are as for Compile, but errors have
// pointers instead of lines.
func FromValue(name string, v any) (*Schema, error) {
	return build(name, v, func(string) (int, int) { return 0, 0 })
}

// Name returns the name passed to Compile, "" for a schema that Compile did not make.
func (s *Schema) Name() string { return s.document().name }

// Widened returns the parts of the schema that its type does not express, sorted by pointer.
func (s *Schema) Widened() []Widening { return s.document().widened }

// Unknown returns unknown keywords, which have no effect, and unknown formats, which are not checked, sorted by
// pointer. They are allowed, but most are typos, so the message suggests the nearest word.
func (s *Schema) Unknown() []Violation { return s.document().unknown }

// Size returns the number of values in the schema, and of instructions in all its patterns.
func (s *Schema) Size() (values, instructions int) {
	c := s.document()
	return c.values, c.instructions
}

// document returns the result of Compile, empty for a schema without it.
func (s *Schema) document() *compiled {
	if s == nil || s.compiled == nil {
		return &compiled{}
	}
	return s.compiled
}
