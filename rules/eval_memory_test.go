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
