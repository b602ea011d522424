package rules

import (
	"fmt"

	"github.com/ralph-sdk/ralph/schema"
)

// workOut returns the Effect of an effect. skip says why it is omitted without affecting the verdict; broken says why
// the verdict cannot be followed.
func (ev *evaluation) workOut(e *effect) (out Effect, skip, broken sentence) {
	outer := ev.here.quoted
	ev.here.quoted = false
	defer func() { out.Private, ev.here.quoted = ev.here.quoted, outer }()
	switch e.kind {
	case PruneEffect:
		glob, problem, _ := ev.argument(e.glob)
		return Effect{Kind: PruneEffect, Glob: glob, Older: e.older}, problem, sentence{}
	case RunEffect:
		out = Effect{Kind: RunEffect, Fact: e.fact.fact.Name, Timeout: e.fact.fact.Timeout}
		for _, a := range e.run {
			arg, problem, _ := ev.argument(a)
			if problem.full != "" {
				ev.report(sentencef("rule %s: %s is not run: %s", ev.here.rule.Name, e.fact.fact.Args[0], problem))
				return out, problem, broken
			}
			out.Args = append(out.Args, arg)
		}
		return out, skip, broken
	case OwnEffect:
		return ev.ownEffect(e)
	case RememberEffect:
		return ev.toRemember(e)
	}
	f := e.fact.fact
	ev.need(f.plan.sym)
	v := ev.got(f)
	if ev.missed(f) {
		return out, public("its file is gone"), broken
	}
	ev.here.quoted = v.masked
	out = Effect{Kind: e.kind, Fact: f.Name, Source: f.Source.Name, File: v.Path, Version: v.Version}
	absent := v.Status == Missing || v.defaulted
	// Only a missing file starts with the default: one that cannot be read stays unchanged.
	out.Create = e.kind == SetEffect && v.defaulted && v.Quiet && v.Version == "" && v.Path != "" && f.Source.File
	switch {
	case e.kind == SetEffect && absent && !out.Create:
		return out, skip, public(fmt.Sprintf("%s: %s is missing, so there is nothing to change", e.src, f.Name))
	case e.kind == SetEffect && v.Status == Invalid:
		return out, skip, sentencef("%s: %s is invalid, so it cannot be changed: %s", e.src, f.Name, v.sentence())
	case absent && !out.Create:
		return out, public(f.Name + " is missing"), broken
	case v.Path == "" && f.Source.File:
		return out, skip, public(fmt.Sprintf("%s: %s has no file", e.src, f.Name))
	case e.kind != SetEffect:
		return out, skip, broken
	}
	if v.read != nil {
		v.Value = v.Whole(ev.meter.ctx) // any of it may be what changes
	}
	if out.Path, skip, broken = ev.target(e, v.V); skip.full != "" || broken.full != "" {
		return out, skip, broken
	}
	value, state := ev.value(e.value)
	if state != known {
		return out, skip, sentencef("%s: the value is unknown: %s", e.src, ev.last.why)
	}
	ev.here.quoted = ev.here.quoted || ev.last.mark != nil || v.mark.at(namesIn(out.Path)) != nil
	if !out.Create {
		out.Old = valueAt(v.V, out.Path)
	}
	ev.here.at = e.value.last().id
	ev.meter.copy(value)
	ev.here.at = 0
	var problem string
	if out.Value, problem = storable(e.typ, value); problem != "" {
		return out, skip, public(e.src + ": " + problem)
	}
	return out, skip, broken
}

// namesIn returns the field names of a path.
func namesIn(path []any) (fields []string) {
	for _, step := range path {
		if name, ok := step.(string); ok {
			fields = append(fields, name)
		}
	}
	return fields
}

// valueAt returns the value at an existing path.
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

// ownEffect returns an effect of the embedding program.
func (ev *evaluation) ownEffect(e *effect) (out Effect, skip, broken sentence) {
	out = Effect{Kind: OwnEffect, Name: e.name}
	out.Value, _, _ = ev.fill(e.args, func(t *text) (any, bool, error) { return ev.render(t), true, nil })
	if e.schema == nil {
		return out, skip, broken
	}
	r := e.schema.Check(schema.Document{Value: out.Value})
	if problem := misfit(r); problem != "" {
		return out, skip, sentencef("%s: the arguments do not fit: %s", e.src, masked(problem, ev.here.quoted))
	}
	out.Value = r.Value
	return out, skip, broken
}

// fill fills in a template; text returns the value of a string, and whether to keep it.
func (ev *evaluation) fill(t *template, text func(*text) (any, bool, error)) (value any, ok bool, err error) {
	ev.meter.charge(1 + keySteps)
	fields, list := map[string]any{}, []any{}
	for i, item := range t.items {
		name := ""
		if t.names != nil {
			name = t.names[i]
		}
		switch v, ok, err := ev.fill(item, text); {
		case err != nil && name != "":
			return nil, false, fmt.Errorf("%s: %w", name, err)
		case err != nil:
			return nil, false, err
		case ok && t.list:
			list = append(list, v)
		case ok:
			fields[name] = v
		}
	}
	switch {
	case t.text != nil:
		return text(t.text)
	case t.names != nil:
		return fields, true, nil
	case t.list:
		return list, true, nil
	}
	return t.constant, true, nil
}

// target evaluates the path of a set within the value of its fact.
func (ev *evaluation) target(e *effect, at any) (path []any, skip, broken sentence) {
	left := func(format string, args ...any) ([]any, sentence, sentence) {
		return nil, masked(fmt.Sprintf(format, args...), ev.here.quoted), sentence{}
	}
	for _, s := range e.steps {
		var key any = s.field
		if s.index != nil {
			v, state := ev.value(s.index)
			if state != known {
				return nil, skip, sentencef("%s: the index is unknown: %s", e.src, ev.last.why)
			}
			key = v
			ev.here.quoted = ev.here.quoted || ev.last.mark != nil
		}
		switch key := key.(type) {
		case nil:
			return left("the index is nil")
		case string:
			m, ok := at.(map[string]any)
			if !ok {
				return left("there is no object at %q", schema.PointerOf(path))
			}
			path, at = append(path, key), m[key]
		case int:
			l, ok := at.([]any)
			if !ok {
				return left("there is no list at %q", schema.PointerOf(path))
			}
			if key < 0 || key >= len(l) {
				return left("index %d is out of range, the list has %d", key, len(l))
			}
			path, at = append(path, key), l[key]
		default:
			return nil, skip, sentencef("%s: the index is %s, not a whole number or a name", e.src, masked(indexText(key), ev.here.quoted))
		}
	}
	return path, skip, broken
}

// indexText returns an invalid index for messages.
func indexText(v any) string {
	if f, ok := v.(float64); ok {
		return display(f)
	}
	return kindOf(v)
}
