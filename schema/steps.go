package schema

import (
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// maxSteps bounds how often a validation applies a schema to a value.
const maxSteps = 500_000

var errSteps = errors.New("must be smaller: the schema takes too many steps to check it")

// validate returns what jsonschema/v5 finds in a document.
func (s *Schema) validate(v any, depth int) Problems {
	var invalid *jsonschema.ValidationError
	// An error takes time by the square of the depth, since the library joins all names above it one after the other.
	switch err := s.count(v, maxSteps/(1+depth*depth/20)); {
	case err == nil:
		return nil
	case errors.As(err, &invalid):
		return problems(invalid, v)
	default:
		return Problems{{Message: strings.TrimPrefix(err.Error(), "jsonschema: ")}}
	}
}

// count validates in a number of steps. The library has no limit of its own.
func (s *Schema) count(v any, steps int) (err error) {
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

// counter is an extension of the library that every schema has, so that it sees each step.
type counter struct{ left *int }

// Compile adds the counter to a schema.
func (c counter) Compile(jsonschema.CompilerContext, map[string]any) (jsonschema.ExtSchema, error) {
	return c, nil
}

// Validate counts a step.
func (c counter) Validate(jsonschema.ValidationContext, any) error {
	if *c.left--; *c.left < 0 {
		panic(errSteps)
	}
	return nil
}
