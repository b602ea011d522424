package schema

import (
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Schema is a compiled JSON Schema. It is immutable and safe for concurrent use.
type Schema struct {
	name    string
	root    *node
	nodes   map[string]*node // by pointer
	covered bool             // the own checker is enough
	typ     *Type
	widened []Widening
	unknown []Violation

	values       int // that the schema is made of
	instructions int // of all its patterns

	// library holds the schema as the library compiles it: only when something needs it, for that takes longer than
	// everything else here.
	library  sync.Once
	compiled *jsonschema.Schema
	failed   *CompileError
}

// Widening is a place in the schema whose values can be typed only as anything.
type Widening struct {
	Pointer string // JSON pointer in the schema
	Why     string // a clause, such as "anyOf allows different types"
}

// Compile compiles a schema document. Errors contain the name. The draft is that of $schema, 2020-12, 2019-09 or 7, and
// defaults to 2020-12. A $ref names a schema of the document, as "#" or "#/…"; nothing is ever loaded. Schemas of more than
// MaxSchemaSize bytes, 128 levels or 4000 schemas inside are refused. Every error is a *CompileError, the first in the
// document.
//
// Unknown keywords and formats are no errors, see [Schema.Unknown].
func Compile(name string, src []byte) (*Schema, error) {
	j, err := parseJSON(src, MaxSchemaSize)
	if err != nil {
		syntax := err.(*SyntaxError) // the only error there is
		return nil, &CompileError{Name: name, Line: syntax.Line, Col: syntax.Col, Message: "not a JSON document: " + syntax.Message}
	}
	return build(name, j.value, j.position)
}

// FromValue compiles a schema that is already decoded, such as one that stands in a YAML file: map[string]any, []any,
// string, bool, nil and numbers of any type. The value is not changed and not kept. See Compile for name and errors; there
// are pointers, but no lines.
func FromValue(name string, v any) (*Schema, error) {
	return build(name, v, func(string) (int, int) { return 0, 0 })
}

// Name is the name that the schema was compiled under.
func (s *Schema) Name() string { return s.orNone().name }

// Type is what the schema says about the values that satisfy it. It is derived once, never nil, and must not be changed.
func (s *Schema) Type() *Type { return s.orNone().typ }

// Widened lists where the type says less than the schema, sorted by pointer.
func (s *Schema) Widened() []Widening { return s.orNone().widened }

// Unknown lists keywords that JSON Schema does not have, which have no effect, and formats that are not checked, sorted by
// pointer. They are allowed, but most of them are typos, and the message names the nearest word.
func (s *Schema) Unknown() []Violation { return s.orNone().unknown }

// Size is how large the schema is: the values that it is made of, and the instructions of all its patterns.
func (s *Schema) Size() (values, instructions int) {
	s = s.orNone()
	return s.values, s.instructions
}

// noSchema is what a nil or zero Schema reports.
const noSchema = "cannot be checked: there is no schema, get one from Compile"

// orNone returns the schema, or one that says nothing for a nil or zero Schema.
func (s *Schema) orNone() *Schema {
	if s == nil || s.root == nil {
		return &Schema{typ: &Type{}}
	}
	return s
}

// Verify asks the library whether the schema is one, which Check does only when it needs the library's help. The error is
// a *CompileError. It takes up to a few milliseconds the first time.
func (s *Schema) Verify() error {
	if s == nil || s.root == nil {
		return &CompileError{Message: noSchema}
	}
	if _, err := s.lib(); err != nil {
		return err
	}
	return nil
}
