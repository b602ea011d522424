package loop_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
)

// streakPolicy always continues and reports what it knows of its streak.
const streakPolicy = `
ralph: 1
facts:
  step: {text: step.txt}
  mode: {text: mode.txt, default: go}
progress: step
limits: {continuations: 3}
rules:
  - name: pause
    when: mode == "stop"
    stop: paused
  - name: broken
    when: mode == "broken" and int(mode) > 0
    stop: no
  - name: go
    when: mode != "nothing"
    continue: ${loop.continuations} of ${loop.total}, ${loop.repeats} the same
`

// What separates one turn from the next, host by host. A streak lasts for a turn.
func TestTurns(t *testing.T) {
	type fields = map[string]any
	for _, c := range []struct {
		name, host string
		events     []fields
		want       []string
	}{
		{
			"Claude Code names the prompt", host.ClaudeCode,
			[]fields{
				{"prompt_id": "a", "stop_hook_active": false}, {"prompt_id": "a", "stop_hook_active": true},
				{"prompt_id": "a", "stop_hook_active": false}, // a reminder in between has been seen to do this
				{"prompt_id": "b", "stop_hook_active": true},
			},
			[]string{"0 of 0", "1 of 1", "2 of 2", "0 of 3"},
		},
		{
			"Codex names the turn", host.Codex,
			[]fields{{"turn_id": "1", "stop_hook_active": false}, {"turn_id": "1", "stop_hook_active": true}, {"turn_id": "2", "stop_hook_active": false}},
			[]string{"0 of 0", "1 of 1", "0 of 2"},
		},
		{
			"Gemini repeats the prompt, its flag says nothing", host.Gemini,
			[]fields{
				{"hook_event_name": "AfterAgent", "prompt": "do it", "stop_hook_active": false},
				{"hook_event_name": "AfterAgent", "prompt": "do it", "stop_hook_active": false},
				{"hook_event_name": "AfterAgent", "prompt": "more", "stop_hook_active": false},
			},
			[]string{"0 of 0", "1 of 1", "0 of 2"},
		},
		{
			"Cursor counts", host.Cursor,
			[]fields{{"loop_count": 0}, {"loop_count": 1}, {"loop_count": 2}, {"loop_count": 0}},
			[]string{"0 of 0", "1 of 1", "2 of 2", "0 of 3"},
		},
		{
			"others say false at the first stop of a prompt", "",
			[]fields{{"stop_hook_active": false}, {"stop_hook_active": true}, {"stop_hook_active": false}, {"stop_hook_active": false}},
			[]string{"0 of 0", "1 of 1", "0 of 2", "0 of 3"},
		},
		{
			"a flag that is absent says nothing", "",
			[]fields{{}, {}, {"stop_hook_active": nil}, {"stop_hook_active": false}},
			[]string{"0 of 0", "1 of 1", "2 of 2", "0 of 3"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			l := p.loop("ralph: 1\nrules: [{name: go, continue: '${loop.continuations} of ${loop.total}'}]")
			h, _ := host.Lookup(c.host)
			if h == nil {
				h = &host.Host{}
			}
			var got []string
			for _, e := range c.events {
				var a struct{ Reason, Followup_message string }
				decode(t, l.Hook(t.Context(), h, p.input(e)).Stdout, &a)
				got = append(got, a.Reason+a.Followup_message)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("streaks (-want +got):\n%s", diff)
			}
		})
	}
}

// Sessions and the agents in them have streaks of their own, and so have hosts,
// projects and policies. A policy that was changed keeps its streak. The total of a session is that of the policy's name
// and content, wherever it is.
func TestStreakKeys(t *testing.T) {
	p := newProject(t, map[string]string{"step.txt": "1"})
	l := p.loop(streakPolicy)
	p.run(l, p.turn("t"))
	for _, c := range []struct {
		name   string
		change func(*host.Event)
		want   string
	}{
		{"another session", func(ev *host.Event) { ev.SessionID = "other" }, "0 of 0, 0 the same"},
		{"a subagent", func(ev *host.Event) { ev.AgentID = "7" }, "0 of 1, 0 the same"},
		{"another host", func(ev *host.Event) { ev.Host = host.Codex }, "0 of 0, 0 the same"},
		{"another project", func(ev *host.Event) { ev.Cwd = t.TempDir() }, "0 of 1, "},
		{"the same", func(*host.Event) {}, "1 of 1, 1 the same"},
	} {
		ev := p.turn("t")
		c.change(&ev)
		d := l.Preview(t.Context(), ev)
		if got := said(d); len(got) < len(c.want) || got[:len(c.want)] != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	edited := p.run(p.loop(streakPolicy+"  # a comment\n"), p.turn("t"))
	if want := "1 of 1, 1 the same"; said(edited) != want {
		t.Errorf("an edited policy: %q, want %q", said(edited), want)
	}
	other := p.run(p.named("other.yaml", streakPolicy, nil), p.turn("t"))
	if want := "0 of 1, 0 the same"; said(other) != want {
		t.Errorf("a copy of the policy: %q, want %q", said(other), want)
	}
	other = p.run(p.named("another.yaml", streakPolicy+"  # another\n", nil), p.turn("t"))
	if want := "0 of 0, 0 the same"; said(other) != want {
		t.Errorf("another policy: %q, want %q", said(other), want)
	}
}

// A streak ends at a new turn, at a stop by a rule, and where no rule decides. A limit
// does not end it, or a loop would run on after each of its stops; a failure neither.
func TestStreakEnds(t *testing.T) {
	p := newProject(t, map[string]string{"step.txt": "1", "mode.txt": "go"})
	l := p.loop(streakPolicy)
	steps := []struct {
		name string
		do   func()
		turn string
		want string
	}{
		{"first", nil, "a", "0 of 0, 0 the same"},
		{"nothing moved", nil, "a", "1 of 1, 1 the same"},
		{"it moved", func() { p.write("step.txt", "2") }, "a", "2 of 2, 0 the same"},
		{"the bound", nil, "a", "stop limits.continuations"},
		{"the bound again", nil, "a", "stop limits.continuations"},
		{"a new turn", nil, "b", "0 of 3, 0 the same"},
		{"in it", nil, "b", "1 of 4, 1 the same"},
		{"a stop by a rule", func() { p.write("mode.txt", "stop") }, "b", "stop pause"},
		{"after it", func() { p.write("mode.txt", "go") }, "b", "0 of 5, 0 the same"},
		{"a failure", func() { p.write("mode.txt", "broken") }, "b", "stop broken"},
		{"after the failure", func() { p.write("mode.txt", "go") }, "b", "1 of 6, 1 the same"},
		{"no rule decides", func() { p.write("mode.txt", "nothing") }, "b", "stop"},
		{"after that", func() { p.write("mode.txt", "go") }, "b", "0 of 7, 0 the same"},
	}
	for _, s := range steps {
		if s.do != nil {
			s.do()
		}
		if got := said(p.run(l, p.turn(s.turn))); got != s.want {
			t.Errorf("%s: %q, want %q", s.name, got, s.want)
		}
	}
}

// What a limit measures: each prompt begins a streak, and so does a stop in between. The
// session continues.
func TestLimitsMeasureStreakOrSession(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	for limits, want := range map[string]int{ // continuations in 15 prompts with 3 stops each, a minute apart
		"{repeats: 2}":             30,
		"{continuations: 2}":       30,
		"{elapsed: 2m}":            30,
		"{total: 10}":              10,
		"{repeats: 2, total: 25}":  25,
		"{repeats: 2, total: 100}": 30,
	} {
		p := newProject(t, nil)
		l := p.loop("ralph: 1\nlimits: " + limits + "\nprogress: '\"same\"'\nrules: [{name: go, continue: on}]")
		got := 0
		for prompt := range 15 {
			for range 3 {
				p.now = p.now.Add(time.Minute)
				if p.run(l, p.turn(fmt.Sprint(prompt))).Continue() {
					got++
				}
			}
		}
		if got != want {
			t.Errorf("%s: %d continuations, want %d", limits, got, want)
		}
	}
}

// Repeats count how many of the latest continuations had the progress that now
// is. A measure that breaks counts as unchanged.
func TestRepeats(t *testing.T) {
	p := newProject(t, nil)
	l := p.loop(`
ralph: 1
facts:
  state: {json: state.json, inline: true, schema: {properties: {n: {type: integer}}}}
progress: n ?? 0
limits: {repeats: 2}
rules: [{name: go, continue: "${loop.repeats}"}]
`)
	steps := []struct{ state, want string }{
		{`{"n": 1}`, "0"}, {`{"n": 1}`, "1"}, {`{"n": 2}`, "0"}, {`{"n": 1}`, "0"}, {`{"n": 1}`, "1"},
		{`broken`, "stop limits.repeats"}, {`{"n": 3}`, "0"},
	}
	for i, s := range steps {
		p.write("state.json", s.state)
		if got := said(p.run(l, p.turn("a"))); got != s.want {
			t.Errorf("step %d, %s: %q, want %q", i, s.state, got, s.want)
		}
	}
}

func TestElapsedAndStep(t *testing.T) {
	p := newProject(t, nil)
	l := p.loop("ralph: 1\nlimits: {elapsed: 1h}\nrules: [{name: go, continue: '${loop.elapsed} ${loop.step}'}]")
	for _, s := range []struct {
		wait time.Duration
		want string
	}{
		{0, "0s 0s"},
		{10 * time.Minute, "10m0s 10m0s"},
		{-5 * time.Minute, "10m0s 0s"}, // a clock that was set back: no time passes
		{54 * time.Minute, "59m0s 49m0s"},
		{time.Minute, "stop limits.elapsed"},
	} {
		p.now = p.now.Add(s.wait)
		if got := said(p.run(l, p.turn("a"))); got != s.want {
			t.Errorf("after %s: %q, want %q", s.wait, got, s.want)
		}
	}
}

// A bound of N means at most N; the finite defaults hold where a policy says nothing.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		limits string
		events int
		turns  bool // each event is a turn of its own
		want   int
		bound  string
	}{
		{"limits: {continuations: 2}", 5, false, 2, "continuations"},
		{"limits: {total: 3}", 5, true, 3, "total"},
		{"limits: {repeats: 1}", 5, false, 1, "repeats"},
		{"limits: {repeats: 1}", 5, true, 5, ""},
		{"", 502, false, 500, "continuations"},
	} {
		t.Run(c.limits, func(t *testing.T) {
			p := newProject(t, nil)
			l := p.loop("ralph: 1\n" + c.limits + "\nrules: [{name: go, continue: on, notice: n, log: l}]")
			var last string
			got, shown := 0, 0
			for i := range c.events {
				ev := p.turn("a")
				if c.turns {
					ev.Turn = string(rune('a' + i))
				}
				d := p.run(l, ev)
				if d.Continue() {
					got++
				}
				last = d.Verdict.Bound
				if d.Verdict.Bound != "" {
					shown += len(d.Notices)
					if d.Verdict.Rule != "limits."+c.bound || shown != 1 || slices.Contains(d.Notices, "n") || len(d.Log) > 0 {
						t.Fatalf("rule %s, notices %q, log %q", d.Verdict.Rule, d.Notices, d.Log)
					}
				}
			}
			if got != c.want || last != c.bound {
				t.Errorf("%d continuations, then %q; want %d, then %q", got, last, c.want, c.bound)
			}
		})
	}
}

// An idle agent costs nothing: a stop that there is nothing to remember of is not
// written down.
func TestIdleWritesNothing(t *testing.T) {
	p := newProject(t, nil)
	l := alone(t, "ralph: 1\nrules: [{name: idle, stop: nothing to do}]", loop.WithRoot(p.dir), loop.WithStore(struct{ loop.Store }{loop.LocalStore(p.store)}))
	for _, turn := range []string{"a", "b"} {
		if d := p.run(l, p.turn(turn)); !d.Kept {
			t.Error("not applied")
		}
	}
	if names := entries(t, p.store); len(names) > 0 {
		t.Errorf("written: %q", names)
	}
}

// A turn that ended without a stop by a rule, because the host would not continue, does
// not come back with the next event that has no turn.
func TestAbandonedStreak(t *testing.T) {
	p := newProject(t, map[string]string{"mode.txt": "go", "step.txt": "1"})
	l := p.loop(streakPolicy)
	begin := p.stop()
	begin.NewTurn = true
	for _, s := range []struct {
		mode string
		ev   host.Event
		want string
	}{
		{"go", begin, "0 of 0, 0 the same"},
		{"go", p.stop(), "1 of 1, 1 the same"},
		{"stop", begin, "stop pause"},
		{"go", p.stop(), "0 of 2, 0 the same"},
	} {
		p.write("mode.txt", s.mode)
		if got := said(p.run(l, s.ev)); got != s.want {
			t.Errorf("%q, want %q", got, s.want)
		}
	}
}
