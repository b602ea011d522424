package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// maxSchema bounds a schema in bytes: the library takes time by the square of its parts.
const maxSchema = 256 << 10

// base is the address of a schema. It is never read.
const base = "https://schema.invalid/"

// Compile compiles a schema, which is JSON text of at most 256 KiB. name is for messages. Without $schema it is of draft 2020-12. Compile
// reads nothing else: a $ref that does not begin with # is an error, and so is a schema whose references expand to more than a million
// parts. Errors are *Error.
func Compile(name string, src []byte) (*Schema, error) {
	s, err := compile(src)
	if err == nil {
		return s, nil
	}
	err.Name = name
	return nil, err
}

func compile(src []byte) (*Schema, *Error) {
	if len(src) > maxSchema {
		return nil, failure(src, 0, fmt.Sprintf("the schema is larger than %d KiB", maxSchema>>10))
	}
	doc, err := parse(src)
	if err != nil {
		return nil, err
	}
	s := &Schema{source: src}
	if s.validator, err = compiled(src, doc); err != nil {
		return nil, err
	}
	if (sizes{}).of(s.validator) > maxExpanded {
		return nil, failure(src, 0, fmt.Sprintf("the schema is too large: its references expand to more than %d parts", maxExpanded))
	}
	s.typ, err = derive(s.validator, doc)
	return s, err
}

// compiled compiles the text of a schema by the library. doc is what was read from it: its numbers are bounded.
func compiled(src []byte, doc any) (*jsonschema.Schema, *Error) {
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%s is not in this schema, and nothing else is read: copy what you need below $defs", url)
	}
	bounded, err := json.Marshal(doc)
	if err == nil {
		err = c.AddResource(base, bytes.NewReader(bounded))
	}
	if err != nil {
		return nil, failure(src, 0, err.Error())
	}
	s, err := c.Compile(base)
	var invalid *jsonschema.ValidationError
	switch {
	case errors.As(err, &invalid):
		first := problems(invalid, doc)[0]
		return nil, &Error{Path: first.Path, Message: first.Message}
	case err != nil:
		message := errors.Unwrap(err).Error() // of what the library wraps with the address
		message = strings.TrimPrefix(strings.ReplaceAll(message, base, ""), "jsonschema: ")
		reference, _, _ := strings.Cut(message, " ")
		return nil, failure(src, max(0, bytes.Index(src, []byte(`"`+reference))), message)
	}
	return s, nil
}
