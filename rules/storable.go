package rules

import (
	"fmt"
	"math"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// storable converts a value to one that a file can contain and that its schema allows, or returns why it cannot. The
// next event reads the file again: a wrong type would make the field unusable from then on.
func storable(t *schema.Schema, v any) (out any, problem string) {
	out, ok := plain(v, 0)
	if !ok {
		return nil, fmt.Sprintf("%s cannot be stored in a file", kindOf(v))
	}
	if t == nil || t.Kind == schema.Any {
		return out, ""
	}
	if out == nil {
		if t.Nullable || t.Optional {
			return nil, ""
		}
		return nil, fmt.Sprintf("the schema wants %s, the value is nil", t)
	}
	switch t.Kind {
	case schema.Null:
		ok = false
	case schema.Bool:
		_, ok = out.(bool)
	case schema.String:
		_, ok = out.(string)
	case schema.Array:
		_, ok = out.([]any)
	case schema.Object:
		_, ok = out.(map[string]any)
	case schema.Int:
		if f, isFloat := out.(float64); isFloat && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			out = int(f)
		}
		_, ok = out.(int)
	case schema.Number:
		_, isInt := out.(int)
		_, isFloat := out.(float64)
		ok = isInt || isFloat
	}
	if !ok {
		return nil, fmt.Sprintf("the schema wants %s, the value is %s", t, kindOf(out))
	}
	return out, ""
}

// plain converts values of expressions to JSON types.
func plain(v any, depth int) (any, bool) {
	switch v := v.(type) {
	case nil, bool, string, int:
		return v, true
	case int64: // from methods of times and durations
		return int(v), int64(int(v)) == v
	case float64:
		return v, !math.IsNaN(v) && !math.IsInf(v, 0)
	case time.Duration:
		return v.String(), true
	case time.Time:
		return v.Format(time.RFC3339), true
	case map[string]any:
		if depth > schema.MaxDepth {
			return nil, false
		}
		out := make(map[string]any, len(v))
		for k, e := range v {
			var ok bool
			if out[k], ok = plain(e, depth+1); !ok {
				return nil, false
			}
		}
		return out, true
	}
	items, err := elements(v)
	if err != nil || depth > schema.MaxDepth {
		return nil, false
	}
	out := make([]any, len(items))
	for i, e := range items {
		var ok bool
		if out[i], ok = plain(e, depth+1); !ok {
			return nil, false
		}
	}
	return out, true
}
