// Package schema reads JSON documents, validates them by JSON Schema, and takes from a schema what a policy language needs: types for
// expr's checker, defaults, and known values.
//
// It promises that nothing but the schema is read (no file, no network), that sizes and depths are bounded, and that each problem says
// which field it is about. It leaves out files and front matter, and it does not validate itself: github.com/santhosh-tekuri/jsonschema/v5
// does, which no other package needs to import. How long that takes is for the author of the schema to mind. Start with [Compile].
package schema

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/ralph-sdk/ralph/internal/text"
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
func (s *Schema) Source() []byte { return s.source }

// Type returns what the policy language takes from the schema. It is shared: do not change it.
func (s *Schema) Type() *Type {
	if s == nil {
		return nil
	}
	return s.typ
}

// Compile compiles a schema, which is JSON text of at most 256 KiB. Without $schema it is of draft 2020-12. Compile
// reads nothing else: a $ref that does not begin with # is an error, and so is a schema whose references expand to more than a million
// parts. An error is that of [ParseJSON], or a [Problem] of the schema.
func Compile(src []byte) (*Schema, error) {
	if len(src) > maxSchema {
		return nil, Problem{Message: fmt.Sprintf("the schema is larger than %d KiB", maxSchema>>10)}
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
	_ = c.AddResource(base, strings.NewReader(text.JSON(doc))) // it is JSON, and its numbers are bounded, which those of the source are not
	validator, err := c.Compile(base)
	if err != nil {
		return nil, problems(errors.Unwrap(err), doc)[0] // which it wraps with the address
	}
	if (sizes{}).of(validator) > maxExpanded {
		return nil, Problem{Message: fmt.Sprintf("the schema is too large: its references expand to more than %d parts", maxExpanded)}
	}
	return &Schema{src, validator, derived{}.of(validator)}, nil
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
func ShippedNames() (names []string) {
	entries, _ := shipped.ReadDir("shipped") // it is embedded
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	return names
}
