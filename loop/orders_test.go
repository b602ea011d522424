package loop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// whole is a store with all that the loop asks for, which counts what it is asked.
type whole struct {
	loop.Store
	loop.Documents
	loop.Leases
	asked *[]string
}

func wholeOf(s loop.Store) whole {
	return whole{s, s.(loop.Documents), s.(loop.Leases), new([]string)}
}

func (w whole) note(what string) { *w.asked = append(*w.asked, what) }

func (w whole) Load(ctx context.Context, keys ...loop.Key) ([]loop.Entry, error) {
	w.note("load")
	return w.Store.Load(ctx, keys...)
}

func (w whole) Save(ctx context.Context, wr loop.Write) error {
	w.note("save")
	return w.Store.Save(ctx, wr)
}

func (w whole) Get(ctx context.Context, kind, name string) ([]byte, string, error) {
	w.note("get")
	return w.Documents.Get(ctx, kind, name)
}

func (w whole) Put(ctx context.Context, kind, name string, data []byte, version string) error {
	w.note("put")
	return w.Documents.Put(ctx, kind, name, data, version)
}

func (w whole) Holder(ctx context.Context, name string) (string, error) {
	w.note("holder")
	return w.Leases.Holder(ctx, name)
}

// What persons order, approve and add for a loop without a state directory is in its store, in its scope. A decision
// asks for it in the Load of its memory.
func TestOrdersInTheStore(t *testing.T) {
	const policy = `
ralph: 1
facts: {it: {exec: ["true"]}}
rules:
  - {name: run, when: 'prompt == "run" and ok(it)', continue: it ran}
  - {name: go, continue: go on}
`
	for name, s := range map[string]loop.Store{"in memory": loop.InMemory(), "local": loop.LocalStore(t.TempDir())} {
		for _, scope := range []string{"", "tenant"} {
			t.Run(name+" "+scope, func(t *testing.T) {
				w, root := wholeOf(s), t.TempDir()
				make := func(scope string) *loop.Loop {
					opts := []loop.Option{loop.WithStore(w), loop.WithRoot(root), loop.WithEnv(func(name string) string { return map[string]string{"RALPH_RUN": "run-1"}[name] })}
					if scope != "" {
						opts = append(opts, loop.WithScope(scope))
					}
					l, diags := loop.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(policy)}}, "p.yaml", opts...)
					if l == nil {
						t.Fatal(diags.Err())
					}
					return l
				}
				l, other := make(scope), make("another")
				orders := store.OrdersAt(t.Context(), s.(loop.Documents), loop.ErrConflict, scope)
				run := func(l *loop.Loop, prompt, want string, asked ...string) {
					t.Helper()
					*w.asked = nil
					d, err := l.Run(t.Context(), host.Event{SessionID: "s " + name + scope, Prompt: prompt})
					got := d.Verdict.Reason
					if got != want || (err != nil) != (d.Outcome() == loop.Failed) {
						t.Fatalf("%q, error %v; want %q", got, err, want)
					}
					if diff := cmp.Diff(asked, *w.asked); diff != "" {
						t.Errorf("%s: asked of the store (-want +got)\n%s", want, diff)
					}
				}
				must := func(err error) {
					t.Helper()
					if err != nil {
						t.Fatal(err)
					}
				}
				run(l, "", "go on", "load", "save")

				_, err := orders.Pause(root, store.Pause{Policy: "p.yaml"})
				must(err)
				run(l, "", "the loop is paused", "load")
				run(other, "", "go on", "load", "save")
				_, err = orders.Resume(root, store.Pause{Policy: "p.yaml"})
				must(err)
				_, err = orders.Pause(root, store.Pause{Session: "s " + name + scope})
				must(err)
				run(l, "", "the loop is paused", "load")
				_, err = orders.Resume(root, store.Pause{Session: "s " + name + scope})
				must(err)

				must(orders.StopLoop(root, "p.yaml", time.Now()))
				d, err := l.Run(t.Context(), host.Event{SessionID: "stopped"})
				if err != nil || d.Continue() || d.Verdict.Cause != rules.Stopped {
					t.Errorf("stopped by a person: %q, %q, error %v", said(d), d.Verdict.Cause, err)
				}
				must(orders.StartLoop(root, "p.yaml"))

				must(orders.ChangeHints(t.Context(), root, func(all []store.Hint) []store.Hint { return append(all, store.Hint{Text: "mind the gap"}) }))
				run(other, "", "go on", "load", "save")
				must(orders.ChangeHints(t.Context(), root, func(all []store.Hint) []store.Hint {
					return append(all, store.Hint{Text: "for another session", Session: "x"})
				}))
				run(l, "", "go on\n\n## Hint from the user\n\nmind the gap", "load", "save", "get", "put")
				run(l, "", "go on", "load", "save", "get")
				must(orders.ChangeHints(t.Context(), root, func([]store.Hint) []store.Hint { return nil }))
				run(l, "", "go on", "load", "save")

				release, _, err := w.Hold(t.Context(), orders.RunLease(root, "p.yaml"), "run-1")
				must(err)
				run(l, "", "the agent is that of run run-1, which decides", "load")
				run(other, "", "go on", "load", "save")
				release()

				const unapproved = "the rule run needs your approval: it: it runs a program, which is not approved yet: read p.yaml, then run `ralph trust p.yaml`"
				run(l, "run", unapproved, "load", "get", "save")
				program := l.Program()
				a, err := approval.Policy{Root: root, Name: "p.yaml", Files: program.Files()}.Approval(program.Facts())
				must(err)
				must(orders.Approve(a))
				run(other, "run", unapproved, "load", "get", "save")
				run(l, "run", "it ran", "load", "get", "save")
			})
		}
	}
}

// What a store lacks is named where it is needed.
func TestStoreLacks(t *testing.T) {
	l := alone(t, "ralph: 1\nfacts: {it: {exec: [\"true\"]}}\nrules: [{name: go, when: ok(it), continue: on}]",
		loop.WithStore(struct{ loop.Store }{loop.InMemory()}), loop.WithRoot(t.TempDir()))
	d, _ := l.Run(t.Context(), host.Event{SessionID: "s"})
	if text := fmt.Sprint(d.Verdict.Reason, d.Verdict.Problems); d.Continue() || !strings.Contains(text, "this store keeps no documents") {
		t.Errorf("%q: %s", said(d), text)
	}
	if left, err := l.Drain(t.Context()); err == nil || !strings.Contains(err.Error(), "this store does not list what it keeps") {
		t.Errorf("Drain returns %d, error %v", left, err)
	}
}

// A paused loop reports nothing, not even a memory that cannot be read.
func TestPausedWithoutMemory(t *testing.T) {
	dir := t.TempDir()
	l := alone(t, "ralph: 1\nrules: [{name: go, continue: on}]", loop.WithStore(loop.LocalStore(dir)))
	run := func() *loop.Decision {
		d, _ := l.Run(t.Context(), host.Event{SessionID: "s"})
		return d
	}
	run()
	files, err := filepath.Glob(filepath.Join(dir, "entries", "*"))
	for _, file := range files {
		err = errors.Join(err, os.Truncate(file, 0))
	}
	if d := run(); d.Err == nil || err != nil {
		t.Fatalf("%d memories are damaged, and it decides %q, error %v", len(files), said(d), err)
	}
	if _, err := store.Open(dir).Pause("", store.Pause{Session: "s"}); err != nil {
		t.Fatal(err)
	}
	if d := run(); d.Verdict.Reason != "the loop is paused" || d.Err != nil || len(d.Notices) > 0 {
		t.Errorf("paused: %q, notices %q, error %v", d.Verdict.Reason, d.Notices, d.Err)
	}
}

// A store that is gone lets the agent stop, and is named. Once it is back, the next decision works.
func TestStoreGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	away := dir + ".away"
	l := alone(t, "ralph: 1\nrules: [{name: go, continue: '${loop.total}'}]", loop.WithStore(loop.LocalStore(dir)))
	run := func() *loop.Decision {
		d, _ := l.Run(t.Context(), host.Event{SessionID: "s"})
		return d
	}
	if d := run(); said(d) != "0" {
		t.Fatalf("%q, error %v", said(d), d.Err)
	}
	if err := errors.Join(os.Rename(dir, away), os.WriteFile(dir, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if d := run(); d.Continue() || d.Err == nil || !strings.Contains(d.Verdict.Reason, dir) || d.Verdict.Cause != rules.FaultMemory {
			t.Errorf("without its store: %q: %s, error %v", said(d), d.Verdict.Reason, d.Err)
		}
	}
	if err := errors.Join(os.Remove(dir), os.Rename(away, dir)); err != nil {
		t.Fatal(err)
	}
	if d := run(); said(d) != "1" || d.Err != nil {
		t.Errorf("afterwards %q, error %v", said(d), d.Err)
	}
}

// dying is a store of a process that ends before or after it saves.
type dying struct {
	loop.Store
	before bool
}

func (s dying) Save(ctx context.Context, w loop.Write) error {
	if s.before {
		os.Exit(9)
	}
	if err := s.Store.Save(ctx, w); err != nil {
		return err
	}
	os.Exit(9)
	return nil
}

// deliver is a process that delivers an event so many times, and prints the answers. It may end at a point.
func deliver(dir, point string, times int) error {
	opts := []loop.Option{
		loop.WithState(dir),
		loop.WithClock(func() time.Time { // of a delivery after the deadline of the one before
			if point == "later" {
				return time.Now().Add(time.Minute)
			}
			return time.Now()
		}),
		loop.WithEffect(rules.EffectDecl{Name: "post", Doc: "Posts."}, func(context.Context, loop.Call) error {
			if point == "effect" {
				os.Exit(9)
			}
			return nil
		}),
	}
	switch point {
	case "before", "after":
		opts = append(opts, loop.WithStore(dying{loop.LocalStore(dir), point == "before"}))
	case "record":
		opts = append(opts, loop.WithRecorder(recorder(func(*loop.Record) error { os.Exit(9); return nil }))) // the log has it already
	}
	policy := "ralph: 1\nlimits: {continuations: 3}\nrules: [{name: go, continue: 'number ${loop.total}', then: [{post: it}]}]"
	l, diags := loop.Load(context.Background(), fstest.MapFS{"p.yaml": {Data: []byte(policy)}}, "p.yaml", opts...)
	if l == nil {
		return diags.Err()
	}
	for range times {
		d, err := l.Run(context.Background(), host.Event{ID: "1", SessionID: "s"})
		if err != nil {
			return err
		}
		fmt.Println(d.Verdict.Action, d.Verdict.Reason)
	}
	d := l.Preview(context.Background(), host.Event{SessionID: "s"})
	fmt.Println("total", d.Record(true).Streak.Total)
	return nil
}

// Four deliveries of one event over two processes, one of which may be killed at any point: one count, one record, one
// answer.
func TestDeliveriesOfProcesses(t *testing.T) {
	if job := os.Getenv("LOOP_TEST_DELIVER"); job != "" {
		var dir, point string
		var times int
		_, err := fmt.Sscanf(job, "%s %s %d", &dir, &point, &times)
		if err == nil {
			err = deliver(dir, point, times)
		}
		if err != nil {
			fmt.Println(err)
		}
		os.Exit(0)
	}
	for _, point := range []string{"none", "before", "after", "effect", "record"} {
		t.Run(point, func(t *testing.T) {
			dir := t.TempDir()
			child := func(point string, times int) (*exec.Cmd, *strings.Builder) {
				cmd, out := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDeliveriesOfProcesses$"), new(strings.Builder)
				cmd.Env, cmd.Stdout = append(os.Environ(), fmt.Sprintf("LOOP_TEST_DELIVER=%s %s %d", dir, point, times)), out
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				return cmd, out
			}
			answers, then := 3, "later"
			if point == "none" {
				answers, then = 2, "none"
			}
			first, firstOut := child(point, 4-answers)
			if point != "none" {
				if _ = first.Wait(); first.ProcessState.ExitCode() != 9 {
					t.Fatalf("the first process ends with %s: %s", first.ProcessState, firstOut)
				}
			}
			second, out := child(then, answers)
			if err := second.Wait(); err != nil {
				t.Fatal(err)
			}
			want := strings.Repeat("continue number 0\n", answers) + "total 1\n"
			if out.String() != want {
				t.Errorf("the second process answers\n%swant\n%s", out, want)
			}
			if point == "none" {
				if err := first.Wait(); err != nil || firstOut.String() != want {
					t.Errorf("the first process answers\n%swant\n%s", firstOut, want)
				}
			}
			records := 0
			for r, err := range loop.LocalStore(dir).(loop.Log).Records(t.Context(), loop.LogFilter{}) {
				if records++; err != nil || r.ID != "1" || r.Action != rules.Continue || r.Reason != "number 0" {
					t.Errorf("the log has %+v, error %v", r, err)
				}
			}
			if records != 1 {
				t.Errorf("the log has %d records", records)
			}
		})
	}
}
