package run_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/run/step"
)

// Another driver carries out the commands of a run with Iterate and Decide. What it recorded gives equal bytes when it is
// replayed.
func TestReplay(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	a := run.Func("mine", func(context.Context, run.Invocation) (run.Result, error) {
		return run.Result{Text: "done", Tokens: 5}, nil
	})
	r, err := run.New(load(t, policy), a, run.WithDir(dir))
	if err != nil {
		t.Fatal(err)
	}
	type line struct{ State, Input, After, Events, Command json.RawMessage }
	encode := func(v any) json.RawMessage {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var lines []line
	var kinds []string
	s, in := step.New(step.Plan{ID: "r", Root: dir, Policy: "policy.yaml", Client: "mine", Args: []string{"mine"}}), step.Input{Kind: step.Start}
	for {
		kinds = append(kinds, string(in.Kind))
		after, events, cmd := s.Step(in)
		lines = append(lines, line{encode(s), encode(in), encode(after), encode(events), encode(cmd)})
		s = after
		if cmd.Kind == step.Finish {
			break
		}
		if cmd.Kind == step.Iterate {
			in = r.Iterate(t.Context(), s)
		} else {
			in = r.Decide(t.Context(), s)
		}
		in.At = s.At.Add(1)
	}
	want := []string{"start", "decided", "iterated", "decided", "iterated", "decided", "iterated", "decided"}
	if diff := cmp.Diff(want, kinds); diff != "" || s.Final.End != run.Stopped || s.Spent.Tokens != 15 {
		t.Errorf("it ended with %+v; inputs (-want +got)\n%s", s.Final, diff)
	}
	for i, l := range lines {
		var s step.State
		var in step.Input
		if err := json.Unmarshal(l.State, &s); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(l.Input, &in); err != nil {
			t.Fatal(err)
		}
		after, events, cmd := s.Step(in)
		got := line{l.State, l.Input, encode(after), encode(events), encode(cmd)}
		if diff := cmp.Diff(l, got); diff != "" {
			t.Errorf("step %d (-recorded +replayed)\n%s", i, diff)
		}
	}
}
