package schema

import "github.com/expr-lang/expr/types"

// Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct{}

// Compile compiles a schema, which is JSON text. name is for messages. It reads nothing else: a reference that leaves the schema
// is an error. A schema whose references expand to more than a million subschemas is an error too.
func Compile(name string, src []byte) (*Schema, error) { panic("later") }

// Shipped returns the schema that ralph ships under a name such as "speckit-state", which policies write ralph:speckit-state.
func Shipped(name string) (src []byte, ok bool) { panic("later") }

// ShippedNames lists the names that Shipped knows, sorted.
func ShippedNames() []string { panic("later") }

// Type returns what the policy language takes from the schema. It is shared: do not change it.
func (s *Schema) Type() *Type { panic("later") }

// Read makes a decoded document ready for rules: null counts as absent, a string that is exactly a number or boolean counts as one
// where the schema's type is that alone, jsonschema/v5 validates, and defaults fill what is absent, at every depth. It owns v and may
// change it. The value is usable but for what the problems name.
func (s *Schema) Read(v any) (any, Problems) { panic("later") }

// Complete fills in the defaults only. It is for values that a program gives as maps.
func (s *Schema) Complete(v any) any { panic("later") }

// Problem is one place of a document that breaks its schema.
type Problem struct {
	Path    []string // of the field; empty: the document as a whole
	Message string   // what was expected, such as "must be a number, and is a text"
}

// Problems are all such places of a document.
type Problems []Problem

// Whole returns the problem of the document as a whole, if there is one: it is no object, or a field is required or forbidden.
func (p Problems) Whole() (Problem, bool) { panic("later") }

// Touching returns the first problem at a path, above it, or below it.
func (p Problems) Touching(path []string) (Problem, bool) { panic("later") }

// Type is what the policy language takes from a JSON Schema. A nil Type is any value.
type Type struct {
	Kind       string // JSON Schema's type if it is one: "object", "array", "string", "integer", "number", "boolean"; else ""
	Properties map[string]*Type
	Items      *Type
	Enum       []any
	Examples   []any // known values, where others are possible
	Minimum    *float64
	Maximum    *float64
	Default    any // as Go value; only if HasDefault
	HasDefault bool
	Closed     bool       // additionalProperties: false
	Go         types.Type // if not nil, the type of a Go value; what stands above is then empty
}

// Expr returns the type for expr's checker. A declared optional field has its declared type.
func (t *Type) Expr() types.Type { panic("later") }

// At returns the type at a path of field names, or nil.
func (t *Type) At(path ...string) *Type { panic("later") }

// ParseJSON reads exactly one JSON value. Numbers are int where they are whole and at most 2^53 in size, else float64. Of duplicate
// keys the last counts. The error says line and column. Input that is too deep or too large is an error.
func ParseJSON(b []byte) (any, error) { panic("later") }

// Place returns line and column, counted from 1, of the value at a path of a JSON text, or of the nearest value above it.
func Place(b []byte, path []string) (line, col int) { panic("later") }
