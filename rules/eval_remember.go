package rules

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/ralph-sdk/ralph/schema"
)

// recall returns a value of memory. If its schema has changed so that it no longer fits, the default counts, and that
// is reported.
func (ev *evaluation) recall(s *symbol) (any, *mask) {
	m := memoryFor(s.memory.per, &ev.verdict.Memory, &ev.verdict.Project)
	v, ok := m.Values[s.name]
	if !ok {
		return s.value, nil
	}
	ev.meter.charge(1)
	private := slices.Contains(m.Private, s.name)
	r := s.memory.schema.Check(schema.Document{Value: v})
	if problem := misfit(r); problem != "" {
		ev.report(sentencef("the remembered value of %s does not fit its schema, so its default is used: %s", s.name, masked(problem, private)))
		return s.value, nil
	}
	return r.Value, secret(private)
}

// toRemember returns the effect that changes a value of memory.
func (ev *evaluation) toRemember(e *effect) (out Effect, skip, broken sentence) {
	s := e.memory
	out = Effect{Kind: RememberEffect, Name: s.name}
	value, state := ev.value(e.value)
	if state != known {
		return out, skip, sentencef("%s: the value is unknown: %s", e.src, ev.last.why)
	}
	ev.here.quoted = ev.last.mark != nil
	ev.here.at = e.value.last().id
	ev.meter.copy(value)
	ev.here.at = 0
	var problem string
	if out.Value, problem = storable(e.typ, value); problem == "" {
		problem = misfit(s.memory.schema.Check(schema.Document{Value: out.Value}))
	}
	if b, err := json.Marshal(out.Value); problem == "" && (err != nil || len(b) > maxMemoryValue) {
		problem = fmt.Sprintf("too large to remember (%d bytes, the limit is %d)", len(b), maxMemoryValue)
	}
	if problem != "" {
		return out, skip, sentencef("%s: %s", e.src, masked(problem, ev.here.quoted))
	}
	at := ev.need(s)
	out.Old = at.mark.masked(at.value)
	return out, skip, broken
}

// remembers reports whether memory already has the value of an effect, and no earlier effect of the verdict, the latest
// of which are out, changes it.
func (ev *evaluation) remembers(eff Effect, out []Effect) bool {
	same := func(e Effect) bool { return e.Kind == RememberEffect && e.Name == eff.Name }
	if slices.ContainsFunc(out, same) || slices.ContainsFunc(ev.verdict.Parts, func(p Part) bool { return slices.ContainsFunc(p.Effects, same) }) {
		return false
	}
	_, has := ev.program.holds(&ev.verdict.Memory, &ev.verdict.Project, eff)
	return has
}

// holds returns the memory that an effect changes, and whether it already has the value.
func (p *Program) holds(session, project *Memory, e Effect) (m *Memory, has bool) {
	of := p.Memory[e.Name]
	m = memoryFor(of.Per, session, project)
	before, there := m.Values[e.Name]
	if !there {
		before = of.Default
	}
	return m, reflect.DeepEqual(before, e.Value) && e.Private == slices.Contains(m.Private, e.Name)
}

// keep sets what the verdict remembers in the next memories, and reports which have changed. It then drops values that the
// policy no longer declares.
func (ev *evaluation) keep(session, project *Memory) (mine, shared bool) {
	for _, part := range ev.verdict.Parts {
		for _, e := range part.Effects {
			if e.Kind != RememberEffect {
				continue
			}
			m, has := ev.program.holds(session, project, e)
			if has {
				continue
			}
			m.Values, m.Private = maps.Clone(m.Values), slices.Clone(m.Private)
			maps.DeleteFunc(m.Values, func(name string, _ any) bool { _, ok := ev.program.Memory[name]; return !ok })
			if m.Values == nil {
				m.Values = map[string]any{}
			}
			m.Values[e.Name] = e.Value
			m.Private = slices.DeleteFunc(m.Private, func(name string) bool { _, ok := m.Values[name]; return !ok || name == e.Name })
			if e.Private {
				m.Private = append(m.Private, e.Name)
			}
			mine, shared = mine || m == session, shared || m == project
		}
	}
	return mine, shared
}
