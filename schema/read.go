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
	maxWhole  = 1 << 53   // the largest whole number that is exact everywhere
	maxFilled = 8_000_000 // values that are visited to fill in the defaults of one document
)

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
		return t.spelled(v)
	case nil, bool:
		return v
	case int, int64, uint64, float64, json.Number:
		if n, ok := t.number(fmt.Sprint(v)); ok {
			return n
		}
	}
	return fmt.Sprint(v)
}

// spelled returns the number or boolean that a text is, where the schema's type is that alone.
func (t *Type) spelled(s string) any {
	if t == nil {
		return s
	}
	n, ok := t.number(s)
	switch {
	case ok && (t.Kind == "integer" || t.Kind == "number"):
		return n
	case t.Kind == "boolean" && (s == "true" || s == "false"):
		return s == "true"
	}
	return s
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
