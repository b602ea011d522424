package project_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// elsewhere is a store that is not a state directory.
type elsewhere struct {
	loop.Store
	loop.Documents
	loop.Leases
	kept *looptest.Records
}

func newElsewhere() elsewhere {
	s := loop.InMemory()
	return elsewhere{s, s.(loop.Documents), s.(loop.Leases), new(looptest.Records)}
}

func (e elsewhere) Record(ctx context.Context, r *loop.Record) error { return e.kept.Record(ctx, r) }

func (e elsewhere) Save(ctx context.Context, w loop.Write) error {
	err := e.Store.Save(ctx, w)
	if err == nil && w.Record != nil {
		err = e.Record(ctx, w.Record)
	}
	return err
}

func (e elsewhere) Records(_ context.Context, f loop.LogFilter) iter.Seq2[*loop.Record, error] {
	return func(yield func(*loop.Record, error) bool) {
		seen := map[string]bool{}
		for _, r := range slices.Backward(e.kept.All()) {
			if seen[r.ID] {
				continue
			}
			seen[r.ID] = true
			if r.Scope == f.Scope && (f.Root == "" || f.Root == r.Root) && !yield(r, nil) {
				return
			}
		}
	}
}

// What a person does and sees of loops whose store is elsewhere is in that store, in their scope.
func TestStoreElsewhere(t *testing.T) {
	dir, s := t.TempDir(), newElsewhere()
	program, diags := rules.LoadBytes(t.Context(), "go", []byte("ralph: 1\nrules: [{name: go, continue: go on}]"), rules.Config{})
	if program == nil {
		t.Fatal(diags.Err())
	}
	open := func(scope string) *project.Project {
		p, err := project.Open(project.Config{
			Dir: dir, State: t.TempDir(), Store: s, Scope: scope, Policies: []project.Policy{{Name: "go", Program: program}}, Env: func(string) string { return "" },
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		return p
	}
	p, other := open("tenant"), open("another")
	l, err := loop.New(program, loop.WithStore(s), loop.WithScope("tenant"), loop.WithRoot(dir), loop.WithName("go"), loop.WithEnv(func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	run := func(want string) {
		t.Helper()
		d, err := l.Run(t.Context(), host.Event{SessionID: "s"})
		if got := d.Verdict.Reason; err != nil || !strings.Contains(got, want) || d.Verdict.Action == rules.Continue != strings.HasPrefix(want, "go on") {
			t.Errorf("%s: %q, error %v; want %q", d.Verdict.Action, got, err, want)
		}
	}
	do := func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
	run("go on")
	do(other.Pause(t.Context(), "go", ""))
	do(other.Hint(t.Context(), "not for you", "", ""))
	run("go on")
	do(p.Pause(t.Context(), "go", ""))
	run("the loop is paused")
	do(p.Resume(t.Context(), "go", ""))
	do(p.Hint(t.Context(), "mind the gap", "", "s"))
	run("go on\n\n## Hint from the user\n\nmind the gap")
	do(p.Stop(t.Context(), []string{"go"}, ""))
	run("")
	do(p.Start(t.Context(), "go", project.StartRequest{}))
	run("go on")

	for _, c := range []struct {
		p    *project.Project
		want string
	}{{p, "go on go on go on the policy go was stopped; run `ralph start go` to continue it go on"}, {other, ""}} {
		entries, err := c.p.History(project.Query{})
		var said []string
		for _, e := range entries {
			reason, _, _ := strings.Cut(e.Reason, "\n")
			said = append(said, reason)
		}
		if got := strings.Join(said, " "); got != c.want || err != nil {
			t.Errorf("the history is %q, error %v; want %q", got, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	followed := ""
	err = p.Follow(ctx, project.Query{Last: 2}, func(e project.Entry) {
		switch followed += e.Rule + " "; followed {
		case " go ": // the latest two, and then what comes
			run("go on")
		case " go go ":
			cancel()
		}
	})
	if followed != " go go " || err != nil {
		t.Errorf("following returns %q, error %v", followed, err)
	}
	status, err := p.Status(t.Context())
	if err != nil || len(status.Loops) != 1 || status.Loops[0].Last == nil || len(status.Hints) > 0 {
		t.Errorf("the status is %+v, error %v", status, err)
	}
	if status, err := other.Status(t.Context()); err != nil || len(status.Paused) != 1 || len(status.Hints) != 1 {
		t.Errorf("the status of another tenant is %+v, error %v", status, err)
	}
}

// A run is in the store of its project: another process sees it, stops it and resumes it, in its scope only. Its decisions are
// in the log there, also those in a work tree.
func TestRunsElsewhere(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const policy, name = "ralph: 1\nrules: [{name: go, continue: go on}]", ".ralph/go.yaml"
	s := newElsewhere()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, ".ralph"), 0o755), os.WriteFile(filepath.Join(dir, name), []byte(policy), 0o644)); err != nil {
		t.Fatal(err)
	}
	open := func(scope string) *project.Project {
		p, err := project.Open(project.Config{
			Dir: dir, State: t.TempDir(), Store: s, Scope: scope,
			Env: func(name string) string { return map[string]string{"PATH": os.Getenv("PATH")}[name] },
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { p.Close() })
		return p
	}
	p, same, other := open("tenant"), open("tenant"), open("another")
	drive := func(p *project.Project, q project.RunRequest, during func()) (last run.Event) {
		t.Helper()
		r, err := p.Run(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for last = range r.Events(t.Context()) {
			if last.Kind == run.IterationStart {
				during()
			}
		}
		return last
	}
	live := func(p *project.Project) (n int) {
		t.Helper()
		status, err := p.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(status.Runs)
	}
	ended := drive(p, project.RunRequest{Policy: "go", Agent: []string{"go", "env"}, Limits: run.Limits{Iterations: 3}}, func() {
		if live(same) != 1 || live(other) != 0 {
			t.Errorf("live are %d runs, in another scope %d", live(same), live(other))
		}
		if _, err := same.Start(t.Context(), "go", project.StartRequest{}); err == nil {
			t.Error("a policy without a loop is started")
		}
		if _, err := same.Run(t.Context(), project.RunRequest{Resume: project.Latest}); err == nil || !strings.Contains(err.Error(), "is in progress") {
			t.Errorf("resuming a live run: %v", err)
		}
		if stopped, err := other.Stop(t.Context(), []string{"go"}, ""); err != nil || len(stopped) != 1 || stopped[0].Run != "" {
			t.Errorf("in another scope stopped %+v, error %v", stopped, err)
		}
		if stopped, err := same.Stop(t.Context(), []string{"go"}, ""); err != nil || len(stopped) != 1 || stopped[0].Run == "" {
			t.Errorf("stopped %+v, error %v", stopped, err)
		}
	})
	if ended.Ended != run.Cancelled || ended.Totals.Iterations != 1 {
		t.Errorf("stopped it ends with %+v", ended)
	}
	ended = drive(same, project.RunRequest{Resume: project.Latest}, func() {})
	if ended.Ended != run.AtLimit || ended.Totals.Iterations != 3 || live(p) != 0 {
		t.Errorf("resumed it ends with %+v", ended)
	}
	program, diags := rules.LoadBytes(t.Context(), name, []byte(policy), rules.Config{})
	if program == nil {
		t.Fatal(diags.Err())
	}
	tree, err := run.New(program, run.Func("mine", func(context.Context, run.Invocation) (run.Result, error) { return run.Result{}, nil }),
		run.WithName(name), run.WithDir(t.TempDir()), run.WithHome(dir), run.WithStore(s, "tenant"), run.WithLimits(run.Limits{Iterations: 1}))
	if err != nil {
		t.Fatal(err)
	}
	for range tree.Run(t.Context()) {
	}
	for _, c := range []struct {
		p             *project.Project
		runs, entries int
	}{{p, 2, 6}, {other, 0, 0}} {
		runs, err := c.p.Runs()
		entries, failed := c.p.History(project.Query{})
		if err = errors.Join(err, failed); err != nil || len(runs) != c.runs || len(entries) != c.entries {
			t.Errorf("%d runs and %d decisions, error %v; want %d and %d", len(runs), len(entries), err, c.runs, c.entries)
		}
	}
}

// What a store lacks is refused by name.
func TestStoreLacks(t *testing.T) {
	s := loop.InMemory()
	if _, err := project.Open(project.Config{Dir: t.TempDir(), Store: struct{ loop.Store }{s}}); err == nil || !strings.Contains(err.Error(), "this store keeps no documents") {
		t.Errorf("without documents: %v", err)
	}
	p, err := project.Open(project.Config{Dir: t.TempDir(), State: t.TempDir(), Store: s})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.History(project.Query{}); err == nil || !strings.Contains(err.Error(), "this store returns no records") {
		t.Errorf("without a log: %v", err)
	}
	if err := p.Follow(t.Context(), project.Query{}, nil); err == nil || !strings.Contains(err.Error(), "this store returns no records") {
		t.Errorf("following: %v", err)
	}
	program, diags := rules.LoadBytes(t.Context(), "go", []byte("ralph: 1\nrules: [{name: go, continue: go on}]"), rules.Config{})
	if program == nil {
		t.Fatal(diags.Err())
	}
	alone, err := project.Open(project.Config{
		Dir: t.TempDir(), State: t.TempDir(), Policies: []project.Policy{{Name: "go", Program: program}}, Env: func(string) string { return "" },
		Store: struct {
			loop.Store
			loop.Documents
		}{s, s.(loop.Documents)},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	if _, err := alone.Stop(t.Context(), []string{"go"}, ""); err == nil || !strings.Contains(err.Error(), "this store has no leases") {
		t.Errorf("without leases: %v", err)
	}
	if _, err := p.Reset(t.Context(), "", "s"); err == nil || !strings.Contains(err.Error(), "state directory") {
		t.Errorf("resetting: %v", err)
	}
}

// A hook of a project counts in its store, and does what a person orders there.
func TestHookElsewhere(t *testing.T) {
	dir, s := t.TempDir(), newElsewhere()
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, ".ralph"), 0o755),
		os.WriteFile(filepath.Join(dir, ".ralph", "policy.yaml"), []byte("ralph: 1\nrules: [{name: go, continue: 'number ${loop.total}'}]"), 0o644)); err != nil {
		t.Fatal(err)
	}
	config := project.Config{Dir: dir, State: t.TempDir(), Store: s, Scope: "tenant", Env: func(string) string { return "" }}
	reply := func(want string) {
		t.Helper()
		hook := loop.Hook{Loops: project.Hook{Config: config}.Loops}
		event := fmt.Sprintf(`{"hook_event_name": "Stop", "session_id": "s", "cwd": %q}`, dir)
		h, r := hook.Reply(t.Context(), []byte(event))
		if got := string(h.Encode(r).Stdout); !strings.Contains(got, want) || want == "" && got != "" || strings.Contains(got, "systemMessage") {
			t.Errorf("the hook answers %q, want %q in it", got, want)
		}
	}
	reply("number 0")
	reply("number 1")
	p, err := project.Open(config)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, err := p.Pause(t.Context(), "", "s"); err != nil {
		t.Fatal(err)
	}
	reply("")
	if left, _ := filepath.Glob(filepath.Join(config.State, "entries", "*")); len(left) > 0 {
		t.Errorf("the state directory has %q", left)
	}
	if n := len(s.kept.All()); n != 2 {
		t.Errorf("the store has %d records, want 2", n)
	}
}
