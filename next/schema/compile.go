package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Limits on a schema. With them, compiling takes less than a second.
const (
	maxSchema   = 1 << 20 // bytes
	maxLevels   = 100
	maxObjects  = 10_000
	maxPatterns = 10_000_000 // bytes of patterns, each a thousandfold if it repeats a part
	maxExpanded = 1_000_000  // subschemas for one value
	maxDefaults = 20_000    // values of all defaults together
)

// base is the address of a schema. Nothing is there.
const base = "https://schema.invalid/"

// Compile compiles a schema, which is JSON text of at most 1 MiB and 100 levels. name is for messages. Without $schema it is of draft
// 2020-12. Compile reads nothing else: a reference that leaves the schema is an error. A schema whose references expand to more than a
// million subschemas for one value is an error too. Errors are *Error.
func Compile(name string, src []byte) (*Schema, error) {
	doc, err := parse(src, maxSchema, maxLevels)
	if err == nil {
		err = measure(doc)
	}
	if err != nil {
		return nil, named(name, src, err)
	}
	s := &Schema{steps: new(int)}
	c := jsonschema.NewCompiler()
	c.Draft, c.ExtractAnnotations = jsonschema.Draft2020, true
	c.LoadURL = func(url string) (io.ReadCloser, error) { return nil, outside(url) }
	c.RegisterExtension("steps", nil, counter{left: s.steps})
	b, err := json.Marshal(doc) // with numbers that are bounded, and without duplicate keys
	if err == nil {
		err = c.AddResource(base, bytes.NewReader(b))
	}
	if err == nil {
		s.validator, err = c.Compile(base)
	}
	if err == nil {
		err = s.derive()
	}
	if err != nil {
		return nil, named(name, src, explain(doc, err))
	}
	return s, nil
}

// named completes an error with the name of a schema and the place in its text.
func named(name string, src []byte, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		e = &Error{Message: err.Error()}
	}
	e.Name = name
	if e.Line == 0 {
		e.Line, e.Col = Place(src, e.Path)
	}
	return e
}

// measure refuses a schema that takes too long to compile.
func measure(doc any) error {
	objects, patterns := 0, 0
	pattern := func(s string) {
		if patterns += len(s); strings.Contains(s, "{") {
			patterns += 1000 * len(s)
		}
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			objects++
			for k, x := range v {
				if s, ok := x.(string); ok && k == "pattern" {
					pattern(s)
				}
				if m, ok := x.(map[string]any); ok && k == "patternProperties" {
					for s := range m {
						pattern(s)
					}
				}
				walk(x)
			}
		case []any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	switch walk(doc); {
	case objects > maxObjects:
		return fmt.Errorf("the schema is too large: it has more than %d objects", maxObjects)
	case patterns > maxPatterns:
		return errors.New("the patterns of the schema are too large together")
	}
	return nil
}

// derive checks the compiled schema, and derives its type.
func (s *Schema) derive() error {
	s.places = map[string]*jsonschema.Schema{}
	index(s.validator, s.places)
	home, _, _ := strings.Cut(s.validator.Location, "#")
	for place := range s.places {
		if url, _, _ := strings.Cut(place, "#"); url != home {
			return outside(url)
		}
	}
	if expanded(s.validator, map[*jsonschema.Schema]int{}) > maxExpanded {
		return fmt.Errorf("the references of the schema expand to more than %d subschemas", maxExpanded)
	}
	d := deriver{types: map[string]*Type{}}
	s.typ = d.typeOf(s.validator)
	c := completion{left: maxDefaults}
	for _, t := range d.types {
		for name, field := range t.Properties {
			if field.HasDefault {
				t.defaults = append(t.defaults, name)
			}
		}
	}
	for _, t := range d.types {
		if t.Default, _ = c.value(t, t.Default); c.left < 0 {
			return errors.New("the defaults of the schema have no end, or are too large: a default contains a value with that default")
		}
	}
	return nil
}

// expanded returns how many subschemas check one value.
func expanded(s *jsonschema.Schema, known map[*jsonschema.Schema]int) int {
	if n, ok := known[s]; ok {
		return n
	}
	known[s] = 1 // within itself
	n := 1
	for _, sub := range sameValue(s) {
		n = min(n+expanded(sub, known), maxExpanded+1)
	}
	known[s] = n
	return n
}

// sameValue returns the subschemas that check the value that s checks.
func sameValue(s *jsonschema.Schema) []*jsonschema.Schema {
	all := slices.Concat([]*jsonschema.Schema{s.Ref, s.RecursiveRef, s.DynamicRef, s.Not, s.If, s.Then, s.Else},
		s.AllOf, s.AnyOf, s.OneOf, slices.Collect(maps.Values(s.DependentSchemas)))
	for _, x := range s.Dependencies {
		sub, _ := x.(*jsonschema.Schema)
		all = append(all, sub)
	}
	return slices.DeleteFunc(all, func(sub *jsonschema.Schema) bool { return sub == nil })
}

// index notes all subschemas of a schema by their locations.
func index(s *jsonschema.Schema, places map[string]*jsonschema.Schema) {
	if s == nil || places[s.Location] != nil {
		return
	}
	places[s.Location] = s
	all := append(sameValue(s), s.PropertyNames, s.UnevaluatedProperties, s.Items2020, s.Contains, s.UnevaluatedItems, s.ContentSchema)
	all = slices.AppendSeq(all, maps.Values(s.Properties))
	all = slices.AppendSeq(append(all, s.PrefixItems...), maps.Values(s.PatternProperties))
	for _, x := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		switch x := x.(type) {
		case *jsonschema.Schema:
			all = append(all, x)
		case []*jsonschema.Schema:
			all = append(all, x...)
		}
	}
	for _, sub := range all {
		index(sub, places)
	}
}

type outside string

func (url outside) Error() string {
	return fmt.Sprintf("refers to %q, which is outside of this schema, and nothing else is read; copy it below $defs", strings.TrimPrefix(string(url), base))
}

// explain turns an error of the library into one with a path into the schema.
func explain(doc any, err error) error {
	var invalid *jsonschema.ValidationError
	if errors.As(err, &invalid) {
		draft, _, _ := strings.Cut(invalid.AbsoluteKeywordLocation, "#")
		meta := &Schema{places: map[string]*jsonschema.Schema{}}
		if s, err := jsonschema.NewCompiler().Compile(draft); err == nil {
			index(s, meta.places)
		}
		first := meta.problems(invalid, doc)[0]
		return &Error{Path: first.Path, Message: strings.Join(append(first.Path, first.Message), ": ")}
	}
	var whole *jsonschema.SchemaError
	if errors.As(err, &whole) {
		err = whole.Err
	}
	text := strings.ReplaceAll(strings.TrimPrefix(err.Error(), "jsonschema: "), base, "")
	if target, ok := strings.CutSuffix(text, " not found"); ok {
		text = "refers to " + target + ", which the schema does not have"
	}
	return &Error{Path: reference(doc, text, nil), Message: text}
}

// reference returns the path to the first reference of a schema that a text names.
func reference(v any, text string, path []string) []string {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			here := append(slices.Clone(path), k)
			if ref, ok := v[k].(string); ok && (k == "$ref" || k == "$dynamicRef" || k == "$schema") {
				if url, _, _ := strings.Cut(ref, "#"); strings.Contains(text, ref) || url != "" && strings.Contains(text, url) {
					return here
				}
			}
			if found := reference(v[k], text, here); found != nil {
				return found
			}
		}
	case []any:
		for i, x := range v {
			if found := reference(x, text, append(slices.Clone(path), strconv.Itoa(i))); found != nil {
				return found
			}
		}
	}
	return nil
}
