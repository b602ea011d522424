package loop_test

import (
	"strconv"
	"testing"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

const benchmarked = `ralph: 1
facts:
  state: {value: the state of the program, inline: true, schema: {properties: {phase: {type: string}, taskIndex: {type: integer}, totalTasks: {type: integer}, iteration: {type: integer}, enabled: {type: boolean}}}}
rules:
  - {name: off, when: not enabled, stop: it is off}
  - {name: idle, when: 'phase != "execution"', stop: there is nothing to do}
  - {name: end, when: taskIndex >= totalTasks, done: all is done}
  - {name: often, when: iteration >= 100, stop: it took too often}
  - {name: first, when: taskIndex == 0 and iteration > 1, stop: the first task fails}
  - {name: late, when: 'phase == "execution" and taskIndex > totalTasks', stop: the index is too high}
  - {name: early, when: taskIndex < 0, stop: the index is too low}
  - {name: next, when: 'phase == "execution" and taskIndex < totalTasks and not stop_hook_active', continue: 'Do task ${taskIndex + 1} of ${totalTasks}'}
`

// BenchmarkDecide decides in memory, beside the evaluation that it contains.
func BenchmarkDecide(b *testing.B) {
	p, err := rules.Parse("policy.yaml", []byte(benchmarked))
	if err != nil {
		b.Fatal(err)
	}
	values := map[string]any{"state": map[string]any{"phase": "execution", "taskIndex": 3, "totalTasks": 10, "iteration": 4, "enabled": true}}
	b.Run("Eval", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if v, err := p.Eval(b.Context(), rules.Input{Values: values}); err != nil || v.Outcome != rules.Continued {
				b.Fatal(v, err)
			}
		}
	})
	b.Run("Decide", func(b *testing.B) {
		b.ReportAllocs()
		l, err := loop.New(p)
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; b.Loop(); i++ { // a session has a thousand continuations at most
			d, err := l.Decide(b.Context(), loop.Event{Session: strconv.Itoa(i / 500), NewPrompt: true, Values: values})
			if err != nil || d.Outcome != rules.Continued {
				b.Fatal(d, err)
			}
		}
	})
}
