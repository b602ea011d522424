package rules

import (
	"fmt"
	"math"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// effect is a change that a rule asks for, compiled.
type effect struct {
	kind  EffectKind
	src   string
	fact  *symbol
	steps []step // set: the path into the document
	value *cond  // set
	typ   *schema.Type
	glob  *path
	older time.Duration
}

// step is one step of a path: a field, or an index that is worked out.
type step struct {
	field string
	index *cond
}

// workOut makes an Effect of an effect. skip says why it is left out, without
// harm to the verdict; broken says why the verdict cannot be followed.
func (ev *evaluation) workOut(e *effect) (out Effect, skip, broken string) {
	if e.kind == PruneEffect {
		glob, problem, _ := ev.argument(e.glob)
		return Effect{Kind: PruneEffect, Glob: glob, Older: e.older}, problem, ""
	}
	f := e.fact.fact
	v := ev.fact(f)
	out = Effect{Kind: e.kind, Fact: f.Name, Source: f.Source.Name, File: v.Path, Version: v.Version}
	absent := v.Status == Missing || v.defaulted
	switch {
	case e.kind == SetEffect && absent:
		return out, "", fmt.Sprintf("%s: %s is missing, so there is nothing to change", e.src, f.Name)
	case e.kind == SetEffect && v.Status == Invalid:
		return out, "", fmt.Sprintf("%s: %s is invalid, so it cannot be changed: %s", e.src, f.Name, v.sentence())
	case absent:
		return out, f.Name + " is missing", ""
	case v.Path == "":
		return out, "", fmt.Sprintf("%s: %s has no file", e.src, f.Name)
	case e.kind != SetEffect:
		return out, "", ""
	}
	if out.Path, skip, broken = ev.target(e, v.V); skip != "" || broken != "" {
		return out, skip, broken
	}
	ev.quoted = ev.quoted || e.value.private()
	value, state := ev.value(e.value)
	if state != known {
		return out, "", fmt.Sprintf("%s: the value is unknown: %s", e.src, ev.why)
	}
	var problem string
	if out.Value, problem = storable(e.typ, value); problem != "" {
		return out, "", e.src + ": " + problem
	}
	return out, "", ""
}

// target works out the path of a set within the value of its fact.
func (ev *evaluation) target(e *effect, at any) (path []any, skip, broken string) {
	for _, s := range e.steps {
		var key any = s.field
		if s.index != nil {
			v, state := ev.value(s.index)
			if state != known {
				return nil, "", fmt.Sprintf("%s: the index is unknown: %s", e.src, ev.why)
			}
			key = v
		}
		switch key := key.(type) {
		case nil:
			return nil, "the index is nil", ""
		case string:
			m, ok := at.(map[string]any)
			if !ok {
				return nil, fmt.Sprintf("there is no object at %q", schema.PointerOf(path)), ""
			}
			path, at = append(path, key), m[key]
		case int:
			l, ok := at.([]any)
			if !ok {
				return nil, fmt.Sprintf("there is no list at %q", schema.PointerOf(path)), ""
			}
			if key < 0 || key >= len(l) {
				return nil, fmt.Sprintf("index %d is out of range, the list has %d", key, len(l)), ""
			}
			path, at = append(path, key), l[key]
		default:
			return nil, "", fmt.Sprintf("%s: the index is %s, not a whole number or a name", e.src, indexText(key))
		}
	}
	return path, "", ""
}

// indexText tells what stands where an index should.
func indexText(v any) string {
	if f, ok := v.(float64); ok {
		return display(f)
	}
	return kindOf(v)
}

// storable makes a value that a file can hold and that its schema allows, or says
// why there is none. What a file holds is read again by the next event: a wrong
// type would make the field unusable for ever.
func storable(t *schema.Type, v any) (out any, problem string) {
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

// plain turns what expressions make into what JSON knows.
func plain(v any, depth int) (any, bool) {
	switch v := v.(type) {
	case nil, bool, string, int:
		return v, true
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
