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

// The checker knows the keywords that nearly all schemas make do with. A schema with a rare keyword is judged by the library
// as a whole, since such a keyword depends on what the others around it found.

// maxRare is how many schemas a schema with a rare keyword has inside: the library looks at all of them for each of them.
const maxRare = 1000

// compile returns the schema as the library reads it. It has so many schemas inside.
func (s *compiled) compile(inside int) (compiled *jsonschema.Schema, err error) {
	const address = "mem:///schema.json" // nothing is read from it
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
	// Without this the library would read file:// addresses.
	c.LoadURL = func(address string) (io.ReadCloser, error) { return nil, fmt.Errorf("%s is not loaded", address) }
	if err := c.AddResource(address, bytes.NewReader(src)); err != nil {
		return nil, err
	}
	return c.Compile(address)
}

// consult returns what the library has against a normalised value, which the checker found small enough.
func (s *compiled) consult(v any) (found []Violation) {
	defer func() {
		if p := recover(); p != nil { // the library panics where a schema leads nowhere
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

// leaves adds the errors that have no cause in other errors. Those of alternatives make sense together only.
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
	if v.Message == "not allowed" { // by a schema that is false
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

// decodePointer undoes the percent-encoding that the library adds to JSON pointers.
func decodePointer(encoded string) string {
	if pointer, err := url.PathUnescape(encoded); err == nil {
		return pointer
	}
	return encoded
}
