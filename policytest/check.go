package policytest

import (
	"maps"
	"slices"
	"sync"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/rules"
)

// Check compares the names in the tests to those of the policy: events, given and expected facts, rules, and effects.
// All findings are errors.
func (f *File) Check(p *rules.Program) rules.Diagnostics {
	var facts, names []string
	for _, d := range p.Facts() {
		facts = append(facts, d.Name)
	}
	remembered := slices.Collect(maps.Keys(p.Memory))
	for _, r := range p.Rules() {
		names = append(names, r.Name)
	}
	for _, limit := range form.LimitKeys().Names() {
		names = append(names, "limits."+limit)
	}
	events := slices.Concat(vocab.Events(), p.Events)
	// Most situations do not need these.
	uses := sync.OnceValue(p.Uses)
	effects := sync.OnceValue(func() []string {
		names := keysOf("effect")
		for _, u := range uses().Effects {
			names = append(names, u.Name)
		}
		return names
	})
	raw := sync.OnceValue(func() bool {
		return slices.ContainsFunc(uses().Names, func(u rules.Use) bool { return u.Name == vocab.HookRaw })
	})
	inputs := sync.OnceValue(func() []string { return keysOf("input") })
	var out rules.Diagnostics
	report := func(at rules.Pos, name, help, message string) {
		d := rules.Diagnostic{Pos: at, End: at, Check: checkUnknown, Help: help, Message: message, Line: yamltree.Line(f.src, at.Line)}
		d.End.Col += len([]rune(name))
		if !slices.ContainsFunc(out, func(o rules.Diagnostic) bool { return o.Pos == at && o.Message == d.Message }) {
			out = append(out, d)
		}
	}
	fail := func(at rules.Pos, problem, name string, known []string) {
		if slices.Contains(known, name) {
			return
		}
		help := nearest.DidYouMean(name, known)
		switch {
		case help != "":
		case len(known) == 0:
			help = "there are none"
		default:
			help = "there are " + quoted(known)
		}
		report(at, name, help, problem+" "+quoted([]string{name}))
	}
	at := func(n *yamltree.Node) rules.Pos { return rules.Pos{File: f.Name, Line: n.Start.Line, Col: n.Start.Col} }
	keys := func(in *yamltree.Node, key, problem string, known []string) {
		for _, f := range fields(in, key) {
			fail(at(f.Key), problem, f.Key.Value, known)
		}
	}
	for _, t := range f.Tests {
		given, expect := t.Given.node, t.node.Get("expect")
		if event := t.node.Get("event"); event != nil {
			fail(at(event), "unknown event", t.Event, events)
		}
		for _, key := range []string{"facts", "missing", "invalid", "problem"} {
			keys(given, key, "the policy has no fact", facts)
		}
		keys(given, "memory", "the policy has no memory", remembered)
		keys(given, "repeated", "the policy has no rule", names)
		keys(given, "waited", "the policy has no rule", names)
		for _, field := range fields(given, "input") {
			name, place := field.Key.Value, at(field.Key)
			if raw() {
				continue
			}
			entry, _ := vocab.Find(name)
			if t.Given.Host == "" {
				fail(place, "no rule can read the input field", name, inputs())
				if known, ok := entry.Zero.(vocab.Items); ok {
					for _, item := range items(field.Value) {
						for _, f := range item.Fields {
							fail(at(f.Key), "an item of "+name+" has no field", f.Key.Value, slices.Collect(maps.Keys(known)))
						}
					}
				}
			}
			// What the file gives to all tests may be for others.
			if event := entry.Event; event != "" && event != t.Event && place.Line >= t.Pos.Line && slices.Contains(vocab.Events(), t.Event) {
				report(place, name, "write event: "+event+" in the test, or leave it out", "only "+event+" has the input field "+name+", and this test is of "+t.Event)
			}
		}
		keys(expect, "memory", "the policy has no memory", remembered)
		for _, key := range []string{"effects", "finally"} {
			for _, item := range items(expect.Get(key)) {
				for _, f := range item.Fields {
					fail(at(f.Key), "the policy has no effect", f.Key.Value, effects())
				}
			}
		}
		for _, key := range []string{"read", "unread"} {
			for _, item := range items(expect.Get(key)) {
				fail(at(item), "the policy has no fact", item.Value, facts)
			}
		}
		if r := t.Expect.Rule; r != nil && *r != "" {
			fail(t.Expect.at["rule"], "the policy has no rule", *r, names)
		}
	}
	sortByPlace(out)
	return out
}

// items returns the items of a list, or a single item.
func items(n *yamltree.Node) []*yamltree.Node {
	switch {
	case n == nil:
		return nil
	case n.Kind == yamltree.List:
		return n.Items
	}
	return []*yamltree.Node{n}
}
