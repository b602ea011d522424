package schema

import (
	"cmp"
	"errors"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/ralph-sdk/ralph/internal/text"
)

// Problem is one place of a document that breaks its schema, or of a schema that cannot be used. It is an error.
type Problem struct {
	Path    []string // of the field; empty: the document as a whole
	Message string   // what was expected, such as `must be a number, and is "x"`
}

func (p Problem) Error() string {
	return strings.TrimSpace(strings.Join(p.Path, ".") + " " + p.Message)
}

// Problems are all such places of a document, by path.
type Problems []Problem

// Whole returns the problem of the document as a whole, if there is one: it is no object, or a field is required or forbidden.
func (p Problems) Whole() (Problem, bool) {
	if len(p) > 0 && len(p[0].Path) == 0 { // they are sorted
		return p[0], true
	}
	return Problem{}, false
}

// Touching returns the first problem at a path, above it, or below it. One of the document as a whole touches each path.
func (p Problems) Touching(path []string) (Problem, bool) {
	for _, one := range p {
		if n := min(len(path), len(one.Path)); slices.Equal(path[:n], one.Path[:n]) {
			return one, true
		}
	}
	return Problem{}, false
}

// problems returns what an error of the library says of a document.
func problems(err error, doc any) (all Problems) {
	invalid := (*jsonschema.ValidationError)(nil)
	if !errors.As(err, &invalid) {
		return Problems{{Message: strings.NewReplacer("jsonschema: ", "", base, "").Replace(err.Error())}}
	}
	for _, leaf := range leaves(invalid) {
		names, v := locate(doc, leaf.InstanceLocation)
		one := Problem{names, message(leaf, v)}
		if last := len(names) - 1; leaf.Message == "not allowed" && last >= 0 { // by the schema false, so it is what contains it that is wrong
			one = Problem{names[:last], "must not have '" + names[last] + "'"}
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Problem) int { // the library goes through maps
		return cmp.Or(slices.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(all, func(a, b Problem) bool { return a.Message == b.Message && slices.Equal(a.Path, b.Path) })
}

// leaves returns the errors that name a broken keyword. Of alternatives, those for other types of values say nothing of this one.
func leaves(err *jsonschema.ValidationError) (all []*jsonschema.ValidationError) {
	for _, cause := range err.Causes {
		all = append(all, leaves(cause)...)
	}
	some := slices.DeleteFunc(slices.Clone(all), func(e *jsonschema.ValidationError) bool {
		return e.InstanceLocation == err.InstanceLocation && strings.HasPrefix(e.Message, "expected ")
	})
	if len(some) > 0 && (err.Message == "anyOf failed" || err.Message == "oneOf failed") {
		return some
	}
	if len(all) == 0 {
		return []*jsonschema.ValidationError{err}
	}
	return all
}

// locate returns the path of a JSON pointer of the library, whose names are escaped for an address too, and the value there.
func locate(v any, pointer string) (names []string, at any) {
	for _, name := range strings.Split(pointer, "/")[1:] {
		name, _ = url.PathUnescape(name)
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		names = append(names, name)
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i, _ := strconv.Atoi(name) // which the library wrote
			v = x[i]
		}
	}
	return names, v
}

// message says in plain words what the schema expects, where the library does not.
func message(err *jsonschema.ValidationError, v any) string {
	expected := strings.TrimPrefix(err.Message, "value ")
	switch path.Base(err.KeywordLocation) {
	case "type":
		kinds, _, _ := strings.Cut(strings.TrimPrefix(expected, "expected "), ", but got ")
		expected = "must be " + words.Replace(kinds)
	case "enum", "const":
	case "pattern":
		expected = strings.Replace(expected, "does not match", "must match the", 1)
	case "required":
		return strings.Replace(expected, "missing properties:", "must have", 1)
	case "additionalProperties":
		names := strings.Split(strings.TrimSuffix(strings.TrimPrefix(expected, "additionalProperties "), " not allowed"), ", ")
		slices.Sort(names)
		return "must not have " + strings.Join(names, ", ")
	default:
		return expected
	}
	return expected + ", and is " + text.Cut(text.JSON(v), 40)
}

var words = strings.NewReplacer("integer", "a whole number", "number", "a number", "string", "a text", "boolean", "true or false",
	"array", "a list", "object", "an object")
