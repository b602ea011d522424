package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// zeroed adds declared fields that a value lacks: a program that provides a fact omits what it does not know.
func zeroed(t *schema.Schema, v any) any {
	if t == nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		for name, field := range t.Fields {
			if e := v[name]; e != nil {
				v[name] = zeroed(field, e)
			} else if !field.Optional && !field.HasDefault && !field.Nullable && field.Kind != schema.Any {
				v[name] = field.Zero()
			}
		}
	case []any:
		for i, e := range v {
			v[i] = zeroed(t.Elem, e)
		}
	}
	return v
}

// plainOf converts a Go value to JSON types, in new maps and slices, as encoding/json does, except that []byte is a
// string, a nil slice or map is an empty one, and a duration stays one, since rules compare it with duration(…).
func plainOf(v any, depth int) (any, error) {
	if depth > schema.MaxDepth {
		return nil, fmt.Errorf("the value is nested deeper than %d levels", schema.MaxDepth)
	}
	var err error
	switch v := v.(type) {
	case nil, bool, string, int, json.Number, time.Duration:
		return v, nil
	case float64:
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			return v, nil
		}
	case []byte:
		return string(v), nil
	case []any:
		out := make([]any, len(v))
		for i := 0; i < len(v) && err == nil; i++ {
			out[i], err = plainOf(v[i], depth+1)
		}
		return out, err
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, e := range v {
			if out[name], err = plainOf(e, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	switch rv := reflect.ValueOf(v); {
	case rv.Kind() == reflect.Slice && rv.IsNil():
		return []any{}, nil
	case rv.Kind() == reflect.Map && rv.IsNil():
		return map[string]any{}, nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	doc, err := schema.ParseJSON(b)
	if err != nil {
		return nil, err
	}
	return doc.Value, nil
}
