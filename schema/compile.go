package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

const (
	maxSchema   = 256 << 10 // bytes of a schema: the library takes time by the square of its parts
	maxExpanded = 1_000_000 // parts of a schema, each reference replaced by what it refers to
)

// base is the address of a schema. It is never read.
const base = "https://schema.invalid/"

// Compile compiles a schema, which is JSON text of at most 256 KiB. name is for messages. Without $schema it is of draft 2020-12. Compile
// reads nothing else: a $ref that does not begin with # is an error, and so is a schema whose references expand to more than a million
// parts. Errors are *Error.
func Compile(name string, src []byte) (*Schema, error) {
	s := &Schema{source: src}
	err := s.compile()
	if e := (*Error)(nil); errors.As(err, &e) {
		e.Name = name
		return nil, e
	}
	return s, err
}

func (s *Schema) compile() error {
	if len(s.source) > maxSchema {
		return failure(s.source, 0, fmt.Sprintf("the schema is larger than %d KiB", maxSchema>>10))
	}
	doc, err := ParseJSON(s.source)
	if err != nil {
		return err
	}
	c := jsonschema.NewCompiler()
	c.Draft, c.ExtractAnnotations = jsonschema.Draft2020, true
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%s is not in this schema, and nothing else is read: copy what you need below $defs", url)
	}
	bounded, err := json.Marshal(doc) // its numbers are bounded, those of the source are not
	if err == nil {
		err = c.AddResource(base, bytes.NewReader(bounded))
	}
	if err != nil {
		return failure(s.source, 0, err.Error())
	}
	if s.validator, err = c.Compile(base); err != nil {
		return s.located(err, doc)
	}
	if (sizes{}).of(s.validator) > maxExpanded {
		return failure(s.source, 0, fmt.Sprintf("the schema is too large: its references expand to more than %d parts", maxExpanded))
	}
	s.typ, err = derive(s.validator)
	return err
}

// located returns an error of the library with its place. doc is the decoded schema.
func (s *Schema) located(err error, doc any) *Error {
	if invalid := (*jsonschema.ValidationError)(nil); errors.As(err, &invalid) {
		first := problems(invalid, doc)[0]
		return &Error{Path: first.Path, Message: first.Message}
	}
	message := errors.Unwrap(err).Error() // of what the library wraps with the address
	message = strings.TrimPrefix(strings.ReplaceAll(message, base, ""), "jsonschema: ")
	reference, _, _ := strings.Cut(message, " ")
	return failure(s.source, max(0, bytes.Index(s.source, []byte(`"`+reference))), message)
}

// sizes counts the parts of schemas, each once. The library has no limit on its steps, and 40 definitions that each refer twice to the
// next make a million million.
type sizes map[*jsonschema.Schema]int

func (m sizes) of(s *jsonschema.Schema) int {
	if s == nil {
		return 0
	}
	if n, ok := m[s]; ok {
		return n
	}
	m[s] = 1 // within itself
	parts := []*jsonschema.Schema{s.Ref, s.DynamicRef, s.RecursiveRef, s.Not, s.If, s.Then, s.Else, s.PropertyNames, s.UnevaluatedProperties,
		s.UnevaluatedItems, s.Items2020, s.Contains, s.ContentSchema}
	parts = slices.Concat(parts, s.AllOf, s.AnyOf, s.OneOf, s.PrefixItems, slices.Collect(maps.Values(s.Properties)),
		slices.Collect(maps.Values(s.PatternProperties)), slices.Collect(maps.Values(s.DependentSchemas)))
	for _, x := range []any{s.AdditionalProperties, s.Items, s.AdditionalItems} {
		parts = add(parts, x)
	}
	n := 1
	for _, part := range parts {
		n = min(n+m.of(part), maxExpanded+1)
	}
	m[s] = n
	return n
}
