package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// address is what the library knows the schema by. Nothing is behind it.
const address = "mem:///schema.json"

// lib returns the schema as the library compiles it, which it does once.
func (s *compiled) lib() (*jsonschema.Schema, *CompileError) {
	s.library.Do(func() {
		defer func() {
			if r := recover(); r != nil {
				s.failed = s.failure("", fmt.Sprintf("the validator cannot use this schema: %v", r))
			}
		}()
		s.validator, s.failed = s.compile()
	})
	return s.validator, s.failed
}

func (s *compiled) failure(at, message string) *CompileError {
	return &CompileError{Name: s.name, Pointer: at, Message: message}
}

func (s *compiled) compile() (*jsonschema.Schema, *CompileError) {
	var doc any = s.root.keywords
	if s.root.always != nil {
		doc = *s.root.always
	}
	src, err := json.Marshal(doc)
	if err != nil {
		return nil, s.failure("", "the schema is not JSON: "+err.Error())
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	for name, f := range formats {
		c.Formats[name] = func(v any) bool {
			text, ok := v.(string)
			return !ok || f.accepts(text)
		}
	}
	// Without this the library would read file:// addresses.
	c.LoadURL = func(address string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%s is not loaded", address)
	}
	if err := c.AddResource(address, bytes.NewReader(src)); err != nil {
		return nil, s.failure("", err.Error())
	}
	compiled, err := c.Compile(address)
	if err == nil {
		return compiled, nil
	}
	if invalid := (*jsonschema.ValidationError)(nil); errors.As(err, &invalid) {
		// Of several complaints about the schema the first by place is reported.
		var all []Violation
		leaves(invalid, func(leaf *jsonschema.ValidationError) {
			all = append(all, Violation{Pointer: instancePointer(leaf), Message: leaf.Message})
		})
		first := slices.MinFunc(all, compareViolations)
		return nil, s.failure(first.Pointer, first.Message)
	}
	return nil, s.failure("", strings.TrimPrefix(err.Error(), "jsonschema: "))
}

// consult asks the library about a normalised value. Violations have no positions.
func (s *compiled) consult(v any) (found []Violation) {
	if !s.affordable(v) {
		return uncheckable()
	}
	compiled, failed := s.lib()
	if failed != nil {
		return []Violation{{Message: "cannot be checked: " + failed.Error()}}
	}
	defer func() {
		if r := recover(); r != nil {
			found = []Violation{{Message: fmt.Sprintf("cannot be checked: the validator of %s gave up: %v", s.name, r)}}
		}
	}()
	err := compiled.Validate(v)
	if err == nil {
		return nil
	}
	invalid := (*jsonschema.ValidationError)(nil)
	if !errors.As(err, &invalid) {
		return []Violation{{Message: "cannot be checked: " + err.Error()}}
	}
	leaves(invalid, func(leaf *jsonschema.ValidationError) {
		if len(found) <= maxWarnings {
			found = append(found, s.translate(leaf, v)...)
		}
	})
	return found
}

// leaves calls yield for each error that has a meaning of its own. Below alternatives there are the complaints of all of
// them, which make sense together only.
func leaves(e *jsonschema.ValidationError, yield func(*jsonschema.ValidationError)) {
	if len(e.Causes) == 0 || isAlternative(lastSegment(e.AbsoluteKeywordLocation)) {
		yield(e)
		return
	}
	for _, cause := range e.Causes {
		leaves(cause, yield)
	}
}

func isAlternative(keyword string) bool {
	return keyword == "anyOf" || keyword == "oneOf" || keyword == "minContains"
}

// translate words an error of the library as the own checker does.
func (s *compiled) translate(e *jsonschema.ValidationError, doc any) []Violation {
	at := instancePointer(e)
	if isAlternative(lastSegment(e.AbsoluteKeywordLocation)) && len(e.Causes) > 0 {
		return []Violation{{Pointer: at, Message: s.alternatives(e, doc), Keyword: lastSegment(e.AbsoluteKeywordLocation)}}
	}
	base, fragment, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
	if base == address {
		place := decodePointer(fragment)
		if v, ok := valueAt(doc, SplitPointer(at)); ok {
			// The place is that of the keyword, but of a schema that is false, that of the schema.
			if n := s.nodes[place]; n != nil && n.always != nil {
				return n.findings("", at, v)
			}
			if n := s.nodes[parent(place)]; n != nil {
				if found := n.findings(lastSegment(place), at, v); len(found) > 0 {
					return found
				}
			}
		}
	}
	keyword := lastSegment(e.AbsoluteKeywordLocation)
	if _, ok := keywordOf(keyword); !ok {
		keyword = ""
	}
	return []Violation{{Pointer: at, Message: e.Message, Keyword: keyword}}
}

// alternatives says what each alternative has against the value: the first complaint of each is enough to tell them apart.
func (s *compiled) alternatives(e *jsonschema.ValidationError, doc any) string {
	complaints := make(map[string]bool)
	for _, cause := range e.Causes {
		var all []Violation
		leaves(cause, func(leaf *jsonschema.ValidationError) { all = append(all, s.translate(leaf, doc)...) })
		if len(all) == 0 {
			continue
		}
		first := slices.MinFunc(all, compareViolations)
		first.Pointer = strings.TrimPrefix(first.Pointer, instancePointer(e))
		first.Help = ""
		complaints[first.String()] = true
	}
	shown := slices.Sorted(maps.Keys(complaints))
	if len(shown) > 3 {
		shown = append(shown[:3], "…")
	}
	if lastSegment(e.AbsoluteKeywordLocation) == "minContains" {
		return e.Message
	}
	return "fits none of the alternatives: " + strings.Join(shown, "; or ")
}

// instancePointer is the place of the value that the library complains of. It percent-encodes on top of the pointer's
// own escapes.
func instancePointer(e *jsonschema.ValidationError) string { return decodePointer(e.InstanceLocation) }

func decodePointer(encoded string) string {
	if pointer, err := url.PathUnescape(encoded); err == nil {
		return pointer
	}
	return encoded
}

func lastSegment(pointer string) string { return pointer[strings.LastIndexByte(pointer, '/')+1:] }
