//go:build unix

package run

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// bench is a project with a policy, in which agents run.
type bench struct {
	*Runner
	t    testing.TB
	dir  string
	plan Plan
	said []string // a line for each input
}

const endless = "rules: [{name: next, continue: 'Go on, after ${run.iteration} ${run.outcome}.'}]"

// newBench returns one whose agent is a script of sh.
func newBench(t testing.TB, policy, script string) *bench {
	t.Helper()
	dir := t.TempDir()
	return onBench(t, dir, loop.Dir(filepath.Join(t.TempDir(), "store")), policy, script)
}

func onBench(t testing.TB, dir string, store loop.Store, policy, script string) *bench {
	t.Helper()
	fsys := fstest.MapFS{"policy.yaml": {Data: []byte("ralph: 1\n" + policy)}}
	l, err := loop.Load(fsys, "policy.yaml", loop.WithRoot(dir), loop.WithStore(store), loop.WithEnv(func(string) (string, bool) { return "", false }))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: dir, plan: Plan{ID: "r1", Root: dir, Dir: dir, Name: "policy", Args: []string{"sh", "-c", script}, Started: t0}}
	b.Runner = &Runner{Loop: l, Store: store, Env: func(string) string { return "" }, sleep: func(context.Context, State) {}}
	b.Report = func(in Input, s State) {
		line := string(in.Kind)
		if in.Kind == Iterated {
			line = in.Iteration.Outcome
		}
		if s.End != nil {
			line += ", " + string(s.End.Outcome)
		}
		b.said = append(b.said, line)
	}
	return b
}

func (b *bench) run(ctx context.Context) State {
	b.t.Helper()
	s, err := New(b.plan)
	if err == nil {
		s, err = b.Run(ctx, s)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return s
}

// file returns a file of the project, "" if there is none.
func (b *bench) file(name string) string {
	src, _ := os.ReadFile(filepath.Join(b.dir, name))
	return string(src)
}

// A run starts the agent again and again, each time with what the policy says, until the policy says that the work is done.
func TestRun(t *testing.T) {
	const policy = `
facts: {n: {text: count, default: ""}}
rules:
  - {name: enough, when: 'n contains "xxx"', done: it is enough}
  - {name: next, continue: 'Go on, after ${run.iteration} ${run.outcome}. ${last_assistant_message}'}
`
	b := newBench(t, policy, `cat >>prompts; printf x >>count; echo I did; echo noise >&2`)
	var out bytes.Buffer
	b.Output = &out
	s := b.run(t.Context())
	if diff := cmp.Diff(&End{Outcome: rules.Done, Rule: "enough", Reason: "it is enough", Decided: true}, s.End); diff != "" || s.Iteration != 3 {
		t.Errorf("%d iterations (-want +got)\n%s", s.Iteration, diff)
	}
	if diff := cmp.Diff("Go on, after 0 .\nGo on, after 1 ok. I did\nGo on, after 2 ok. I did\n", b.file("prompts")); diff != "" {
		t.Error(diff)
	}
	if strings.Count(out.String(), "noise\n") != 3 || strings.Count(out.String(), "I did\n") != 3 {
		t.Errorf("the output is %q", out.String())
	}
	if _, err := b.Resume(t.Context(), "r1", Limits{}); err == nil || err.Error() != "the run r1 is done" {
		t.Errorf("resumed: %v", err)
	}
	if _, err := b.Resume(t.Context(), "none", Limits{}); !errors.Is(err, ErrNone) {
		t.Errorf("no run: %v", err)
	}
}

func TestEnds(t *testing.T) {
	for _, c := range []struct {
		name, policy, script string
		limits               Limits
		want                 []string
	}{
		{"--max counts, continuations do not", "limits: {continuations: 1}\n" + endless, "exit 0", Limits{Max: 3}, []string{"begin", "decided", "ok", "decided", "ok", "decided", "ok", "decided, limit"}},
		{"crashes", endless, "exit 7", Limits{}, []string{"begin", "decided", "crashed", "decided", "rested", "decided", "crashed", "decided", "rested", "decided", "crashed", "decided, crashed"}},
		{"the time of the run", endless, "echo >started; sleep 300", Limits{For: time.Second}, []string{"begin", "decided", "timeout", "decided, limit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.policy, c.script)
			b.plan.Limits = c.limits
			b.Now = func() time.Time { // a minute later once the agent has done something
				if b.file("started") == "" {
					return t0
				}
				return t0.Add(time.Minute)
			}
			b.run(t.Context())
			if diff := cmp.Diff(c.want, b.said); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// An agent of the table is read by its records.
func TestKnownAgent(t *testing.T) {
	b := newBench(t, endless, "")
	b.prints("claude", "cat <<'E'\n"+streams(t)["claude/denied"]+"E\n")
	b.plan.Args, b.plan.Limits = []string{"claude", "-p", "Do it."}, Limits{Budget: 0.0005}
	s := b.run(t.Context())
	if s.Iteration != 2 || s.End.Rule != "--budget" || s.Spent.Tokens != 90 || s.Last.Session == "" || len(s.Last.Denied) != 2 {
		t.Errorf("%+v", s)
	}
	if got := b.file("args"); !strings.HasPrefix(got, "--output-format stream-json --verbose -p Do it.\n") || b.file("prompts") != "Go on, after 0 .\nGo on, after 1 ok.\n" {
		t.Errorf("arguments %q, prompts %q", got, b.file("prompts"))
	}
}

// prints puts an agent of the table on PATH.
func (b *bench) prints(name, script string) {
	b.t.Helper()
	bin := b.t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho \"$@\" >>args; cat >>prompts\n"+script), 0o755); err != nil {
		b.t.Fatal(err)
	}
	b.t.(*testing.T).Setenv("PATH", bin+":"+os.Getenv("PATH"))
}

// A rate limit is waited for, however long it lasts: each try counts for --max, and has the prompt of the one decision that was made.
func TestRateLimit(t *testing.T) {
	const tries = 15
	b := newBench(t, endless, "")
	b.prints("codex", "printf x >>count; test \"$(wc -c <count)\" -lt 15 || exit 0\ncat <<'E'\n"+streams(t)["codex/rate-limit"]+"E\nexit 1\n")
	b.plan.Args, b.plan.Limits = []string{"codex"}, Limits{Max: tries}
	s := b.run(t.Context())
	if want := strings.Repeat("Go on, after 0 .\n", tries); b.file("prompts") != want || s.End.Rule != "--max" || s.Iteration != tries {
		t.Errorf("%d iterations, %+v, prompts\n%s", s.Iteration, s.End, b.file("prompts"))
	}
}

type writer func([]byte)

func (f writer) Write(p []byte) (int, error) {
	f(p)
	return len(p), nil
}

// A person's stop ends the run after the iteration, and a rest at once. While it runs, no other run of the policy begins.
func TestBeside(t *testing.T) {
	b := newBench(t, endless, "echo")
	b.Output = writer(func([]byte) {
		if other := onBench(t, b.dir, b.Store, endless, "exit 9"); !errors.Is(second(other), fs.ErrExist) {
			t.Error("a second run of the policy began")
		}
		if err := b.Loop.Stop(t.Context(), ""); err != nil {
			t.Error(err)
		}
	})
	if s := b.run(t.Context()); s.End.Outcome != loop.Off || s.Iteration != 1 {
		t.Errorf("%+v after %d iterations", s.End, s.Iteration)
	}
	b.wait(t.Context(), State{Until: time.Now().Add(time.Hour)})
}

func second(b *bench) error {
	_, err := b.Run(b.t.Context(), State{Version: version, Plan: b.plan})
	return err
}

// What cannot be kept is not started.
func TestNotKept(t *testing.T) {
	b := newBench(t, endless, "touch started")
	b.Store = broken{b.Store}
	s, err := New(b.plan)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Run(t.Context(), s); !errors.Is(err, os.ErrPermission) || b.file("started") != "" {
		t.Errorf("error %v", err)
	}
	b.plan.Args = []string{"./no-such-agent"}
	b.Store = loop.Map()
	if s := b.run(t.Context()); s.End.Outcome != rules.Failed || s.Iteration != 0 || !strings.Contains(s.End.Reason, "no-such-agent") {
		t.Errorf("%+v", s.End)
	}
}

type broken struct{ loop.Store }

func (broken) Update(context.Context, string, func([]byte) ([]byte, error)) error {
	return os.ErrPermission
}
