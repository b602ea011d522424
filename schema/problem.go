package schema

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/ralph-sdk/ralph/internal/text"
)

// Problem is one place of a document that breaks its schema.
type Problem struct {
	Path    []string // of the field; empty: the document as a whole
	Message string   // what was expected, such as "must be a number, and is a text"
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

// problems returns what an error of the library says of a document, nil if there is none.
func problems(err error, doc any) (all Problems) {
	invalid := (*jsonschema.ValidationError)(nil)
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &invalid):
		return Problems{{Message: strings.TrimPrefix(err.Error(), "jsonschema: ")}}
	}
	for _, leaf := range leaves(invalid) {
		path := place(leaf.InstanceLocation)
		one := Problem{path, message(leaf, valueAt(doc, path))}
		if last := len(path) - 1; leaf.Message == "not allowed" && last >= 0 { // by the schema false, so it is what contains it that is wrong
			one = Problem{path[:last], "must not have '" + path[last] + "'"}
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b Problem) int { // the library goes through maps
		return cmp.Or(slices.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(all, func(a, b Problem) bool { return a.Message == b.Message && slices.Equal(a.Path, b.Path) })
}

// leaves returns the errors that name a broken keyword. Of alternatives, only one that is left by the type of the value says why.
func leaves(err *jsonschema.ValidationError) (all []*jsonschema.ValidationError) {
	alternatives := err.Message == "anyOf failed" || err.Message == "oneOf failed"
	left := 0
	for _, cause := range err.Causes {
		why := leaves(cause)
		if alternatives && len(why) == 1 && keyword(why[0]) == "type" && why[0].InstanceLocation == err.InstanceLocation {
			continue
		}
		left++
		all = append(all, why...)
	}
	if left == 0 || alternatives && left > 1 {
		return []*jsonschema.ValidationError{err}
	}
	return all
}

func keyword(err *jsonschema.ValidationError) string {
	return err.KeywordLocation[strings.LastIndexByte(err.KeywordLocation, '/')+1:]
}

// place returns the path of a JSON pointer of the library, whose names are escaped for an address too.
func place(pointer string) []string {
	names := strings.Split(pointer, "/")[1:]
	for i, name := range names {
		name, _ = url.PathUnescape(name)
		names[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	}
	return names
}

// valueAt returns the value at a path of a document.
func valueAt(v any, path []string) any {
	for _, name := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i, _ := strconv.Atoi(name) // which the library wrote
			v = x[i]
		}
	}
	return v
}

// message says in plain words what the schema expects, where the library does not.
func message(err *jsonschema.ValidationError, v any) string {
	expected := strings.TrimPrefix(err.Message, "value ")
	switch keyword(err) {
	case "type":
		kinds, _, _ := strings.Cut(strings.TrimPrefix(expected, "expected "), ", but got ")
		expected = "must be " + plain.Replace(kinds)
	case "enum", "const":
	case "pattern":
		expected = strings.Replace(expected, "does not match", "must match the", 1)
	case "required":
		return strings.Replace(expected, "missing properties:", "must have", 1)
	case "additionalProperties":
		names := strings.Split(strings.TrimSuffix(strings.TrimPrefix(expected, "additionalProperties "), " not allowed"), ", ")
		slices.Sort(names)
		return "must not have " + strings.Join(names, ", ")
	case "anyOf", "oneOf":
		return "must fit an alternative of the schema: " + expected
	default:
		return expected
	}
	return expected + ", and is " + show(v)
}

var plain = strings.NewReplacer("integer", "a whole number", "number", "a number", "string", "a text", "boolean", "true or false",
	"array", "a list", "object", "an object")

// show returns a value of a document for messages.
func show(v any) string {
	switch v := v.(type) {
	case string:
		return "the text " + strconv.Quote(text.Cut(v, 40))
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	case nil:
		return "null"
	}
	return fmt.Sprint(v)
}
