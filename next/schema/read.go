package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// maxFilled bounds the values that are visited to fill in the defaults of one document.
const maxFilled = 8_000_000

// preparation makes a document fit for the validation.
type preparation struct{ depth int }

func (p *preparation) value(t *Type, v any, depth int) any {
	if p.depth = max(p.depth, depth); depth > maxDepth {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		for k, x := range v {
			field := t.field(k)
			if x == nil && (field == nil || !field.nullable) {
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
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			break
		}
		return whole(v)
	case nil, bool, int:
		return v
	case json.Number, int64, uint64:
		return number(fmt.Sprint(v))
	}
	return fmt.Sprint(v)
}

// spelled returns the number or boolean that a text is, where the schema's type is that alone.
func (t *Type) spelled(s string) any {
	switch {
	case t == nil || strings.TrimSpace(s) != s:
	case (t.Kind == "integer" || t.Kind == "number") && json.Valid([]byte(s)) && strings.ContainsAny(s[:1], "-0123456789"):
		return number(s)
	case t.Kind == "boolean" && (s == "true" || s == "false"):
		return s == "true"
	}
	return s
}

// completion fills in defaults.
type completion struct{ left int }

// value returns v with the defaults for what is absent, and reports whether it differs from v.
func (c *completion) value(t *Type, v any) (any, bool) {
	c.left--
	switch v := v.(type) {
	case nil:
		if t != nil && t.HasDefault {
			return c.fill(t), true
		}
	case map[string]any:
		return c.object(t, v)
	case []any:
		changed := false
		for i, x := range v {
			y, differs := c.value(t.field(""), x)
			if !differs || x == nil {
				continue // null is an entry
			}
			if !changed {
				v, changed = slices.Clone(v), true
			}
			v[i] = y
		}
		return v, changed
	}
	return v, false
}

func (c *completion) object(t *Type, v map[string]any) (any, bool) {
	var changes map[string]any
	change := func(k string, x any) {
		if changes == nil {
			changes = map[string]any{}
		}
		changes[k] = x
	}
	for k, x := range v {
		switch x.(type) {
		case nil, map[string]any, []any:
			if y, differs := c.value(t.field(k), x); differs || y == nil {
				change(k, y)
			}
		}
	}
	if t != nil {
		for _, k := range t.defaults {
			if _, ok := v[k]; !ok {
				change(k, c.fill(t.Properties[k]))
			}
		}
	}
	if changes == nil {
		return v, false
	}
	all := make(map[string]any, len(v)+len(changes))
	maps.Copy(all, v)
	maps.Copy(all, changes)
	maps.DeleteFunc(all, func(_ string, x any) bool { return x == nil })
	return all, true
}

// fill returns a default, with the defaults within it.
func (c *completion) fill(t *Type) any {
	if c.left < 0 {
		return nil
	}
	v, _ := c.value(t, t.Default)
	return v
}
