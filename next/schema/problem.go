package schema

import (
	"cmp"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
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
	for _, one := range p {
		if len(one.Path) == 0 {
			return one, true
		}
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

// maxSteps bounds a validation: the schemas that are applied, times the depth of the document, since a step is longer in a deep one.
const maxSteps = 10_000_000

// validate returns what jsonschema/v5 finds in a document.
func (s *Schema) validate(v any, depth int) Problems {
	var invalid *jsonschema.ValidationError
	switch err := s.run(v, maxSteps/depth); {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return s.problems(invalid, v)
	default:
		return Problems{{Message: strings.TrimPrefix(err.Error(), "jsonschema: ")}}
	}
}

var errSteps = errors.New("must be smaller: the schema takes too many steps to check it")

func (s *Schema) run(v any, steps int) (err error) {
	s.one.Lock()
	defer s.one.Unlock()
	defer func() {
		if r := recover(); r == errSteps {
			err = errSteps
		} else if r != nil {
			panic(r)
		}
	}()
	*s.steps = steps
	return s.validator.Validate(v)
}

// counter is an extension of the library that ends a validation of too many steps, and refuses whole numbers that are not exact.
type counter struct {
	left  *int
	whole bool
}

// Compile adds the counter to a schema.
func (c counter) Compile(_ jsonschema.CompilerContext, schema map[string]any) (jsonschema.ExtSchema, error) {
	c.whole = schema["type"] == "integer"
	return c, nil
}

// Validate counts a step.
func (c counter) Validate(at jsonschema.ValidationContext, v any) error {
	if *c.left--; *c.left < 0 {
		panic(errSteps)
	}
	if _, inexact := v.(float64); c.whole && inexact {
		return at.Error("exact", "must be at most 2^53 in size, and is %v", v)
	}
	return nil
}

// problems returns the problems that an error of the library names.
func (s *Schema) problems(err *jsonschema.ValidationError, v any) Problems {
	var all Problems
	for _, leaf := range leaves(err, nil) {
		path, message := split(leaf.InstanceLocation), leaf.Message
		place := strings.TrimSuffix(leaf.AbsoluteKeywordLocation, "/"+keyword(leaf))
		if last := len(path) - 1; last >= 0 && (message == "not allowed" || isName(leaf)) {
			path, message = path[:last], "must not have the field "+literal(path[last])
		} else if at := s.places[place]; at != nil {
			message = expected(at, keyword(leaf), valueAt(v, path), message)
		}
		all = append(all, Problem{path, message})
	}
	slices.SortFunc(all, func(a, b Problem) int {
		return cmp.Or(slices.Compare(a.Path, b.Path), strings.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(all, func(a, b Problem) bool { return slices.Equal(a.Path, b.Path) && a.Message == b.Message })
}

// keyword returns the keyword that an error is about.
func keyword(err *jsonschema.ValidationError) string {
	return err.KeywordLocation[strings.LastIndexByte(err.KeywordLocation, '/')+1:]
}

// isName reports whether an error is about the name of a field: it comes from propertyNames, which may be the name of a property too.
func isName(err *jsonschema.ValidationError) bool {
	return strings.Contains(strings.ReplaceAll(err.KeywordLocation, "roperties/propertyNames", ""), "/propertyNames")
}

// leaves adds the errors that say what is wrong. Alternatives do not, unless the type of the value leaves only one.
func leaves(err *jsonschema.ValidationError, all []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	causes := err.Causes
	if k := keyword(err); err.Message != "" && (k == "anyOf" || k == "oneOf" || k == "contains" || k == "minContains") {
		causes = slices.DeleteFunc(slices.Clone(causes), func(c *jsonschema.ValidationError) bool {
			for len(c.Causes) == 1 {
				c = c.Causes[0]
			}
			return keyword(c) == "type" && c.InstanceLocation == err.InstanceLocation
		})
		if len(causes) > 1 {
			causes = nil
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

// split returns the names of a JSON pointer as the library writes it, with each name escaped for a URL.
func split(pointer string) []string {
	if pointer == "" {
		return nil
	}
	names := strings.Split(pointer[1:], "/")
	for i, name := range names {
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		names[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
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
			if err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		}
	}
	return v
}
