// Package schema reads JSON documents, validates them by JSON Schema, and takes from a schema what a policy language needs: types for
// expr's checker, defaults, and known values.
//
// It promises that nothing but the schema is read (no file, no network), that sizes and depths are bounded, and that each problem says
// which field it is about. It leaves out files and front matter, and it does not validate itself: github.com/santhosh-tekuri/jsonschema/v5
// does, which no other package needs to import. How long that takes is for the author of the schema to mind. Start with [Compile].
package schema

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

const maxSchema = 256 << 10 // bytes: the library takes time by the square of a schema's parts

// base is the address of a schema. It is never read.
const base = "https://schema.invalid/"

// Schema is a compiled JSON Schema. It is safe for concurrent use. A nil Schema accepts any value and has no defaults.
type Schema struct {
	source    []byte
	validator *jsonschema.Schema
	typ       *Type
}

// Source returns the text of the schema, for a model that must answer by it. It is shared: do not change it.
func (s *Schema) Source() []byte {
	if s == nil {
		return nil
	}
	return s.source
}

// Type returns what the policy language takes from the schema. It is shared: do not change it.
func (s *Schema) Type() *Type {
	if s == nil {
		return nil
	}
	return s.typ
}

// Compile compiles a schema, which is JSON text of at most 256 KiB. Without $schema it is of draft 2020-12. Compile
// reads nothing else: a $ref that does not begin with # is an error, and so is a schema whose references expand to more than a million
// parts. Errors are *Error.
func Compile(src []byte) (*Schema, error) {
	if len(src) > maxSchema {
		return nil, failure(src, 0, fmt.Sprintf("the schema is larger than %d KiB", maxSchema>>10))
	}
	doc, err := ParseJSON(src)
	if err != nil {
		return nil, err
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
		return nil, failure(src, 0, err.Error())
	}
	validator, err := c.Compile(base)
	if err != nil {
		return nil, located(err, src, doc)
	}
	t, err := derive(validator)
	return &Schema{src, validator, t}, err
}

// located returns an error of the library with its place. doc is the decoded schema.
func located(err error, src []byte, doc any) *Error {
	if invalid := (*jsonschema.ValidationError)(nil); errors.As(err, &invalid) {
		first := problems(invalid, doc)[0]
		return &Error{Path: first.Path, Message: first.Message}
	}
	message := errors.Unwrap(err).Error() // of what the library wraps with the address
	message = strings.TrimPrefix(strings.ReplaceAll(message, base, ""), "jsonschema: ")
	reference, _, _ := strings.Cut(message, " ")
	return failure(src, max(0, bytes.Index(src, []byte(`"`+reference))), message)
}

// shipped has the schemas of the state files that ralph's own policies read.
//
//go:embed shipped/*.json
var shipped embed.FS

// Shipped returns the schema that ralph ships under a name such as "speckit-state", which policies write ralph:speckit-state.
func Shipped(name string) (src []byte, ok bool) {
	src, err := shipped.ReadFile("shipped/" + name + ".json")
	return src, err == nil
}

// ShippedNames lists the names that Shipped knows, sorted.
func ShippedNames() []string {
	var names []string
	entries, _ := shipped.ReadDir("shipped") // it is embedded
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}
