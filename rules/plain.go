package rules

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// zeroed adds the fields to a value that its type declares and that nothing gives:
// a program that provides a fact leaves out what it does not know.
func zeroed(t *schema.Schema, v any) any {
	if t == nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		for name, field := range t.Fields {
			if e, ok := v[name]; ok {
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

// plainOf turns a Go value into what JSON knows, in new maps and slices.
func plainOf(v reflect.Value, depth int) (any, error) {
	if !v.IsValid() {
		return nil, nil
	}
	if depth > schema.MaxDepth {
		return nil, fmt.Errorf("the value is nested deeper than %d levels", schema.MaxDepth)
	}
	if v.Kind() == reflect.Interface {
		return plainOf(v.Elem(), depth)
	}
	if v.CanInterface() {
		switch t := v.Interface().(type) {
		case time.Duration: // rules compare it with duration(…)
			return t, nil
		case time.Time:
			return t.Format(time.RFC3339Nano), nil
		case json.Number:
			return t, nil
		case json.Marshaler:
			if v.Kind() == reflect.Pointer && v.IsNil() {
				return nil, nil
			}
			b, err := t.MarshalJSON()
			if err != nil {
				return nil, err
			}
			doc, err := schema.ParseJSON(b)
			if err != nil {
				return nil, err
			}
			return doc.Document().Value, nil
		case encoding.TextMarshaler:
			if v.Kind() == reflect.Pointer && v.IsNil() {
				return nil, nil
			}
			b, err := t.MarshalText()
			return string(b), err
		}
	}
	switch v.Kind() {
	case reflect.Bool:
		return v.Bool(), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return int(v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		if n := v.Uint(); n <= math.MaxInt {
			return int(n), nil
		}
		return float64(v.Uint()), nil
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, fmt.Errorf("%v is no number that JSON knows", f)
		}
		return v.Float(), nil
	case reflect.String:
		return v.String(), nil
	case reflect.Pointer:
		return plainOf(v.Elem(), depth+1)
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return string(v.Bytes()), nil
		}
		fallthrough
	case reflect.Array:
		out := make([]any, v.Len())
		for i := range out {
			var err error
			if out[i], err = plainOf(v.Index(i), depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case reflect.Map:
		if v.Type().Key().Kind() != reflect.String {
			return nil, fmt.Errorf("a %s has no texts as keys", v.Type())
		}
		out := make(map[string]any, v.Len())
		for it := v.MapRange(); it.Next(); {
			e, err := plainOf(it.Value(), depth+1)
			if err != nil {
				return nil, err
			}
			out[it.Key().String()] = e
		}
		return out, nil
	case reflect.Struct:
		out := map[string]any{}
		return out, plainFields(v, depth, out)
	}
	return nil, fmt.Errorf("a %s cannot be the value of a fact", v.Type())
}

// plainFields adds the fields of a struct to out, by their json tags. Fields of
// embedded structs count as its own, as in encoding/json.
func plainFields(v reflect.Value, depth int, out map[string]any) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		embedded := f.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		switch {
		case f.Tag.Get("json") == "-":
			continue
		case f.Anonymous && name == "" && embedded.Kind() == reflect.Struct:
			inner := reflect.Indirect(v.Field(i))
			if !inner.IsValid() {
				continue
			}
			promoted := map[string]any{}
			if err := plainFields(inner, depth+1, promoted); err != nil {
				return err
			}
			for name, e := range promoted {
				if _, taken := out[name]; !taken {
					out[name] = e
				}
			}
			continue
		case !f.IsExported():
			continue
		case name == "":
			name = f.Name
		}
		if strings.Contains(options, "omitempty") && isEmpty(v.Field(i)) || strings.Contains(options, "omitzero") && v.Field(i).IsZero() {
			continue
		}
		e, err := plainOf(v.Field(i), depth+1)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		out[name] = e
	}
	return nil
}

// isEmpty is what omitempty of encoding/json leaves out.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Array, reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
