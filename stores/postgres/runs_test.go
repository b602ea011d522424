//go:build unix

package postgres_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/stores/postgres"
)

// goOn is the policy of the runs.
const policyFile, goOn = ".ralph/policy.yaml", "ralph: 1\nrules: [{name: go, continue: go on}]"

// newRun returns a run of an agent that calls work, in the project dir.
func newRun(ctx context.Context, s *postgres.Store, scope, dir string, work func(), opts ...run.Option) (*run.Runner, error) {
	program, diags := rules.LoadBytes(ctx, policyFile, []byte(goOn), rules.Config{})
	if program == nil {
		return nil, diags.Err()
	}
	agent := run.Func("worker", func(context.Context, run.Invocation) (run.Result, error) {
		work()
		return run.Result{}, nil
	})
	return run.New(program, agent, append(opts, run.WithName(policyFile), run.WithDir(dir), run.WithStore(s, scope))...)
}

// agent runs an agent that works until a line comes, and prints the last event.
func (w workload) agent(ctx context.Context, s *postgres.Store, in *bufio.Scanner, out io.Writer) error {
	r, err := newRun(ctx, s, w.Scope, w.Run, func() {
		fmt.Fprintln(out, "works")
		in.Scan()
	})
	if err != nil {
		return err
	}
	var last run.Event
	for last = range r.Run(ctx) {
	}
	return json.NewEncoder(out).Encode(last)
}

// projectDir makes a project with the policy.
func projectDir(t *testing.T) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, ".ralph"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, policyFile), []byte(goOn), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// A run is in the database while another process runs its agent: a person sees it and stops it from here, and it is resumed
// here. In the same project of another tenant there is none.
func TestRun(t *testing.T) {
	url := shared.empty(t)
	s := open(t, connect(t, url))
	dir := projectDir(t)
	open := func(tenant string) *project.Project {
		p, err := project.Open(project.Config{Dir: dir, State: t.TempDir(), Store: s, Scope: tenant})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		return p
	}
	p, other := open("a"), open("b")
	works := workload{URL: url, Scope: "a", Run: dir}.begin(t)

	status, err := p.Status(t.Context())
	if err != nil || len(status.Runs) != 1 || !status.Runs[0].Running || status.Runs[0].Totals.Iterations != 1 {
		t.Fatalf("while the agent works, the status is %+v, error %v", status, err)
	}
	id := status.Runs[0].ID
	if runs, err := other.Runs(); len(runs) > 0 || err != nil {
		t.Errorf("another tenant has %+v, error %v", runs, err)
	}
	for tenant, want := range map[string]string{"a": "run " + id, "b": "go on"} {
		l, diags := loop.Load(t.Context(), os.DirFS(dir), policyFile, loop.WithStore(s), loop.WithScope(tenant), loop.WithRoot(dir), loop.WithName(policyFile))
		if l == nil {
			t.Fatal(diags.Err())
		}
		if d, err := l.Run(t.Context(), host.Event{SessionID: "s"}); !strings.HasPrefix(d.Verdict.Reason, want) || err != nil {
			t.Errorf("a session of %s: %q, error %v; want %q", tenant, d.Verdict.Reason, err, want)
		}
	}
	if stopped, err := p.Stop(t.Context(), []string{policyFile}, ""); err != nil || len(stopped) != 1 || stopped[0].Run != id {
		t.Errorf("stopped are %+v, error %v", stopped, err)
	}
	works.send()
	var last run.Event
	if !works.out.Scan() || json.Unmarshal(works.out.Bytes(), &last) != nil || last.Run != id || last.Ended != run.Cancelled || last.Totals.Iterations != 1 {
		t.Errorf("stopped from another process it ends with %s", works.out.Text())
	}

	r, err := newRun(t.Context(), s, "a", dir, func() {}, run.Resume(id), run.WithLimits(run.Limits{Iterations: 3}))
	if err != nil {
		t.Fatal(err)
	}
	for last = range r.Run(t.Context()) {
	}
	if last.Run != id || last.Ended != run.AtLimit || last.Totals.Iterations != 3 {
		t.Errorf("resumed it ends with %+v", last)
	}
	entries, err := p.History(project.Query{Session: run.Session(id)})
	if len(entries) != 4 || err != nil {
		t.Errorf("the history of the run has %d decisions, error %v; want 4", len(entries), err)
	}
}

// A process that has lost the lease of its run, such as one that was frozen, does not continue beside the one that resumed it.
func TestLostRun(t *testing.T) {
	url := shared.empty(t)
	pool := connect(t, url)
	s, dir := open(t, pool), projectDir(t)
	works := workload{URL: url, Scope: "a", Run: dir}.begin(t)
	if _, err := pool.Exec(t.Context(), `UPDATE ralph_lease SET ends = now() - interval '1 second'`); err != nil {
		t.Fatal(err)
	}
	runs, err := run.List(t.Context(), s, "a", dir)
	if err != nil || len(runs) != 1 || runs[0].Running || runs[0].Ended != "" {
		t.Fatalf("without its lease there are %+v, error %v", runs, err)
	}
	id, last := runs[0].ID, run.Event{}
	var held string
	r, err := newRun(t.Context(), s, "a", dir, func() {
		works.send()
		works.out.Scan()
		held = works.out.Text()
	}, run.Resume(id), run.WithLimits(run.Limits{Iterations: 2}))
	if err != nil {
		t.Fatal(err)
	}
	for last = range r.Run(t.Context()) {
	}
	if last.Ended != run.AtLimit || last.Totals.Iterations != 2 {
		t.Errorf("resumed it ends with %+v", last)
	}
	if json.Unmarshal([]byte(held), &last) != nil || last.Ended != run.Failed || !strings.Contains(last.Why, "another process continues the run") {
		t.Errorf("the process without the lease ends with %s", held)
	}
	if info, err := run.Find(t.Context(), s, "a", id); err != nil || info.Ended != run.AtLimit || info.Totals.Iterations != 2 {
		t.Errorf("the run is kept as %+v, error %v", info, err)
	}
}
