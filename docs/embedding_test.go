package docs_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing/fstest"
	"time"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
)

// project makes a folder with a task list, and gives it with a folder for ralph's
// own files.
func project() (dir, store string, remove func()) {
	top, err := os.MkdirTemp("", "ralph-example-")
	if err != nil {
		panic(err)
	}
	if err := os.WriteFile(filepath.Join(top, "TODO.md"), []byte("- [x] one\n- [ ] two\n"), 0o644); err != nil {
		panic(err)
	}
	return top, filepath.Join(top, "state"), func() { os.RemoveAll(top) }
}

const todoPolicy = `ralph: 1
facts:
  todo: {checklist: TODO.md}
limits: {repeats: 3}
rules:
  - name: open
    when: any(todo, not .done)
    continue: Do the next item of TODO.md.
`

// A hook in two halves: Decide changes nothing, Apply does.
func Example_decideAndApply() {
	dir, store, remove := project()
	defer remove()
	ctx := context.Background()

	policy := fstest.MapFS{"todo.yaml": {Data: []byte(todoPolicy)}}
	program, findings := rules.Load(policy, "todo.yaml", loop.Config())
	if program == nil {
		fmt.Print(findings.Format())
		return
	}
	l, err := loop.New(program, loop.WithRoot(dir), loop.WithStore(store))
	if err != nil {
		fmt.Println(err)
		return
	}

	decision := l.Decide(ctx, host.Event{Name: host.Stop, SessionID: "s1"})
	fmt.Println(decision.Verdict.Action, "by rule", decision.Verdict.Rule)
	for _, step := range decision.Verdict.Trace.Steps {
		fmt.Println(step.Rule, step.Outcome)
	}

	decision, err = l.Apply(ctx, decision) // it may have been made anew
	if err != nil {
		fmt.Println(err)
		return
	}
	if decision.Continue() {
		fmt.Println(decision.Verdict.Reason)
	}
	// Output:
	// continue by rule open
	// open holds
	// Do the next item of TODO.md.
}

// Several policies answer one hook; the agent goes on if any of them says so.
func Example_gate() {
	dir, store, remove := project()
	defer remove()

	policies := fstest.MapFS{"todo.yaml": {Data: []byte(todoPolicy)}}
	todo, _ := rules.Load(policies, "todo.yaml", loop.Config())
	speckit, _ := rules.Load(examples.FS, "speckit/speckit.yaml", loop.Config())

	var loops []*loop.Loop
	for _, program := range []*rules.Program{todo, speckit} {
		l, err := loop.New(program, loop.WithRoot(dir), loop.WithStore(store))
		if err != nil {
			fmt.Println(err)
			return
		}
		loops = append(loops, l)
	}
	answer := loop.NewGate(loops...).Hook(context.Background(), nil, []byte(`{"hook_event_name": "Stop", "session_id": "s1"}`))
	fmt.Printf("%sstatus %d\n", answer.Stdout, answer.Status)
	// Output:
	// {"decision":"block","reason":"[todo.yaml]\nDo the next item of TODO.md."}
	// status 0
}

// memory is a world without files: facts by their names.
type memory map[string]map[string]any

// Fact gives a fact, or says that it is missing.
func (m memory) Fact(_ context.Context, f *rules.Fact, _ []string) rules.Value {
	v, ok := m[f.Name]
	if !ok {
		return rules.Value{Status: rules.Missing, Problem: "there is none"}
	}
	return rules.Value{V: v}
}

// Name gives what a name is when nothing is known of it.
func (memory) Name(context.Context, string) any { return nil }

// Row is the first stop of a prompt.
func (memory) Row(context.Context) rules.Row { return rules.Row{} }

// Given says that no rule has spoken yet.
func (memory) Given(context.Context, *rules.Rule) int { return 0 }

// Rules can be evaluated over values in memory: without files, hosts and loops.
func Example_rulesAlone() {
	policy := fstest.MapFS{"build.yaml": {Data: []byte(`ralph: 1
facts:
  build:
    json: build.json
    schema: {properties: {left: {type: integer, default: 0}}}
rules:
  - name: left
    when: build.left > 0
    continue: ${build.left} targets are left.
`)}}
	program, _ := rules.Load(policy, "build.yaml", rules.Config{})

	for _, world := range []memory{{"build": {"left": 2}}, {"build": {"left": 0}}, {}} {
		v := program.Eval(context.Background(), world)
		fmt.Printf("%s: %q\n", v.Action, v.Reason)
	}
	// Output:
	// continue: "2 targets are left."
	// stop: ""
	// stop: ""
}

// Findings have a place, a check's name and help.
func Example_findings() {
	policy := fstest.MapFS{"bad.yaml": {Data: []byte("ralph: 1\nrules:\n  - name: again\n    whenn: stop_hook_active\n    stop: once\n")}}
	program, findings := rules.Load(policy, "bad.yaml", loop.Config())
	fmt.Println(program == nil)
	for _, f := range findings {
		fmt.Printf("%s [%s] %s\n", f.Pos, f.Check, f.Help)
	}
	// Output:
	// true
	// bad.yaml:4:5 [unknown-key] did you mean "when"?
}

// A simulation has its own clock, keeps no files outside of its folder, and hears
// of every decision.
func Example_options() {
	dir, store, remove := project()
	defer remove()

	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	policy := fstest.MapFS{"todo.yaml": {Data: []byte(todoPolicy)}}
	program, _ := rules.Load(policy, "todo.yaml", loop.Config())
	l, err := loop.New(program,
		loop.WithRoot(dir),
		loop.WithStore(store),
		loop.WithClock(func() time.Time { return now }),
		loop.WithEnv(func(string) string { return "" }),
		loop.WithDeadline(5*time.Second),
		loop.WithLog(func(line []byte) error {
			fmt.Printf("logged at %s\n", line[len(`{"time":"`):len(`{"time":"2026-03-01T09:00`)])
			return nil
		}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 4 {
		d, err := l.Apply(context.Background(), l.Decide(context.Background(), host.Event{Name: host.Stop, SessionID: "s1", Turn: "t1"}))
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(d.Verdict.Action, d.Verdict.Rule)
		now = now.Add(time.Minute)
	}
	// Output:
	// logged at 2026-03-01T09:00
	// continue open
	// logged at 2026-03-01T09:01
	// continue open
	// logged at 2026-03-01T09:02
	// continue open
	// logged at 2026-03-01T09:03
	// stop limits.repeats
}
