package schema

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// Kind is what a value basically is.
type Kind uint8

// The kinds. An Int is a Number too.
const (
	Any    Kind = iota // any value, nil included
	Null               // nil
	Bool               // bool
	Int                // int
	Number             // int or float64; integral values are int
	String             // string
	Array              // []any
	Object             // map[string]any
)

// kindWords are the names of the kinds. Those after the first are the types of JSON Schema.
var kindWords = [...]string{"anything", "null", "boolean", "integer", "number", "string", "array", "object"}

// String returns the name of the kind in messages: "anything", or the type of JSON Schema.
func (k Kind) String() string {
	if int(k) >= len(kindWords) {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindWords[k]
}

// Schema is what is known about a value: its type, and the JSON Schema that [Compile] read it from, if there is one. The zero
// Schema is anything. Schemas are shared, are safe for concurrent use, and must not be changed. Those of fields and elements
// have the type alone.
type Schema struct {
	Kind Kind
	// Kinds are the kinds that are allowed where the schema lists several and Kind therefore is Any; nil is all of them.
	Kinds []Kind
	// Nullable says that null is allowed beside Kind, or beside Kinds.
	Nullable bool
	// Optional is set on the type of a field that has no default and is not required: it may be absent, and is nil then.
	Optional bool
	// Fields are the declared fields of an Object. Required fields that nothing else declares are among them, as anything.
	Fields map[string]*Schema
	// Open says that an Object may have other fields.
	Open bool
	// Extra is the type of the other fields of an Object; nil is anything.
	Extra *Schema
	// Elem is the type of the elements of an Array; nil is anything.
	Elem *Schema
	// Enum is the closed set of values: string, int, float64, bool, nil, lists and objects; nil is no such set. A default
	// need not be in it.
	Enum []any
	// Default is the value of a missing or null one if HasDefault is set; it is complete in itself: the defaults inside it are filled in.
	Default    any
	HasDefault bool
	// Min and Max are the bounds of an Int or a Number, both inclusive; exclusive bounds of an Int are moved by one, those
	// of a Number are given as they are. nil is no bound.
	Min, Max *float64
	// Doc is the schema's description.
	Doc string

	compiled *compiled // nil for the type alone
}

// maxShownValues is how many values of an enum the words of a type list.
const maxShownValues = 100

// String is the type in words, for messages: "string", "integer", "array of integer", "object", `"a" | "b"`, "string or null",
// "integer or string", "anything".
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

// At walks from an object or list to what lies in it: a field's name, and for the elements of a list "*" or an index. It
// returns nil if the schema declares no such field, or if there are no fields or elements at all. An element of a list
// whose elements are not declared is anything.
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

// unknown says that the type allows everything.
func (t *Schema) unknown() bool { return t.Kind == Any && t.Kinds == nil }

// allows says whether values of kind k, which is not Any, satisfy the type as far as their kind goes.
func (t *Schema) allows(k Kind) bool {
	holds := func(allowed Kind) bool { return allowed == k || allowed == Number && k == Int }
	return t.unknown() || k == Null && t.Nullable || holds(t.Kind) || slices.ContainsFunc(t.Kinds, holds)
}

// kindOf is the kind of a normalised value: nil, bool, int, float64, string, []any or map[string]any.
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

// show is a value as it stands in messages: JSON, at most 40 characters of it.
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

// cut is the beginning of a text that has more than most characters.
func cut(s string, most int) string {
	start := s[:min(len(s), utf8.UTFMax*most+1)] // it may be megabytes long
	if utf8.RuneCountInString(start) <= most {
		return s
	}
	return string([]rune(start)[:most-1]) + "…"
}

// quote is fmt's %q, but for characters that people can read.
func quote(s string) string { return string(jsontext.Encode(s)) }

// Zero is the value that stands for "nothing said" where a type is declared: "",
// false, 0 or an empty list. It is nil for every other kind, and for a nil Type.
func (t *Schema) Zero() any {
	if t == nil {
		return nil
	}
	return map[Kind]any{String: "", Bool: false, Int: 0, Array: []any{}}[t.Kind]
}
