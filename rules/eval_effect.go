package rules

import (
	"fmt"

	"github.com/ralph-sdk/ralph/schema"
)

// workOut makes an Effect of an effect. skip says why it is left out, without
// harm to the verdict; broken says why the verdict cannot be followed.
func (ev *evaluation) workOut(e *effect) (out Effect, skip, broken string) {
	if e.kind == PruneEffect {
		glob, problem, _ := ev.argument(e.glob)
		return Effect{Kind: PruneEffect, Glob: glob, Older: e.older}, problem, ""
	}
	if e.kind == VerbEffect {
		return ev.verb(e)
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
	case v.Path == "" && f.Source.File:
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
	out.Old = valueAt(v.V, out.Path)
	ev.at = e.value.last()
	size := ev.meter.sizeOf(value) // it is copied
	ev.meter.charge(size.steps(), mul(size.elements, entryBytes))
	ev.at = nil
	var problem string
	if out.Value, problem = storable(e.typ, value); problem != "" {
		return out, "", e.src + ": " + problem
	}
	return out, "", ""
}

// valueAt is what stands at a path that was found.
func valueAt(v any, path []any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[step]
		case int:
			v = v.([]any)[step]
		}
	}
	return v
}

// verb makes an effect of the embedding program.
func (ev *evaluation) verb(e *effect) (out Effect, skip, broken string) {
	out = Effect{Kind: VerbEffect, Verb: e.verb, Value: ev.arg(e.args)}
	if e.schema == nil {
		return out, "", ""
	}
	r := e.schema.Check(schema.Document{Value: out.Value})
	if problem := misfit(r); problem != "" {
		return out, "", e.src + ": the arguments do not fit: " + problem
	}
	out.Value = r.Value
	return out, "", ""
}

func (ev *evaluation) arg(a *verbArg) any {
	ev.meter.charge(1, entryBytes)
	switch {
	case a.text != nil:
		return ev.render(a.text)
	case a.fields != nil:
		out := make(map[string]any, len(a.fields))
		for name, f := range a.fields {
			out[name] = ev.arg(f)
		}
		return out
	case a.items != nil:
		out := make([]any, len(a.items))
		for i, item := range a.items {
			out[i] = ev.arg(item)
		}
		return out
	}
	return a.constant
}

// target evaluates the path of a set within the value of its fact.
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

// indexText says what stands where an index should.
func indexText(v any) string {
	if f, ok := v.(float64); ok {
		return display(f)
	}
	return kindOf(v)
}
