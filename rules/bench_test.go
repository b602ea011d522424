package rules_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/rules"
)

// benchPolicy has eight rules of which the last holds; its text has seven placeholders.
const benchPolicy = `ralph: 1
facts:
  settings:
    frontmatter: settings.md
    schema: {properties: {enabled: {type: boolean, default: true}}}
  state:
    json: state.json
    inline: true
    schema:
      properties:
        phase: {type: string, default: ""}
        taskIndex: {type: integer, default: 0}
        totalTasks: {type: integer, default: 0}
        taskIteration: {type: integer, default: 0}
        globalIteration: {type: integer, default: 0}
        maxGlobalIterations: {type: integer, default: 100}
        awaitingApproval: {type: boolean, default: false}
        feature: {type: string, default: ""}
rules:
  - name: switched-off
    when: not settings.enabled
    stop: switched off
  - name: no-state
    when: missing(state)
    stop: no state
  - name: invalid-state
    when: invalid(state)
    stop: the state is broken
  - name: not-executing
    when: phase != "execution"
    stop: the phase is ${phase}
  - name: nothing-left
    when: taskIndex >= totalTasks
    stop: nothing is left
  - name: limit
    when: globalIteration >= maxGlobalIterations
    stop: the limit is reached
  - name: approval
    when: awaitingApproval
    stop: approval is awaited
  - name: next-task
    when: phase == "execution" and taskIndex < totalTasks and not stop_hook_active
    continue: |
      Continue feature: ${feature} (Task ${taskIndex}/${totalTasks}, Iter ${globalIteration})
      Phase ${phase}, attempt ${taskIteration} of ${maxGlobalIterations}.
`

// constantWorld is a world that costs nothing to read.
type constantWorld struct {
	settings, state rules.Value
}

func newConstantWorld() *constantWorld {
	return &constantWorld{
		settings: rules.Value{V: object{"enabled": true}},
		state: rules.Value{Path: "state.json", Version: "1", V: object{
			"phase": "execution", "taskIndex": 3, "totalTasks": 12, "taskIteration": 1, "globalIteration": 7,
			"maxGlobalIterations": 100, "awaitingApproval": false, "feature": "001-auth",
		}},
	}
}

func (w *constantWorld) Fact(_ context.Context, f *rules.Fact, _ []string) rules.Value {
	if f.Name == "settings" {
		return w.settings
	}
	return w.state
}
func (w *constantWorld) Name(_ context.Context, name string) any {
	if strings.Contains(name, ".") { // no session file, no run
		return nil
	}
	return false
}

// handWritten is benchPolicy as you would write it in Go.
func handWritten(settings, state map[string]any, stopHookActive bool) (rules.Action, string) {
	phase, _ := state["phase"].(string)
	taskIndex, _ := state["taskIndex"].(int)
	totalTasks, _ := state["totalTasks"].(int)
	iteration, _ := state["globalIteration"].(int)
	limit, _ := state["maxGlobalIterations"].(int)
	if enabled, _ := settings["enabled"].(bool); !enabled {
		return rules.Stop, "switched off"
	}
	if state == nil {
		return rules.Stop, "no state"
	}
	if phase != "execution" {
		return rules.Stop, "the phase is " + phase
	}
	if taskIndex >= totalTasks {
		return rules.Stop, "nothing is left"
	}
	if iteration >= limit {
		return rules.Stop, "the limit is reached"
	}
	if awaiting, _ := state["awaitingApproval"].(bool); awaiting {
		return rules.Stop, "approval is awaited"
	}
	if stopHookActive {
		return rules.Stop, ""
	}
	feature, _ := state["feature"].(string)
	attempt, _ := state["taskIteration"].(int)
	var b strings.Builder
	b.WriteString("Continue feature: ")
	b.WriteString(feature)
	b.WriteString(" (Task ")
	b.WriteString(strconv.Itoa(taskIndex))
	b.WriteString("/")
	b.WriteString(strconv.Itoa(totalTasks))
	b.WriteString(", Iter ")
	b.WriteString(strconv.Itoa(iteration))
	b.WriteString(")\nPhase ")
	b.WriteString(phase)
	b.WriteString(", attempt ")
	b.WriteString(strconv.Itoa(attempt))
	b.WriteString(" of ")
	b.WriteString(strconv.Itoa(limit))
	b.WriteString(".")
	return rules.Continue, b.String()
}

func benchProgram(t testing.TB) *rules.Program {
	return load(t, files{"policy.yaml": benchPolicy})
}

func TestBenchmarksAgree(t *testing.T) {
	w := newConstantWorld()
	v := benchProgram(t).Eval(t.Context(), w, rules.Options{})
	action, reason := handWritten(w.settings.V.(object), w.state.V.(object), false)
	if v.Action != action || v.Reason != reason {
		t.Errorf("the policy: %s %q\nby hand: %s %q", v.Action, v.Reason, action, reason)
	}
	if diff := cmp.Diff(8, len(v.Trace.Steps)); diff != "" {
		t.Errorf("steps of the trace (-want +got):\n%s", diff)
	}
}

func BenchmarkEval(b *testing.B) {
	p, w, ctx := benchProgram(b), newConstantWorld(), b.Context()
	b.ReportAllocs()
	for b.Loop() {
		p.Eval(ctx, w, rules.Options{})
	}
}

func BenchmarkHandWritten(b *testing.B) {
	w := newConstantWorld()
	settings, state := w.settings.V.(object), w.state.V.(object)
	b.ReportAllocs()
	for b.Loop() {
		handWritten(settings, state, false)
	}
}

func BenchmarkExplain(b *testing.B) {
	p, w, ctx := benchProgram(b), newConstantWorld(), b.Context()
	b.ReportAllocs()
	for b.Loop() {
		p.Eval(ctx, w, rules.Options{Trace: rules.TraceFull})
	}
}

func BenchmarkLoad(b *testing.B) {
	for _, lazy := range []bool{false, true} {
		b.Run(fmt.Sprintf("lazy=%t", lazy), func(b *testing.B) {
			fsys := files{"policy.yaml": benchPolicy}.fs()
			b.ReportAllocs()
			for b.Loop() {
				rules.Load(b.Context(), fsys, "policy.yaml", rules.Config{Lazy: lazy})
			}
		})
	}
}

// manyRules is benchPolicy's state with n distinct rules.
func manyRules(n int) string {
	head, _, _ := strings.Cut(benchPolicy, "rules:\n")
	var b strings.Builder
	b.WriteString(head)
	b.WriteString("rules:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: rule-%d\n    when: phase == \"execution\" and taskIndex == %d\n    stop: at ${taskIndex} of ${totalTasks}\n", i, i)
	}
	return b.String()
}

func BenchmarkLoad1000(b *testing.B) {
	fsys := files{"policy.yaml": manyRules(1000)}.fs()
	b.ReportAllocs()
	for b.Loop() {
		if p, diags := rules.Load(b.Context(), fsys, "policy.yaml", rules.Config{Lazy: true}); p == nil {
			b.Fatal(diags.Format())
		}
	}
}
