package schema

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// Kind is the basic type of a value.
type Kind uint8

// The kinds. An Int is also a Number.
const (
	Any    Kind = iota // any value, including nil
	Null               // nil
	Bool               // bool
	Int                // int
	Number             // int or float64; integral values are int
	String             // string
	Array              // []any
	Object             // map[string]any
)

// kindWords are the names of the kinds. All but the first are types of JSON Schema.
var kindWords = [...]string{"anything", "null", "boolean", "integer", "number", "string", "array", "object"}

// String returns the kind's name for messages: "anything", or the type of JSON Schema.
func (k Kind) String() string {
	if int(k) >= len(kindWords) {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindWords[k]
}

// Schema is the type of a value, with the JSON Schema that [Compile] read it from, if any. The zero Schema is anything.
// Schemas are shared, are safe for concurrent use, and must not be modified. Those of fields and elements check
// their own part of a value, see [Schema.Apart].
type Schema struct {
	Kind Kind
	// Kinds are the allowed kinds if the schema lists several, and Kind is then Any; nil allows all.
	Kinds []Kind
	// Nullable says that null is allowed in addition to Kind or Kinds.
	Nullable bool
	// Optional is set on the type of a field without a default that is not required: it may be missing, and is then
	// nil.
	Optional bool
	// Fields are the declared fields of an Object, including required fields without a declaration, which are anything.
	Fields map[string]*Schema
	// Open says that an Object may have other fields.
	Open bool
	// Extra is the type of the other fields of an Object; nil is anything.
	Extra *Schema
	// Elem is the type of the elements of an Array; nil is anything.
	Elem *Schema
	// Enum is the closed set of values: string, int, float64, bool, nil, lists and objects; nil allows all. A default
	// need not be in it.
	Enum []any
	// Default is the value of a missing or null one if HasDefault is set; the defaults inside it are filled in.
	Default    any
	HasDefault bool
	// Min and Max are the inclusive bounds of an Int or a Number; exclusive bounds of an Int are moved by one, those of
	// a Number count as inclusive. nil is no bound.
	Min, Max *float64
	// Doc is the schema's description.
	Doc string

	compiled *compiled // of the whole schema; nil for one without a document
	node     *node     // its keywords; nil without a document
}

// maxShownValues bounds the enum values in the name of a type.
const maxShownValues = 100

// String returns the type for messages: "string", "integer", "array of integer", "object", `"a" | "b"`, "string or
// null", "integer or string", "anything".
func (t *Schema) String() string {
	if t == nil {
		return Any.String()
	}
	if t.Enum != nil {
		values := make([]string, min(len(t.Enum), maxShownValues))
		for i := range values {
			values[i] = show(t.Enum[i])
		}
		if len(t.Enum) > len(values) {
			values = append(values, "…")
		}
		return strings.Join(values, " | ")
	}
	words := t.Kind.String()
	switch {
	case t.Kind == Any && t.Kinds != nil:
		words = joinKinds(t.Kinds)
	case t.Kind == Array && t.Elem != nil && t.Elem.Enum != nil:
		words = "array of (" + t.Elem.String() + ")"
	case t.Kind == Array && t.Elem != nil && !t.Elem.unknown():
		words = "array of " + t.Elem.String()
	}
	if t.Nullable && t.Kind != Null && !t.unknown() {
		words += " or null"
	}
	return words
}

// At returns the type at a path in an object or list: a field's name, and for the elements of a list "*" or an index.
// It returns nil if the schema declares no such field, or if there are no fields or elements at all. An element of a
// list whose elements are not declared is anything.
func (t *Schema) At(path ...string) *Schema {
	for _, segment := range path {
		if t == nil {
			return nil
		}
		switch t.Kind {
		case Object:
			if field, ok := t.Fields[segment]; ok {
				t = field
			} else {
				t = t.Extra
			}
		case Array:
			switch {
			case segment != "*" && !isIndex(segment):
				return nil
			case t.Elem == nil:
				t = &Schema{}
			default:
				t = t.Elem
			}
		default:
			return nil
		}
	}
	return t
}

// unknown reports whether the type allows everything.
func (t *Schema) unknown() bool { return t.Kind == Any && t.Kinds == nil }

// allows reports whether the type allows values of kind k, which is not Any.
func (t *Schema) allows(k Kind) bool {
	holds := func(allowed Kind) bool { return allowed == k || allowed == Number && k == Int }
	return t.unknown() || k == Null && t.Nullable || holds(t.Kind) || slices.ContainsFunc(t.Kinds, holds)
}

// kindOf returns the kind of a normalized value: nil, bool, int, float64, string, []any or map[string]any.
func kindOf(v any) Kind {
	switch v.(type) {
	case nil:
		return Null
	case bool:
		return Bool
	case int:
		return Int
	case float64:
		return Number
	case string:
		return String
	case []any:
		return Array
	case map[string]any:
		return Object
	}
	return Any
}

func joinKinds(kinds []Kind) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = k.String()
	}
	return strings.Join(words, " or ")
}

func isIndex(segment string) bool { return segment != "" && strings.Trim(segment, digits) == "" }

// show returns a value for messages: at most 40 characters of its JSON.
func show(v any) string {
	const most = 40
	switch v := v.(type) {
	case string:
		return quote(cut(v, most))
	case []any:
		return fmt.Sprintf("an array of %d", len(v))
	case map[string]any:
		return fmt.Sprintf("an object with %d fields", len(v))
	case nil:
		return "null"
	default:
		return cut(fmt.Sprint(v), most)
	}
}

// cut returns the beginning of a string that has more than most characters.
func cut(s string, most int) string {
	start := s[:min(len(s), utf8.UTFMax*most+1)] // it may be megabytes long
	if utf8.RuneCountInString(start) <= most {
		return s
	}
	return string([]rune(start)[:most-1]) + "…"
}

// quote is like %q, without escaping readable characters.
func quote(s string) string { return string(jsontext.Encode(s)) }

// Zero returns the value that means "not set" for a type: "", false, 0 or an empty list. It is nil for every other
// kind, and for a nil Schema.
func (t *Schema) Zero() any {
	if t == nil {
		return nil
	}
	return map[Kind]any{String: "", Bool: false, Int: 0, Array: []any{}}[t.Kind]
}
