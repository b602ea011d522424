package rules_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// If the session file has no time, session.elapsed is the time since the first event of
// the session that the policy saw, even after the user ended a loop.
func TestSessionElapsed(t *testing.T) {
	p := load(t, policy(`
events: [Stop, UserPromptSubmit]
limits: {repeats: 9}
rules:
  - name: late
    when: session.elapsed > duration("1h")
    stop: after ${session.elapsed}
  - name: go-on
    when: not stop_hook_active
    continue: after ${session.elapsed}
`))
	type step struct {
		event string
		at    time.Duration
		names map[string]any
		want  string
	}
	for _, tt := range []struct {
		name  string
		steps []step
	}{
		{"from the first event", []step{
			{"UserPromptSubmit", 0, nil, "stop"},
			{"Stop", 10 * time.Minute, nil, "continue go-on: after 10m0s"},
			{"Stop", 90 * time.Minute, nil, "stop late: after 1h30m0s"},
		}},
		{"also after ralph stop", []step{
			{"Stop", 0, nil, "continue go-on: after 0s"},
			{"end", 10 * time.Minute, nil, ""},
			{"Stop", 20 * time.Minute, nil, "continue go-on: after 20m0s"},
		}},
		{"the session file counts", []step{
			{"Stop", 0, map[string]any{"session.elapsed": 5 * time.Minute}, "continue go-on: after 5m0s"},
			{"Stop", time.Minute, map[string]any{"session.elapsed": 6 * time.Minute}, "continue go-on: after 6m0s"},
		}},
		{"a clock that goes back", []step{
			{"Stop", time.Hour, nil, "continue go-on: after 0s"},
			{"Stop", 0, nil, "continue go-on: after 0s"},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var o rules.Options
			var want, got []string
			for _, s := range tt.steps {
				if s.event == "end" {
					o.Project.Reset, o.Turn = today().Add(s.at), "next"
					continue
				}
				o.Event, o.Time = s.event, today().Add(s.at)
				v := p.Eval(t.Context(), rules.Values(s.names), o)
				want, got = append(want, s.want), append(got, said(v))
				if v.Changed {
					o.Memory = again(t, v.Memory)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}

	v := load(t, policy("rules: [{name: a, when: loop.total > 1, stop: x}]")).Eval(t.Context(), rules.Values(nil), rules.Options{Time: today()})
	if v.Changed {
		t.Error("a policy that does not ask for session.elapsed remembers when the session began")
	}
}

// While the clock is back, no time passes in a streak or a window; more than an hour is reported. A prompt begins again.
func TestClockGoesBack(t *testing.T) {
	p := load(t, policy(`
limits: {elapsed: 10h, total: 99}
rules:
  - {name: asked, unless_repeated: {times: 2, within: 3h}, when: cwd == "ask", continue: asked}
  - {name: on, continue: "${loop.elapsed} ${loop.step}"}
`))
	var o rules.Options
	for _, s := range []struct {
		at        time.Duration
		cwd, turn string
		want      string
		reported  int
	}{
		{0, "", "a", "continue on: 0s 0s", 0},
		{2 * time.Hour, "", "a", "continue on: 2h0m0s 2h0m0s", 0},
		{90 * time.Minute, "", "a", "continue on: 2h0m0s 0s", 0},
		{0, "", "a", "continue on: 2h0m0s 0s", 1},
		{-1000 * time.Hour, "", "a", "continue on: 2h0m0s 0s", 1},
		{3 * time.Hour, "", "a", "continue on: 3h0m0s 1h0m0s", 0},
		{11 * time.Hour, "", "a", "stop limits.elapsed: this streak has lasted 11h0m0s, the limit is 10h0m0s", 1},
		{0, "", "b", "continue on: 0s 0s", 0},
		{1 * time.Hour, "ask", "c", "continue asked: asked", 0},
		{5 * time.Hour, "ask", "d", "continue asked: asked", 0},
		{0, "ask", "e", "continue asked: asked", 1}, // the first is five hours old, not one
		{0, "ask", "f", "continue on: 0s 0s", 1},
	} {
		o.Time, o.Turn = today().Add(s.at), s.turn
		v := p.Eval(t.Context(), rules.Values(map[string]any{"cwd": s.cwd}), o)
		if got := said(v); got != s.want || len(v.Problems) != s.reported {
			t.Errorf("after %s, turn %s: %s, %q; want %s", s.at, s.turn, got, reported(v), s.want)
		}
		o.Memory = again(t, v.Memory)
	}
}
