//go:build unix

package run_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/run/runtest"
)

// todoPolicy is asked before the first iteration, and after each.
const todoPolicy = `ralph: 1
facts:
  todo: {checklist: TODO.md}
limits: {repeats: 3}
progress: count(todo, .done)
rules:
  - name: done
    when: all(todo, .done)
    stop: every box is ticked
    success: true
  - name: next
    continue: "Do this, then tick its box: ${filter(todo, not .done)[0].text}"
`

// The agent of this example is a shell script. The last argument, $1, is the prompt.
const tickOne = `echo "asked: $1"; awk '!n && sub(/\[ \]/, "[x]") { n = 1 } 1' TODO.md >new && mv new TODO.md`

func Example() {
	ctx := context.Background()
	project, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(project)
	_ = os.WriteFile(project+"/TODO.md", []byte("- [ ] parser\n- [ ] printer\n"), 0o644)
	program, diags := rules.LoadBytes(ctx, "todo.yaml", []byte(todoPolicy), rules.Config{})
	if program == nil {
		fmt.Println(diags.Err())
		return
	}

	r, err := run.New(program, run.Generic(),
		run.WithDir(project), run.WithArgs("sh", "-c", tickOne, "agent"), run.WithLimits(run.Limits{Iterations: 10}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for ev := range r.Run(ctx) {
		switch ev.Kind {
		case run.AgentOutput:
			fmt.Println("agent:", ev.Shown)
		case run.IterationEnd:
			fmt.Println("iteration", ev.Iteration, ev.Outcome)
		case run.RunEnd:
			fmt.Println(ev.Ended, "after", ev.Totals.Iterations, "iterations:", ev.Why)
		}
	}
	// Output:
	// agent: asked: Do this, then tick its box: parser
	// iteration 1 ok
	// agent: asked: Do this, then tick its box: printer
	// iteration 2 ok
	// success after 2 iterations: every box is ticked
}

// A run that WithStore keeps can be resumed, also by another process: after a limit, a crash, or a reboot.
func ExampleResume() {
	ctx := context.Background()
	project, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(project)
	state, _ := os.MkdirTemp("", "state")
	defer os.RemoveAll(state)
	store := loop.LocalStore(state)
	_ = os.WriteFile(project+"/TODO.md", []byte("- [ ] parser\n- [ ] printer\n"), 0o644)
	program, _ := rules.LoadBytes(ctx, "todo.yaml", []byte(todoPolicy), rules.Config{})

	r, _ := run.New(program, run.Generic(),
		run.WithStore(store, ""), run.WithDir(project), run.WithArgs("sh", "-c", tickOne, "agent"), run.WithLimits(run.Limits{Iterations: 1}))
	for ev := range r.Run(ctx) {
		if ev.Kind == run.RunEnd {
			fmt.Println(ev.Ended, "after", ev.Totals.Iterations)
		}
	}

	runs, _ := run.List(ctx, store, "", "")
	again, err := run.New(program, run.Generic(),
		run.WithStore(store, ""), run.Resume(runs[0].ID), run.WithLimits(run.Limits{Iterations: 10}))
	if err != nil {
		fmt.Println(err)
		return
	}
	for ev := range again.Run(ctx) {
		if ev.Kind == run.RunEnd {
			fmt.Println(ev.Ended, "after", ev.Totals.Iterations)
		}
	}
	// Output:
	// limit after 1
	// success after 2
}

// tool is an adapter for a client that takes its prompt from stdin and prints a JSON object a line.
type tool struct{}

func (tool) Name() string         { return "tool" }
func (tool) Host() string         { return "" }
func (tool) Reports() run.Reports { return run.Reports{Tokens: true} }

func (tool) Command(i run.Invocation) (run.Command, error) {
	args := append([]string{}, i.Args...)
	if i.Session != "" {
		args = append(args, "--session", i.Session)
	}
	return run.Command{Args: args, Stdin: i.Prompt}, nil
}

func (tool) Output() run.Output { return &toolOutput{} }

type toolOutput struct{ result run.Result }

func (o *toolOutput) Line(line []byte) (shown string, end run.Outcome) {
	var record struct {
		Says    string `json:"says"`
		Session string `json:"session"`
		Tokens  int    `json:"tokens"`
		Status  int    `json:"status"` // of a request that failed
	}
	if json.Unmarshal(line, &record) != nil {
		return "", "" // a warning, or half a line
	}
	if record.Says != "" {
		o.result.Text = record.Says
	}
	if record.Session != "" {
		o.result.Session = record.Session
	}
	o.result.Tokens += max(record.Tokens, 0)
	if record.Status == 429 {
		o.result.Outcome = run.RateLimited
	}
	return record.Says, ""
}

// Result leaves the outcome open if the client did not report one: the run then uses the exit status.
func (o *toolOutput) Result(run.Process) run.Result { return o.result }

// An adapter of your own implements five methods; runtest.Adapter tests it.
func ExampleAdapter() {
	project, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(project)
	program, _ := rules.LoadBytes(context.Background(), "p.yaml", []byte("ralph: 1\nrules:\n  - {name: ask, when: run.iteration == 0, continue: Say hello.}\n"), rules.Config{})
	r, err := run.New(program, tool{}, run.WithDir(project),
		run.WithArgs("sh", "-c", `read prompt; echo "{\"says\": \"You want: $prompt\", \"tokens\": 12}"`))
	if err != nil {
		fmt.Println(err)
		return
	}
	for ev := range r.Run(context.Background()) {
		if ev.Kind == run.AgentOutput || ev.Kind == run.IterationEnd {
			fmt.Println(ev.Kind, ev.Shown, ev.Outcome, ev.Totals.Tokens)
		}
	}
	// Output:
	// output You want: Say hello.  0
	// iteration_end  ok 12
}

func TestTool(t *testing.T) {
	runtest.Adapter(t, tool{}, []string{"tool", "--fast"},
		runtest.Stream{Name: "done", Stdout: bytes.Join([][]byte{[]byte(`{"session": "1"}`), []byte(`{"says": "Done.", "tokens": 12}`)}, []byte("\n"))},
		runtest.Stream{Name: "rate limit", Stdout: []byte(`{"status": 429}`), Process: run.Process{Exit: 1}})
}
