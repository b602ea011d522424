package schema

import (
	"bytes"
	"cmp"
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

// Limits on a schema. With them, compiling takes about a second at most.
const (
	maxSchema   = 1 << 20 // bytes
	maxLevels   = 100
	maxBraces   = 5_000     // of objects, and of repetitions in patterns
	maxExpanded = 1_000_000 // values, each reference replaced by what it refers to
)

// base is the address of a schema. Nothing is there.
const base = "https://schema.invalid/"

// Compile compiles a schema, which is JSON text of at most 1 MiB, 100 levels and 5,000 opening braces. name is for messages. Without
// $schema it is of draft 2020-12. Compile reads nothing else: a $ref that does not begin with # is an error. A schema whose references
// expand to more than a million values is an error too. Errors are *Error.
func Compile(name string, src []byte) (*Schema, error) {
	s, err := compile(src)
	if err == nil {
		return s, nil
	}
	if err.Line == 0 {
		err.Line, err.Col = Place(src, err.Path)
	}
	err.Name = name
	return nil, err
}

// fault returns an error that has no place yet. It has the path to one.
func fault(path []string, format string, args ...any) *Error {
	return &Error{Path: path, Message: fmt.Sprintf(format, args...)}
}

func compile(src []byte) (*Schema, *Error) {
	if bytes.Count(src, []byte("{")) > maxBraces {
		return nil, fault(nil, "the schema is too large: it has more than %d opening braces", maxBraces)
	}
	doc, err := parse(src, maxSchema, maxLevels)
	if err != nil {
		return nil, err
	}
	m := meter{doc: doc, sizes: map[string]int{}}
	if size := m.size(nil); m.err != nil || size > maxExpanded {
		return nil, cmp.Or(m.err, fault(nil, "the schema is too large: its references expand to more than %d values", maxExpanded))
	}
	s := &Schema{source: src, steps: new(int)}
	if s.validator, err = compiled(doc, counter{left: s.steps}); err != nil {
		return nil, err
	}
	s.typ, err = derive(s.validator, doc)
	return s, err
}

// compiled compiles the text of a schema by the library.
func compiled(doc any, count counter) (*jsonschema.Schema, *Error) {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%s is not known, and nothing is read", url)
	}
	c.RegisterExtension("steps", nil, count)
	src, err := json.Marshal(doc) // with numbers that are bounded
	if err == nil {
		err = c.AddResource(base, bytes.NewReader(src))
	}
	if err != nil {
		return nil, fault(nil, "%v", err)
	}
	s, err := c.Compile(base)
	var invalid *jsonschema.ValidationError
	switch {
	case errors.As(err, &invalid):
		first := problems(invalid, doc)[0]
		return nil, fault(first.Path, "%s", first.Message)
	case err != nil:
		message := errors.Unwrap(err).Error() // of what the library wraps with the address
		return nil, fault(nil, "%s", strings.TrimPrefix(strings.ReplaceAll(message, base, ""), "jsonschema: "))
	}
	return s, nil
}

// meter finds out how large a schema is if each reference in it is replaced by what it refers to.
type meter struct {
	doc   any
	sizes map[string]int // by their paths
	err   *Error         // the last one of a reference
}

func (m *meter) size(path []string) int {
	key := fmt.Sprintf("%q", path)
	if n, ok := m.sizes[key]; ok {
		return n
	}
	m.sizes[key] = 1 // within itself
	n := 1
	switch v := valueAt(m.doc, path).(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			n = min(n+m.size(append(slices.Clip(path), k)), maxExpanded+1)
		}
	case []any:
		for i := range v {
			n = min(n+m.size(append(slices.Clip(path), strconv.Itoa(i))), maxExpanded+1)
		}
	case string:
		if len(path) > 0 && path[len(path)-1] == "$ref" {
			n += m.reference(v, path)
		}
	}
	m.sizes[key] = n
	return n
}

// reference returns the size of what a reference refers to.
func (m *meter) reference(ref string, path []string) int {
	switch {
	case !strings.HasPrefix(ref, "#"):
		m.err = fault(path, "%q leaves this schema, and nothing else is read; copy it below $defs", ref)
	case strings.HasPrefix(ref, "#/") && valueAt(m.doc, place(ref)) == nil:
		m.err = fault(path, "there is no %q in this schema", ref)
	case ref == "#", strings.HasPrefix(ref, "#/"):
		return m.size(place(ref))
	}
	return 1 // it is an anchor
}
