package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// The library checks schemas with a rare keyword as a whole, because such a keyword depends on the results of others;
// the checker checks all other schemas.

// maxRare bounds the subschemas of a schema with a rare keyword: the library visits all of them for each of them.
const maxRare = 1000

// compile returns the schema in the library's form. inside is the number of its subschemas.
func (s *compiled) compile(inside int) (compiled *jsonschema.Schema, err error) {
	const address = "mem:///schema.json" // never loaded
	if inside > maxRare {
		return nil, fmt.Errorf("with unevaluatedProperties or unevaluatedItems it has at most %d schemas inside, and there are %d", maxRare, inside)
	}
	doc := maps.Clone(s.root.keywords)
	delete(doc, "$id") // references are resolved from the root
	src, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the validator gave up: %v", p)
		}
	}()
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	for _, name := range formatNames() {
		f := formatOf(name)
		c.Formats[name] = func(v any) bool {
			text, ok := v.(string)
			return !ok || f.accepts(text)
		}
	}
	// Otherwise the library would load file:// addresses.
	c.LoadURL = func(address string) (io.ReadCloser, error) { return nil, fmt.Errorf("%s is not loaded", address) }
	if err := c.AddResource(address, bytes.NewReader(src)); err != nil {
		return nil, err
	}
	return c.Compile(address)
}

// consult returns the library's violations of a normalized value of limited size.
func (s *compiled) consult(v any) (found []Violation) {
	defer func() {
		if p := recover(); p != nil { // the library panics on some invalid references
			found = []Violation{{Message: fmt.Sprintf("cannot be checked: the validator of %s gave up: %v", s.name, p)}}
		}
	}()
	err := s.library.Validate(v)
	if err == nil {
		return nil
	}
	invalid := (*jsonschema.ValidationError)(nil)
	if !errors.As(err, &invalid) {
		return []Violation{{Message: "cannot be checked: " + err.Error()}}
	}
	return leaves(invalid, nil)
}

// leaves appends the errors without causes. Those of alternatives are kept together.
func leaves(e *jsonschema.ValidationError, found []Violation) []Violation {
	if len(found) > maxWarnings {
		return found
	}
	location := decodePointer(e.KeywordLocation)
	keyword := location[strings.LastIndexByte(location, '/')+1:]
	alternatives := keyword == "anyOf" || keyword == "oneOf"
	if len(e.Causes) > 0 && !alternatives {
		for _, cause := range e.Causes {
			found = leaves(cause, found)
		}
		return found
	}
	v := Violation{Pointer: decodePointer(e.InstanceLocation), Keyword: keyword, Message: e.Message}
	if v.Message == "not allowed" { // from a schema that is false
		v.Message = "is not allowed here"
	}
	if len(e.Causes) > 0 {
		var complaints []string
		for _, cause := range e.Causes[:min(len(e.Causes), 3)] {
			complaints = append(complaints, leaves(cause, nil)[0].Message)
		}
		v.Message = cut("fits none of the alternatives: "+strings.Join(complaints, "; or "), maxShownText)
	}
	return append(found, v)
}

// decodePointer removes the library's percent-encoding from a JSON pointer.
func decodePointer(encoded string) string {
	if pointer, err := url.PathUnescape(encoded); err == nil {
		return pointer
	}
	return encoded
}
