package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// maxLevels is how deep a document that is validated can be: an error takes time by the square of the depth.
const maxLevels = 100

// Read makes a decoded document ready for rules: a null in an object counts as absent, a string that is exactly a number or boolean
// counts as one where the schema's type is that alone, jsonschema/v5 validates, and defaults fill what is absent, at every depth. Values
// that JSON does not have become texts, as fmt.Sprint writes them. Read owns v and may change it; the defaults in the result are
// shared, so do not change it. The value is usable but for what the problems name.
func (s *Schema) Read(v any) (any, Problems) {
	v, depth := s.Type().ready(v)
	if s == nil {
		return v, nil
	}
	if depth > maxLevels {
		return v, Problems{{Message: fmt.Sprintf("must not be nested deeper than %d levels", maxLevels)}}
	}
	var found Problems
	if err := s.validator.Validate(v); err != nil {
		found = problems(err, v)
	}
	return s.typ.filled(v), found
}

// Complete fills in the defaults only. It is for values that a program gives as maps of type map[string]any and lists of type []any;
// what has another type stays as it is. It changes no map or list, but copies those in which something is absent. The defaults in the
// result are shared: do not change it.
func (s *Schema) Complete(v any) any { return s.Type().filled(v) }

// ready returns v, which it owns, as a value of JSON, ready for the validation, and how many lists and objects are within each other.
func (t *Type) ready(v any) (out any, depth int) {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(k string, x any) bool {
			field := t.At(k)
			return x == nil && (field == nil || !field.nullable)
		})
		for k, x := range v {
			x, n := t.At(k).ready(x)
			v[k], depth = x, max(depth, n+1)
		}
		return v, depth
	case []any:
		for i, x := range v {
			x, n := t.At("").ready(x)
			v[i], depth = x, max(depth, n+1)
		}
		return v, depth
	case string: // what it says is validated instead
		if t != nil && slices.Contains([]string{"integer", "number", "boolean"}, t.Kind) && v == strings.TrimSpace(v) {
			if said, err := ParseJSON([]byte(v)); err == nil && said != nil {
				return said, 0
			}
		}
		return v, 0
	case nil, bool:
		return v, 0
	case int, int64, uint64, float64, json.Number:
		f, _ := strconv.ParseFloat(fmt.Sprint(v), 64)
		switch {
		case f == math.Trunc(f) && math.Abs(f) <= 1<<53: // up to there, each is exact everywhere
			return int(f), 0
		case !math.IsNaN(f):
			return max(-math.MaxFloat64, min(f, math.MaxFloat64)), 0
		}
	}
	return fmt.Sprint(v), 0
}

// filled returns v without null in its objects, and with the defaults for what is absent. It copies the maps and lists whose type is
// known, and leaves others as they are.
func (t *Type) filled(v any) any {
	if t == nil {
		return v
	}
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = t.At("").filled(x)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if x != nil {
				out[k] = t.At(k).filled(x)
			}
		}
		for k, field := range t.Properties {
			if out[k] == nil && field != nil && field.HasDefault {
				out[k] = field.Default
			}
		}
		return out
	}
	return v
}
