package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
)

const (
	maxLevels = 100       // of a document that is validated: an error takes time by the square of the depth
	maxWhole  = 1 << 53   // the largest whole number that is exact everywhere
	maxFilled = 8_000_000 // values that are visited to fill in the defaults of one document
)

// Read makes a decoded document ready for rules: a null in an object counts as absent, a string that is exactly a number or boolean
// counts as one where the schema's type is that alone, jsonschema/v5 validates, and defaults fill what is absent, at every depth. Values
// that JSON does not have become texts, as fmt.Sprint writes them. Read owns v and may change it; the defaults in the result are
// shared, so do not change it. The value is usable but for what the problems name.
func (s *Schema) Read(v any) (any, Problems) {
	p := preparation{}
	v = p.value(s.Type(), v, 0)
	if s == nil {
		return v, nil
	}
	if p.depth > maxLevels {
		return v, Problems{{Message: fmt.Sprintf("must not be nested deeper than %d levels", maxLevels)}}
	}
	problems := problems(s.validator.Validate(v), v)
	left := maxFilled
	v = s.typ.filled(v, &left)
	if left < 0 {
		problems = append(Problems{{Message: "must be smaller: it has too many values without the defaults of the schema"}}, problems...)
	}
	return v, problems
}

// Complete fills in the defaults only. It is for values that a program gives as maps of type map[string]any and lists of type []any;
// what has another type stays as it is. It changes no map or list, but copies those in which something is absent. The defaults in the
// result are shared: do not change it.
func (s *Schema) Complete(v any) any {
	left := maxFilled
	return s.Type().filled(v, &left)
}

// preparation makes a decoded document fit for the validation, and finds out how deep it is.
type preparation struct {
	keepNull bool
	depth    int
}

// value returns v, which it owns, as a value of JSON. depth is how many lists and objects v is within.
func (p *preparation) value(t *Type, v any, depth int) any {
	if p.depth = max(p.depth, depth); depth > maxDepth {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			field := t.field(k)
			if x == nil && !p.keepNull && (field == nil || !field.nullable) {
				delete(v, k)
				continue
			}
			v[k] = p.value(field, x, depth+1)
		}
		return v
	case []any:
		for i, x := range v {
			v[i] = p.value(t.field(""), x, depth+1)
		}
		return v
	case string:
		if t != nil && (t.Kind == "integer" || t.Kind == "number") {
			if n, ok := t.number(v); ok {
				return n
			}
		}
		if t != nil && t.Kind == "boolean" && (v == "true" || v == "false") {
			return v == "true"
		}
		return v
	case nil, bool:
		return v
	case int, int64, uint64, float64, json.Number:
		if n, ok := t.number(fmt.Sprint(v)); ok {
			return n
		}
	}
	return fmt.Sprint(v)
}

// number returns the value of a number in JSON, and whether it is one. A whole number that the schema wants to be one is at most 2^53 in
// size, so that all of ralph can count with it.
func (t *Type) number(s string) (any, bool) {
	f, err := strconv.ParseFloat(s, 64) // out of range, it is infinite
	switch whole := f == math.Trunc(f); {
	case !json.Valid([]byte(s)) || err != nil && f == 0:
		return nil, false
	case whole && (math.Abs(f) <= maxWhole || t != nil && t.Kind == "integer"):
		return int(max(-maxWhole, min(f, maxWhole))), true
	}
	return max(-math.MaxFloat64, min(f, math.MaxFloat64)), true
}

// filled returns v without null, and with the defaults for what is absent, while some of left are left. It copies the maps and lists
// whose type is known, and leaves others as they are.
func (t *Type) filled(v any, left *int) any {
	if t == nil {
		return v
	}
	*left--
	switch v := v.(type) {
	case nil:
		if t.HasDefault && *left > 0 {
			return t.filled(t.Default, left)
		}
	case []any:
		v = slices.Clone(v)
		for i, x := range v {
			v[i] = t.field("").filled(x, left)
		}
		return v
	case map[string]any:
		v = maps.Clone(v)
		for k, field := range t.Properties {
			if v[k] == nil && field != nil && field.HasDefault {
				v[k] = nil
			}
		}
		for k, x := range v {
			if v[k] = t.field(k).filled(x, left); v[k] == nil {
				delete(v, k)
			}
		}
		return v
	}
	return v
}
