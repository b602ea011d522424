package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// WithValues gives values to facts and to ralph's own names, by name: "state",
// "transcript.last". They are asked first; what has a value is not gathered. A value
// is anything that encoding/json writes. That of a fact goes through its schema, and
// what does not fit is invalid. Functions among ralph's names take a Go function.
func WithValues(values map[string]any) Option {
	return func(l *Loop) error {
		if l.values == nil {
			l.values = map[string]any{}
		}
		for name, v := range values {
			if name == "" {
				return errors.New("a value needs the name of a fact or of one of ralph's names")
			}
			l.values[name] = v
		}
		return nil
	}
}

// given answers by values before it asks the world.
type given struct {
	rules.Facts
	values map[string]any
	open   *schema.Schema
}

func (g given) Fact(ctx context.Context, f *rules.Fact, args []string) rules.Value {
	v, ok := g.values[f.Name]
	if !ok {
		return g.Facts.Fact(ctx, f, args)
	}
	return valueOf(f, v, g.open)
}

func (g given) Name(ctx context.Context, name string) any {
	v, ok := g.values[name]
	if !ok {
		return g.Facts.Name(ctx, name)
	}
	switch v.(type) {
	case time.Time, time.Duration:
		return v
	}
	if converted, err := asJSON(v, g.open); err == nil {
		return converted
	}
	return v // a function
}

// valueOf makes the value of a fact of a Go value.
func valueOf(f *rules.Fact, v any, open *schema.Schema) rules.Value {
	converted, err := asJSON(v, open)
	if err != nil {
		return rules.Value{Status: rules.Invalid, Problem: fmt.Sprintf("a %T cannot be its value: %s", v, err)}
	}
	out := rules.Value{V: converted}
	if f.Schema != nil && f.Source.Around == nil {
		r := f.Schema.Check(schema.Document{Value: converted})
		out.V, out.Unusable, out.Warnings = r.Value, r.Unusable, r.Warnings
	}
	return out
}

// asJSON turns a Go value into the types that rules know.
func asJSON(v any, open *schema.Schema) (any, error) {
	switch v := v.(type) {
	case nil, bool, int, string:
		return v, nil
	case []byte:
		return string(v), nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	doc, err := schema.ParseJSON(b)
	if err != nil {
		return nil, err
	}
	return open.Check(doc.Document()).Value, nil
}
