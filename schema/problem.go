package schema

import (
	"cmp"
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

// problems returns what an error of the library says of a document.
func problems(err *jsonschema.ValidationError, doc any) Problems {
	var all Problems
	for _, leaf := range leaves(err, nil) {
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

// leaves adds the errors that name a broken keyword. Of alternatives, only one that is left by the type of the value says why.
func leaves(err *jsonschema.ValidationError, all []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	causes := err.Causes
	if err.Message == "anyOf failed" || err.Message == "oneOf failed" {
		causes = slices.DeleteFunc(slices.Clone(causes), func(c *jsonschema.ValidationError) bool {
			for len(c.Causes) == 1 {
				c = c.Causes[0]
			}
			return keyword(c) == "type" && c.InstanceLocation == err.InstanceLocation
		})
		if len(causes) != 1 {
			return append(all, err)
		}
	}
	if len(causes) == 0 {
		return append(all, err)
	}
	for _, cause := range causes {
		all = leaves(cause, all)
	}
	return all
}

func keyword(err *jsonschema.ValidationError) string {
	return err.KeywordLocation[strings.LastIndexByte(err.KeywordLocation, '/')+1:]
}

// place returns the path of a location, a JSON pointer after an address, as the library writes it: names are escaped for an address too.
func place(location string) []string {
	names := strings.Split(location[strings.IndexByte(location, '#')+1:], "/")[1:]
	for i, name := range names {
		if strings.ContainsAny(name, "%~") {
			name, _ = url.PathUnescape(name)
			names[i] = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		}
	}
	return names
}

// valueAt returns the value at a path of a document, or nil.
func valueAt(v any, path []string) any {
	for _, name := range path {
		switch x := v.(type) {
		case map[string]any:
			v = x[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

// message says in plain words what the schema expects, where the library does not.
func message(err *jsonschema.ValidationError, v any) string {
	switch keyword(err) {
	case "type":
		kinds, _, _ := strings.Cut(strings.TrimPrefix(err.Message, "expected "), ", but got ")
		return "must be " + plain.Replace(kinds) + ", and is " + show(v)
	case "enum", "const":
		return strings.TrimPrefix(err.Message, "value ") + ", and is " + show(v)
	case "pattern":
		return "must match the pattern" + strings.TrimPrefix(err.Message, "does not match pattern") + ", and is " + show(v)
	case "required":
		return "must have " + sorted(strings.TrimPrefix(err.Message, "missing properties: "))
	case "additionalProperties":
		return "must not have " + sorted(strings.TrimSuffix(strings.TrimPrefix(err.Message, "additionalProperties "), " not allowed"))
	case "anyOf", "oneOf":
		return "must fit an alternative of the schema: " + err.Message
	}
	return err.Message
}

var plain = strings.NewReplacer("integer", "a whole number", "number", "a number", "string", "a text", "boolean", "true or false",
	"array", "a list", "object", "an object")

func sorted(names string) string {
	all := strings.Split(names, ", ")
	slices.Sort(all)
	return strings.Join(all, ", ")
}

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
