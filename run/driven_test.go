package run_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/run/step"
)

// Another driver makes a Runner for each command, from a state and the documents that it names. All that is counted is in the
// state, also what the policy remembers per project: a decision that is made twice counts once.
func TestDriven(t *testing.T) {
	long := strings.Repeat("long ", 2000)
	p := load(t, `ralph: 1
rules:
  - name: first
    when: "true"
    unless_repeated: {times: 2, per: project}
    continue: `+long+`
  - name: enough
    stop: enough
`)
	a := run.Func("mine", func(_ context.Context, i run.Invocation) (run.Result, error) {
		return run.Result{Text: i.Prompt}, nil
	})
	r, err := run.New(p, a, run.WithDir(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	s, documents := r.State(), r.Documents()
	s, _, _ = s.Step(step.Input{Kind: step.Start, At: s.Plan.Started})
	carryOut := func() (in step.Input) {
		t.Helper()
		r, err := run.New(p, a, run.Driven(s, documents))
		if err != nil {
			t.Fatal(err)
		}
		switch s.Due.Kind {
		case step.Iterate:
			in = r.Iterate(t.Context(), s)
		case step.Decide:
			in = r.Decide(t.Context(), s)
		}
		in.At = s.At.Add(1)
		documents = r.Documents()
		return in
	}
	var rules []string
	for n := 0; s.Due.Kind != step.Finish && n < 20; n++ {
		in := carryOut()
		if s.Due.Kind == step.Decide {
			if again := carryOut(); again.Decision.Rule != in.Decision.Rule || again.Decision.Why != in.Decision.Why {
				t.Errorf("decided again it is %+v, at first %+v", again.Decision, in.Decision)
			}
			rules = append(rules, in.Decision.Rule)
		}
		s, _, _ = s.Step(in)
	}
	if diff := cmp.Diff([]string{"first", "first", "enough"}, rules); diff != "" || s.Iterations != 2 {
		t.Errorf("after %d iterations, rules (-want +got)\n%s", s.Iterations, diff)
	}
	if got := documents[s.Latest.Text.Document]; got != strings.TrimSpace(long) {
		t.Errorf("the last message is %.40q", got)
	}
}

func TestDrivenRefuses(t *testing.T) {
	p, s := load(t, policy), step.New(step.Plan{ID: "r", Root: t.TempDir()})
	for name, other := range map[string]run.Option{"store": run.WithStore(loop.InMemory(), ""), "resume": run.Resume("r")} {
		if _, err := run.New(p, run.Generic(), run.Driven(s, nil), other); err == nil || !strings.Contains(err.Error(), "another driver") {
			t.Errorf("%s: %v", name, err)
		}
	}
	r, err := run.New(p, run.Generic(), run.Driven(s, nil))
	if err != nil {
		t.Fatal(err)
	}
	for ev := range r.Run(t.Context()) {
		if ev.Why != "another driver drives this run" {
			t.Errorf("it runs: %+v", ev)
		}
	}
}
