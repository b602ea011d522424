package run_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run"
)

const askPolicy = `ralph: 1
rules:
  - {name: answered, when: answer != "", continue: "Take ${answer}"}
  - {name: which, when: run.iteration == 1, ask: Which of the two, notice: Both are ready}
  - {name: done, when: run.iteration >= 3, stop: three is enough}
  - {name: again, continue: Go on}
`

// A question ends the run, which keeps it. The answer is for the first decision of the resumed run, and for no other.
func TestAnswer(t *testing.T) {
	dir, state := project(t)
	var prompts []string
	a := run.Func("mine", func(_ context.Context, i run.Invocation) (run.Result, error) {
		prompts = append(prompts, i.Prompt)
		return run.Result{}, nil
	})
	runner := func(opts ...run.Option) *run.Runner {
		t.Helper()
		r, err := run.New(load(t, askPolicy), a, append(opts, run.WithStore(loop.LocalStore(state), ""))...)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := runner(run.WithDir(dir))
	path := filepath.Join(state, "runs", r.ID()+".json")
	expect := func(r *run.Runner, want ...string) []run.Event {
		t.Helper()
		events, got := all(t, t.Context(), r)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("events (-want +got)\n%s", diff)
		}
		return events
	}
	events := expect(r, "run_start", "verdict continue again", "iteration_start 1", "iteration_end 1 ok", "verdict 1 ask which", "run_end which asked")
	if got := events[len(events)-2].Notices; !cmp.Equal(got, []string{"Both are ready"}) { // the end has the question
		t.Errorf("notices %q", got)
	}
	info, err := run.Find(t.Context(), loop.LocalStore(state), "", r.ID())
	if err != nil || info.Ended != run.Asked || info.Why != "Which of the two" {
		t.Errorf("the run is kept as %+v (%v)", info, err)
	}
	resume := []run.Option{run.Resume(r.ID())}
	answer := append(resume, run.WithAnswer("the second"))
	expect(runner(resume...), "run_resume", "verdict 1 ask which", "run_end which asked")

	// Interrupted and killed before its decision, the run keeps the answer.
	expect(runner(append(answer, run.WithControl(func() run.Control { return run.Leave }))...), "run_resume", "run_end interrupted")
	if _, err := run.New(load(t, askPolicy), a, append(answer, run.WithStore(loop.LocalStore(state), ""))...); err == nil || !strings.Contains(err.Error(), "run "+r.ID()+" asks nothing; resume it without an answer") {
		t.Errorf("an answer to a run that asks nothing: %v", err)
	}
	var kept []byte
	for ev := range runner(append(resume, run.WithControl(func() run.Control { return run.Leave }))...).Run(t.Context()) {
		if ev.Kind == run.RunResume {
			if kept, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(path, kept, 0o600); err != nil {
		t.Fatal(err)
	}
	expect(runner(resume...), "run_resume", "verdict 1 continue answered", "iteration_start 2", "iteration_end 2 ok", "verdict 2 continue again",
		"iteration_start 3", "iteration_end 3 ok", "verdict 3 stop done", "run_end done stopped")
	if diff := cmp.Diff([]string{"Go on", "Take the second", "Go on"}, prompts); diff != "" {
		t.Errorf("prompts (-want +got)\n%s", diff)
	}
}

// What could not be decided leaves the answer for the decision after it.
func TestAnswerToAnUndecidedPolicy(t *testing.T) {
	dir, state := project(t)
	text := strings.Replace(askPolicy, "rules:\n", "facts: {s: {json: s.json, default: {}, schema: {properties: {stop: {type: boolean, default: false}}}}}\nrules:\n  - {name: stop, when: s.stop, stop: enough}\n", 1)
	a := run.Func("mine", func(context.Context, run.Invocation) (run.Result, error) { return run.Result{}, nil })
	var last []string
	id := ""
	for _, step := range []struct {
		file string
		opts []run.Option
		want string
	}{
		{"{}", []run.Option{run.WithDir(dir)}, "which asked"},
		{`{"stop": 7}`, []run.Option{run.WithAnswer("the second")}, "stop failed"},
		{"{}", nil, "done stopped"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "s.json"), []byte(step.file), 0o600); err != nil {
			t.Fatal(err)
		}
		opts := append(step.opts, run.WithStore(loop.LocalStore(state), ""))
		if id != "" {
			opts = append(opts, run.Resume(id))
		}
		r, err := run.New(load(t, text), a, opts...)
		if err != nil {
			t.Fatal(err)
		}
		id = r.ID()
		if _, last = all(t, t.Context(), r); last[len(last)-1] != "run_end "+step.want {
			t.Fatalf("%v, want the end %s", last, step.want)
		}
	}
	if last[1] != "verdict 1 continue answered" {
		t.Errorf("the answer is lost: %v", last)
	}
}

// What the client denied is a fact for the next prompt. Denied again, the run ends and says what allows it.
func TestDenied(t *testing.T) {
	dir, state := project(t)
	var prompts []string
	agent := run.Func("scripted", func(_ context.Context, i run.Invocation) (run.Result, error) {
		prompts = append(prompts, i.Prompt)
		return run.Result{Denied: []run.Denial{
			{Tool: "Bash", Input: "make deploy", Why: "needs approval", Allow: `add "Bash(make deploy)" to the settings`},
			{Tool: "Bash", Input: "curl --token abc", Allow: "allow curl --token abc"},
		}}, nil
	})
	policy := load(t, "ralph: 1\nrules:\n  - name: again\n    continue: \"${join(map(run.denied, .tool + ' ' + .input), ', ')}.\"\n")
	r, err := run.New(policy, agent, run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), run.Hasty())
	if err != nil {
		t.Fatal(err)
	}
	events, lines := all(t, t.Context(), r)
	last := events[len(events)-1]
	const why = `scripted denied the agent the same in two iterations in a row: Bash make deploy; to allow it, add "Bash(make deploy)" to the settings; scripted: needs approval`
	if last.Ended != run.Denied || last.Why != why {
		t.Errorf("it ends with %+v\n%s", last, strings.Join(lines, "\n"))
	}
	if diff := cmp.Diff([]string{".", "Bash make deploy, Bash curl --token …."}, prompts); diff != "" {
		t.Errorf("prompts (-want +got)\n%s", diff)
	}
	for _, ev := range events {
		if ev.Kind == run.IterationEnd && (len(ev.Denied) != 2 || ev.Denied[1] != run.Denial{Tool: "Bash", Input: "curl --token …"}) {
			t.Errorf("iteration %d has the denials %+v", ev.Iteration, ev.Denied)
		}
	}
}

// refusing is a client that refuses a command line.
type refusing struct {
	run.Adapter
	prompt string
}

func (c refusing) Command(i run.Invocation) (run.Command, error) {
	if i.Prompt == c.prompt {
		return run.Command{}, errors.New("that prompt is refused")
	}
	return c.Adapter.Command(i)
}

// A command line that the client refuses is no iteration.
func TestRefusedCommandLine(t *testing.T) {
	dir, state := project(t)
	policy := load(t, "ralph: 1\nrules: [{name: again, continue: \"go ${run.iteration}\"}]\n")
	opts := []run.Option{run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), sh("true"), run.Hasty()}
	for _, want := range []string{
		"run_start, verdict, iteration_start, iteration_end, verdict, run_end: iteration 2 is not started: that prompt is refused",
		"run_resume, run_end: iteration 2 is not started: that prompt is refused",
	} {
		r, err := run.New(policy, refusing{run.Generic(), "go 1"}, opts...)
		if err != nil {
			t.Fatal(err)
		}
		events, _ := all(t, t.Context(), r)
		var kinds []string
		for _, ev := range events {
			if ev.Kind != run.AgentOutput {
				kinds = append(kinds, string(ev.Kind))
			}
		}
		last := events[len(events)-1]
		if got := strings.Join(kinds, ", ") + ": " + last.Why; got != want || last.Totals.Iterations != 1 {
			t.Errorf("got %s after %d iterations\nwant %s", got, last.Totals.Iterations, want)
		}
		opts = []run.Option{run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), run.Resume(r.ID()), run.Hasty()}
	}
}
