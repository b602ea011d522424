package rules_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/rules"
)

// ran names the rules that had something to say, and the verdict.
func ran(v *rules.Verdict) []string {
	out := []string{v.Action.String() + " " + v.Rule}
	for _, p := range v.Parts {
		text := p.Rule + ":" + p.Notice + p.Note
		for _, e := range p.Effects {
			text += " " + e.Fact
		}
		out = append(out, text)
	}
	return out
}

// At the end of a session, and when a turn failed, nothing is decided: rules with a verb
// are not tried, the others run with their effects, and the streak stays as it is.
func TestWatchedEvents(t *testing.T) {
	const text = `
events: [Stop, StopFailure, SessionEnd]
facts: {state: {json: s.json, schema: {properties: {open: {type: boolean, default: true}}}}}
rules:
  - {name: go, continue: Go on.}
  - {name: halt, stop: no}
  - {name: note, note: never}
  - {name: reported, notice: '${error}${reason}', then: [{set: state.open = false}]}
`
	p := load(t, policy(text))
	w := func() *world {
		return &world{facts: map[string]rules.Value{"state": is(object{"open": true})}, names: map[string]any{"error": "rate_limit", "reason": ""}}
	}
	before := w().eval(p).Memory
	for _, event := range []string{"StopFailure", "SessionEnd"} {
		v := p.Eval(t.Context(), w(), rules.Options{Event: event, Memory: before})
		if diff := cmp.Diff([]string{"stop ", "reported:rate_limit state"}, ran(v)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", event, diff)
		}
		if diff := cmp.Diff(before, v.Memory); diff != "" || v.Changed {
			t.Errorf("%s changes the memory: %s", event, diff)
		}
	}
}

// A compaction can be kept from happening. That counts; letting it happen ends no streak.
func TestPreCompact(t *testing.T) {
	const named = `
events: [Stop, PreCompact]
limits: {continuations: 3}
rules:
  - {name: keep, when: trigger == "manual" and prompt == "keep", continue: Not yet.}
  - {name: auto, when: trigger == "auto" and prompt == "keep", continue: Not by itself.}
  - {name: let, when: hook_event_name == "PreCompact", stop: as you like, notice: compacts}
  - {name: go, continue: Go on.}
`
	const unnamed = `
events: [Stop, PreCompact]
rules:
  - {name: keep, continue: Not yet.}
  - {name: reported, notice: compacts}
`
	at := func(p *rules.Program, trigger, prompt string, m rules.Memory, watch bool) *rules.Verdict {
		w := &world{names: map[string]any{"trigger": trigger, "prompt": prompt, "hook_event_name": "PreCompact"}}
		return p.Eval(t.Context(), w, rules.Options{Event: "PreCompact", Memory: m, Watch: watch})
	}
	p, q := load(t, policy(named)), load(t, policy(unnamed))
	m := rules.Memory{Streak: 1, Total: 1}
	for _, c := range []struct {
		name string
		v    *rules.Verdict
		want []string
		m    rules.Memory
	}{
		{"the user asks for it", at(p, "manual", "keep", m, false), []string{"continue keep", "keep:"}, rules.Memory{Streak: 2, Total: 2}},
		{"it comes by itself", at(p, "auto", "keep", m, false), []string{"continue auto", "auto:"}, rules.Memory{Streak: 2, Total: 2}},
		{"it may happen", at(p, "manual", "", m, false), []string{"stop let", "let:compacts"}, m},
		{"a limit lets it happen", at(p, "manual", "keep", rules.Memory{Streak: 3, Total: 3}, false), []string{"stop limits.continuations"}, rules.Memory{Streak: 3, Total: 3}},
		{"on a host that cannot block it", at(p, "manual", "keep", m, true), []string{"stop "}, m},
		{"a policy that does not know of automatic ones", at(q, "auto", "", m, false), []string{"stop ", "reported:compacts"}, m},
		{"it blocks the user's", at(q, "manual", "", m, false), []string{"continue keep", "keep:"}, rules.Memory{Streak: 2, Total: 2}},
		{"a host that does not say why", at(q, "", "", m, false), []string{"stop ", "reported:compacts"}, m},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ran(c.v)); diff != "" {
				t.Errorf("(-want +got):\n%s\n%v", diff, c.v.Problems)
			}
			if c.v.Memory.Streak != c.m.Streak || c.v.Memory.Total != c.m.Total {
				t.Errorf("it counts %d and %d, want %d and %d", c.v.Memory.Streak, c.v.Memory.Total, c.m.Streak, c.m.Total)
			}
		})
	}
}

// A task that is kept open counts. To allow its end ends no streak, as the turn continues; a teammate that may wait ends its own.
func TestTeamEvents(t *testing.T) {
	p := load(t, policy(`
events: [Stop, TaskCompleted, TeammateIdle]
rules:
  - {name: untested, when: task_subject == "tests", continue: Run them first.}
  - {name: fine, when: task_subject == "docs", stop: it is fine}
`))
	for _, c := range []struct {
		event, task string
		want        []string
		streak      int
	}{
		{"TaskCompleted", "tests", []string{"continue untested", "untested:"}, 2},
		{"TaskCompleted", "docs", []string{"stop fine", "fine:"}, 1},
		{"TaskCompleted", "", []string{"stop "}, 1},
		{"TeammateIdle", "tests", []string{"continue untested", "untested:"}, 2},
		{"TeammateIdle", "", []string{"stop "}, 0},
	} {
		v := p.Eval(t.Context(), &world{names: map[string]any{"task_subject": c.task}}, rules.Options{Event: c.event, Memory: rules.Memory{Streak: 1, Total: 1}})
		if diff := cmp.Diff(c.want, ran(v)); diff != "" || v.Memory.Streak != c.streak {
			t.Errorf("%s of %q: streak %d, want %d (-want +got)\n%s\n%v", c.event, c.task, v.Memory.Streak, c.streak, diff, v.Problems)
		}
	}
}

// A program whose own event has the name of a later hook event keeps it.
func TestOwnEventsByLaterNames(t *testing.T) {
	p := loadWith(t, policy("events: [SessionEnd]\nrules: [{name: go, continue: on}]\n"), rules.Config{Shipped: examples.FS, Events: []string{"SessionEnd"}})
	if v := p.Eval(t.Context(), &world{}, rules.Options{Event: "SessionEnd"}); v.Rule != "go" || v.Memory.Streak != 1 {
		t.Errorf("got %v, streak %d", ran(v), v.Memory.Streak)
	}
	_, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte("ralph: 1\nrules: [{name: a, stop: x}]\n"), rules.Config{Events: []string{"Stop"}})
	if diags.Err() == nil {
		t.Error("Stop can be added")
	}
}
