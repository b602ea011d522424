package testfile

import (
	"maps"
	"slices"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/rules/internal/form"
	"github.com/ralph-sdk/ralph/rules/internal/source"
)

// Check compares the names in the tests with those of the policy: events, facts that
// are given or expected to be read, rules, and effects. All findings are errors.
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
	events := union(rules.KnownEvents(), p.Events)
	effects := effectKeys().names()
	for _, u := range p.Uses().Effects {
		effects = union(effects, []string{u.Name})
	}
	raw := slices.ContainsFunc(p.Uses().Names, func(u rules.Use) bool { return u.Name == "hook.raw" })
	inputs := append(inputKeys().names(), "transcript_path")
	var out rules.Diagnostics
	report := func(at rules.Pos, name, help, message string) {
		d := rules.Diagnostic{Pos: at, End: at, Check: CheckUnknown, Help: help, Message: message, Line: source.Line(f.src, at.Line)}
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
	for _, t := range f.Tests {
		if t.eventAt.Line > 0 {
			fail(t.eventAt, "unknown event", t.Event, events)
		}
		for _, v := range t.Expect.verbs {
			fail(v.at, "the policy has no effect", v.name, effects)
		}
		g := t.Given
		for name := range g.Facts {
			fail(g.at["fact "+name], "the policy has no fact", name, facts)
		}
		for _, given := range []map[string]string{g.Missing, g.Invalid, g.Problem} {
			for name := range given {
				fail(g.at["fact "+name], "the policy has no fact", name, facts)
			}
		}
		for name := range g.Input {
			at := g.at["input "+name]
			if at.Line == 0 || raw {
				continue
			}
			if g.Host == "" {
				fail(at, "no rule can read the input field", name, inputs)
				for _, key := range unknownItemKeys(name, g.Input[name]) {
					fail(at, "an item of "+name+" has no field", key, itemKeys(name))
				}
			}
			// What the file gives all its tests may be meant for others.
			if event := eventOf(name); event != "" && event != t.Event && at.Line >= t.Pos.Line && slices.Contains(rules.KnownEvents(), t.Event) {
				report(at, name, "write event: "+event+" in the test, or leave it out", "only "+event+" has the input field "+name+", and this test is of "+t.Event)
			}
		}
		for name := range g.Memory {
			fail(g.at["memory "+name], "the policy has no memory", name, remembered)
		}
		for name, at := range t.Expect.memoryAt {
			fail(at, "the policy has no memory", name, remembered)
		}
		for name := range g.Repeated {
			fail(g.at["rule "+name], "the policy has no rule", name, names)
		}
		for _, list := range []Optional[[]string]{t.Expect.Read, t.Expect.Unread} {
			for _, name := range list.Value {
				fail(list.Pos, "the policy has no fact", name, facts)
			}
		}
		if r := t.Expect.Rule; r.Value != "" {
			fail(r.Pos, "the policy has no rule", r.Value, names)
		}
	}
	slices.SortFunc(out, func(a, b rules.Diagnostic) int {
		if a.Pos.Line != b.Pos.Line {
			return a.Pos.Line - b.Pos.Line
		}
		return a.Pos.Col - b.Pos.Col
	})
	return out
}

// eventOf is the one event that has a field of the hook input, "" if several have it.
func eventOf(field string) string {
	switch field {
	case "prompt":
		return "UserPromptSubmit"
	case "trigger", "custom_instructions":
		return "PreCompact"
	case "reason":
		return "SessionEnd"
	case "error", "error_details":
		return "StopFailure"
	}
	return ""
}

// union is a, and what is only in b.
func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(a, s)
		}
	}
	return a
}

// itemKeys are the fields that rules know of background work and of wake-ups.
func itemKeys(input string) []string {
	switch input {
	case "background_tasks":
		return []string{"description", "id", "status", "type"}
	case "session_crons":
		return []string{"id", "prompt", "recurring", "schedule"}
	}
	return nil
}

// unknownItemKeys are the other ones that a test gives.
func unknownItemKeys(input string, given any) []string {
	known := itemKeys(input)
	items, _ := given.([]any)
	var unknown []string
	for _, item := range items {
		fields, _ := item.(map[string]any)
		for key := range fields {
			if known != nil && !slices.Contains(known, key) {
				unknown = append(unknown, key)
			}
		}
	}
	slices.Sort(unknown)
	return slices.Compact(unknown)
}
