package project_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

// again repeats a prompt and archives its file; tasks continues the tasks of a feature, and leaves its state; bare names no loop.
var policies = map[string]string{
	"again": `
ralph: 1
loop:
  state: run
  on: run.active
  owner: run.session_id
  start:
    run: {limit: "${start.max}", promise: "${start.promise}", session_id: "${start.session}", body: "${start.prompt}"}
facts:
  run:
    frontmatter: loop.md
    inline: true
    schema:
      properties:
        active: {type: boolean, default: true}
        iteration: {type: integer, default: 1, minimum: 0}
        limit: {type: integer, default: 0, minimum: 0}
        promise: {type: string}
        session_id: {type: string}
rules:
  - {name: promise, when: promise != nil and promised(promise), stop: the promise was kept, success: true, then: [{archive: run}]}
  - {name: limit, when: limit > 0 and iteration >= limit, stop: "iteration ${iteration} was the last", then: [{archive: run}]}
  - name: again
    when: iteration >= 0
    continue: ${trim(run.body)}
    then: [{set: run.iteration = iteration + 1}]
`,
	"tasks": `
ralph: 1
loop:
  state: state
  name: ${feature}
  on: plugin.enabled
  owner: state.session_id
  start:
    feature: ${start.name}
    state: {phase: execution, totalTasks: "${len(tasks)}", session_id: "${start.session}"}
facts:
  plugin: {frontmatter: plugin.md, default: {}, schema: {properties: {enabled: {type: boolean, default: true}}}}
  feature: {text: current}
  state:
    json: specs/${feature}/state.json
    inline: true
    schema:
      properties:
        phase: {type: string}
        taskIndex: {type: integer, default: 0, minimum: 0}
        totalTasks: {type: integer, default: 0, maximum: 3}
        session_id: {type: string}
  tasks: {checklist: "specs/${feature}/tasks.md"}
measure: {done: taskIndex, total: totalTasks}
limits: {repeats: 10}
rules:
  - {name: done, when: taskIndex >= totalTasks, stop: all tasks are done, success: true}
  - {name: next, when: taskIndex < totalTasks, continue: "Task ${taskIndex + 1}"}
`,
	"bare": `
ralph: 1
rules:
  - {name: which, when: exists("question.txt") and answer == "", ask: Which one}
  - {name: more, when: true, continue: More}
`,
}

// A world is a project with a clock that only the test moves.
type world struct {
	*project.Project
	t        *testing.T
	dir, own string
	policies []project.Policy
	now      time.Time
}

func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), own: t.TempDir(), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	for name, text := range files {
		w.write(name, text)
	}
	for _, name := range []string{"again", "tasks", "bare"} {
		src := fstest.MapFS{"policy.yaml": {Data: []byte(policies[name])}}
		program, diags := rules.Load(t.Context(), src, "policy.yaml", rules.Config{})
		if err := diags.Err(); err != nil {
			t.Fatal(err)
		}
		w.policies = append(w.policies, project.Policy{Name: ".ralph/" + name + ".yaml", Program: program})
	}
	var err error
	w.Project, err = project.Open(project.Config{
		Dir: w.dir, State: w.own, Policies: w.policies,
		Env: func(string) string { return "" }, Now: func() time.Time { return w.now },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

func (w *world) write(name, text string) {
	w.t.Helper()
	file := filepath.Join(w.dir, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(file), 0o755)
	if err == nil {
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// files returns those of the project, except ralph's own.
func (w *world) files() map[string]string {
	w.t.Helper()
	found := map[string]string{}
	err := fs.WalkDir(os.DirFS(w.dir), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".ralph/archive/.gitignore" || d.IsDir():
			return nil
		}
		text, err := os.ReadFile(filepath.Join(w.dir, name))
		found[name] = string(text)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return found
}

// stop has a session end its turn, a second later, and returns the text that continues it, "" if nothing does.
func (w *world) stop(policy, session, says string) string {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	for _, p := range w.policies {
		if p.Short() != policy {
			continue
		}
		l, err := loop.New(p.Program, loop.WithRoot(w.dir), loop.WithState(w.own), loop.WithName(p.Name), loop.WithEnv(func(string) string { return "" }), loop.WithClock(func() time.Time { return w.now }))
		if err != nil {
			w.t.Fatal(err)
		}
		d, err := l.Run(w.t.Context(), host.Event{Name: host.Stop, SessionID: session, Turn: "t", LastAssistantMessage: says})
		if err != nil {
			w.t.Fatal(err)
		}
		if d.Verdict.Action == rules.Continue {
			return d.Verdict.Reason
		}
	}
	return ""
}

func (w *world) start(policy string, r project.StartRequest) *project.Started {
	w.t.Helper()
	s, err := w.Start(w.t.Context(), policy, r)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) status() *project.Status {
	w.t.Helper()
	s, err := w.Status(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func given[T any](v T) *T { return &v }

const login = "specs/login/tasks.md"

// A start writes what the policy says, or nothing.
func TestStart(t *testing.T) {
	const state = "{\n  \"phase\": \"execution\",\n  \"totalTasks\": 2,\n  \"taskIndex\": 0\n}\n"
	for _, tt := range []struct {
		name   string
		policy string
		files  map[string]string
		give   project.StartRequest
		want   map[string]string // files that are new or differ
		err    string
	}{
		{
			name: "a prompt", policy: "again", give: project.StartRequest{Argument: given("Do \"it\""), Max: given(3), Promise: given("DONE"), Session: "s-1"},
			want: map[string]string{"loop.md": "---\nlimit: 3\npromise: DONE\nsession_id: s-1\nactive: true\niteration: 1\n---\n\nDo \"it\"\n"},
		},
		{
			name: "what is not given is left out, or its default", policy: ".ralph/again.yaml", give: project.StartRequest{Argument: given("Do it"), Here: "s-2"},
			want: map[string]string{"loop.md": "---\nsession_id: s-2\nactive: true\niteration: 1\nlimit: 0\n---\n\nDo it\n"},
		},
		{
			name: "a pointer and a state", policy: "tasks", files: map[string]string{login: "- [x] a\n- [ ] b\n"}, give: project.StartRequest{Argument: given("login")},
			want: map[string]string{"current": "login\n", "specs/login/state.json": state},
		},
		{
			name: "without a name the pointer stays", policy: "tasks", files: map[string]string{login: "- [x] a\n- [ ] b\n", "current": "login"},
			want: map[string]string{"specs/login/state.json": state},
		},
		{
			name: "a pointer of one line is replaced", policy: "tasks", files: map[string]string{login: "- [x] a\n- [ ] b\n", "current": "logout"}, give: project.StartRequest{Argument: given("login")},
			want: map[string]string{"current": "login\n", "specs/login/state.json": state},
		},
		{
			name: "a pointer of more lines", policy: "tasks", files: map[string]string{login: "- [ ] a\n", "current": "my\nnotes\n"}, give: project.StartRequest{Argument: given("login")},
			err: "current contains more than one line; move it away first",
		},
		{
			name: "a placeholder without a value", policy: "tasks", give: project.StartRequest{Argument: given("login")},
			err: "state: totalTasks: the placeholder ${len(tasks)} has no value: tasks is missing: specs/login/tasks.md does not exist",
		},
		{
			name: "no pointer and no name", policy: "tasks", err: "tasks has no current feature; run `ralph start tasks FEATURE`",
		},
		{
			name: "a value of the user that breaks the schema", policy: "again", give: project.StartRequest{Argument: given("Do it"), Max: given(-1)},
			err: "start.max: run.limit is -1, expected at least 0",
		},
		{
			name: "a value of the policy that breaks the schema", policy: "tasks", files: map[string]string{login: "- [ ] a\n- [ ] b\n- [ ] c\n- [ ] d\n"}, give: project.StartRequest{Argument: given("login")},
			err: "specs/login/state.json would not fit: state.totalTasks is 4, expected at most 3",
		},
		{name: "no prompt", policy: "again", err: "start.prompt: is missing"},
		{
			name: "a value that the policy does not use", policy: "tasks", give: project.StartRequest{Promise: given("DONE")},
			err: "start.promise: is not used by tasks",
		},
		{
			name: "a path that leads out", policy: "tasks", give: project.StartRequest{Argument: given("../../x")},
			err: "state: totalTasks: the placeholder ${len(tasks)} has no value: tasks is missing: the path leads out of its directory",
		},
		{
			name: "a loop that exists", policy: "again", files: map[string]string{"loop.md": "---\niteration: 4\n---\nOld\n"}, give: project.StartRequest{Argument: given("Do it")},
			err: "loop.md is already a loop of again",
		},
		{
			name: "a file in its place that is no loop", policy: "again", files: map[string]string{"loop.md": "my notes"}, give: project.StartRequest{Argument: given("Do it")},
			err: "loop.md is already a loop of again",
		},
		{
			name: "force archives what exists", policy: "again", files: map[string]string{"loop.md": "my notes"}, give: project.StartRequest{Argument: given("Do it"), Force: true},
			want: map[string]string{"loop.md": "---\nactive: true\niteration: 1\nlimit: 0\n---\n\nDo it\n", ".ralph/archive/20260102T030405Z/loop.md": "my notes"},
		},
		{
			name: "a session alone moves the loop", policy: "tasks", files: map[string]string{"current": "login", "specs/login/state.json": `{"taskIndex": 1, "totalTasks": 2}`}, give: project.StartRequest{Session: "s-9"},
			want: map[string]string{"specs/login/state.json": `{"taskIndex": 1, "totalTasks": 2, "session_id": "s-9"}`},
		},
		{
			name: "nothing given and a loop that runs", policy: "tasks", files: map[string]string{"current": "login", "specs/login/state.json": "{}"},
			err: "specs/login/state.json is already a loop of tasks",
		},
		{name: "no loop", policy: "bare", err: "bare needs no start: it has no loop, and decides whenever a hook runs it; run `ralph stop bare` to keep it from continuing agents"},
		{name: "no policy", policy: "other", err: "the project has no policy other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.files)
			s, err := w.Start(t.Context(), tt.policy, tt.give)
			want := map[string]string{}
			for _, files := range []map[string]string{tt.files, tt.want} {
				for name, text := range files {
					want[name] = text
				}
			}
			if diff := cmp.Diff(want, w.files()); diff != "" {
				t.Errorf("files (-want +got)\n%s", diff)
			}
			switch {
			case tt.err == "" && err != nil, tt.err != "" && (err == nil || !strings.HasPrefix(err.Error(), tt.err)):
				t.Errorf("error %v, want %q", err, tt.err)
			case tt.err == "" && s.Idle != "":
				t.Errorf("it does not run: %s", s.Idle)
			}
		})
	}
}

// Of many concurrent starts, one writes, and the others report that there is a loop.
func TestStartAtOnce(t *testing.T) {
	for _, policy := range []string{"again", "tasks"} {
		w := newWorld(t, map[string]string{login: "- [ ] a\n"})
		var mu sync.Mutex
		var started []*project.Started
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				r := project.StartRequest{Argument: given("login")}
				if policy == "again" {
					r.Argument = given(fmt.Sprintf("prompt %d", i))
				}
				s, err := w.Start(context.Background(), policy, r)
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					started = append(started, s)
				} else if !errors.As(err, new(*project.ExistsError)) {
					t.Errorf("%s: %v", policy, err)
				}
			})
		}
		all.Wait()
		if len(started) != 1 {
			t.Errorf("%s: %d starts wrote", policy, len(started))
		}
		if loops := w.status().Loops; len(loops) != 1 {
			t.Errorf("%s: %d loops", policy, len(loops))
		}
	}
}

// A loop that is stopped continues no session until it is started, and then in the same turn.
func TestStopThenStart(t *testing.T) {
	w := newWorld(t, map[string]string{login: "- [ ] a\n", "plugin.md": ""})
	w.start("again", project.StartRequest{Argument: given("First")})
	w.start("tasks", project.StartRequest{Argument: given("login")})
	if got := w.stop("again", "s", "") + w.stop("tasks", "s", ""); got != "FirstTask 1" {
		t.Fatalf("the loops run: %q", got)
	}
	w.now = w.now.Add(time.Second)
	stopped, err := w.Stop(t.Context(), nil, "")
	if err != nil {
		t.Fatal(err)
	}
	ignore := cmpopts.IgnoreFields(project.Stopped{}, "Policy")
	want := []project.Stopped{
		{Name: "loop.md", File: "loop.md", Archived: ".ralph/archive/20260102T030408Z/loop.md"},
		{Name: "login", File: "specs/login/state.json"},
	}
	if diff := cmp.Diff(want, stopped, ignore); diff != "" {
		t.Errorf("stopped (-want +got)\n%s", diff)
	}
	if got := w.stop("again", "s", "") + w.stop("tasks", "s", ""); got != "" {
		t.Errorf("a stopped loop runs: %q", got)
	}
	if l := w.status().Loops[0]; l.State != project.StateStopped || !strings.Contains(l.Why, "ralph start tasks") {
		t.Errorf("status: %s, %s", l.State, l.Why)
	}
	again, err := w.Stop(t.Context(), []string{"tasks"}, "")
	if err != nil || len(again) != 1 || !again[0].Already {
		t.Errorf("stopped again: %v, %v", again, err)
	}
	w.now = w.now.Add(time.Second)
	w.start("again", project.StartRequest{Argument: given("Second")})
	w.start("tasks", project.StartRequest{})
	if got := w.stop("again", "s", "") + w.stop("tasks", "s", ""); got != "SecondTask 1" {
		t.Errorf("after the start: %q", got)
	}
}

// A policy without a loop is stopped and started as one with a loop is.
func TestStopWithoutLoop(t *testing.T) {
	w := newWorld(t, nil)
	state := func() project.State {
		for _, l := range w.status().Loops {
			if l.Policy == ".ralph/bare.yaml" {
				return l.State
			}
		}
		return ""
	}
	if got := w.stop("bare", "s", ""); got != "More" {
		t.Fatalf("it continues the session: %q", got)
	}
	for _, already := range []bool{false, true} {
		stopped, err := w.Stop(t.Context(), nil, "")
		if err != nil || len(stopped) != 1 || stopped[0].Already != already {
			t.Errorf("stopped: %+v, %v", stopped, err)
		}
	}
	if got, is := w.stop("bare", "s", ""), state(); got != "" || is != project.StateStopped {
		t.Errorf("stopped, but %q continues the session, and it is %s", got, is)
	}
	w.start("bare", project.StartRequest{})
	if got, is := w.stop("bare", "s", ""), state(); got != "More" || is != project.StateRunning {
		t.Errorf("started again: %q, %s", got, is)
	}
}

// A session is not caught in the loop of another one, until that is moved to it.
func TestOwner(t *testing.T) {
	w := newWorld(t, nil)
	w.start("again", project.StartRequest{Argument: given("Do it"), Here: "one"})
	if got := w.stop("again", "two", ""); got != "" {
		t.Errorf("another session is continued: %q", got)
	}
	if got := w.files()["loop.md"]; !strings.Contains(got, "iteration: 1\n") {
		t.Errorf("it was counted:\n%s", got)
	}
	if got := w.stop("again", "one", ""); got != "Do it" {
		t.Errorf("its owner: %q", got)
	}
	w.start("again", project.StartRequest{Session: "two", Here: "three"})
	if got := w.stop("again", "one", "") + "," + w.stop("again", "two", ""); got != ",Do it" {
		t.Errorf("after it moved: %q", got)
	}
}

// What an agent starts counts for hooks of all projects only if the policy ships with ralph: it may write any other.
func TestStartInSession(t *testing.T) {
	for _, shipped := range []bool{true, false} {
		w := newWorld(t, nil)
		policy := w.policies[0]
		policy.Shipped = shipped
		p, err := project.Open(project.Config{Dir: w.dir, State: w.own, Policies: []project.Policy{policy}, Env: func(name string) string {
			return map[string]string{"CLAUDECODE": "1"}[name]
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if _, err := p.Start(t.Context(), "again", project.StartRequest{Argument: given("Do it")}); err != nil {
			t.Fatal(err)
		}
		s, err := p.Status(t.Context())
		if err != nil || len(s.Loops) != 1 || p.Started(t.Context(), s.Loops[0]) != shipped {
			t.Errorf("shipped %v: %+v, error %v", shipped, s, err)
		}
	}
}

// With a session only its loops are stopped.
func TestStopOfSession(t *testing.T) {
	w := newWorld(t, map[string]string{login: "- [ ] a\n"})
	w.start("again", project.StartRequest{Argument: given("Do it"), Session: "one"})
	w.start("tasks", project.StartRequest{Argument: given("login")})
	for session, want := range map[string]int{"two": 0, "one": 1} {
		if stopped, err := w.Stop(t.Context(), nil, session); err != nil || len(stopped) != want && session == "one" {
			t.Errorf("%s: %v, %v", session, stopped, err)
		}
	}
	if loops := w.status().Loops; len(loops) != 1 || loops[0].Name != "login" || loops[0].State != project.StateReady {
		t.Errorf("left: %+v", loops)
	}
}

// Status shows in which state each loop is, and why it does not run.
func TestStatus(t *testing.T) {
	state := map[string]string{"current": "login", "specs/login/state.json": `{"taskIndex": 1, "totalTasks": 2, "session_id": "one"}`}
	for _, tt := range []struct {
		name  string
		files map[string]string
		do    func(w *world)
		want  project.Loop
	}{
		{
			name: "no decision yet", files: state,
			want: project.Loop{Policy: ".ralph/tasks.yaml", Name: "login", State: project.StateReady, File: "specs/login/state.json", Owner: "one", Measure: &rules.Measure{Done: 1, Total: 2}},
		},
		{
			name: "its owner decides", files: state, do: func(w *world) { w.stop("tasks", "one", ""); w.stop("tasks", "two", "") },
			want: project.Loop{Policy: ".ralph/tasks.yaml", Name: "login", State: project.StateRunning, File: "specs/login/state.json", Owner: "one", Measure: &rules.Measure{Done: 1, Total: 2},
				Limits: []rules.Limit{{Name: "continuations", At: 1, Of: 500}, {Name: "repeats", At: 1, Of: 10}, {Name: "elapsed", At: int(time.Second), Of: int(24 * time.Hour)}},
				Last:   &project.Last{Session: "one", Outcome: loop.Continued, By: "next", Reason: "Task 2"}},
		},
		{
			name: "it is done", files: map[string]string{"current": "login", "specs/login/state.json": `{"taskIndex": 2, "totalTasks": 2}`},
			do: func(w *world) { w.now = time.Now().Add(time.Hour); w.stop("tasks", "one", "") },
			want: project.Loop{Policy: ".ralph/tasks.yaml", Name: "login", State: project.StateDone, File: "specs/login/state.json", Measure: &rules.Measure{Done: 2, Total: 2},
				Last: &project.Last{Session: "one", Outcome: loop.Done, By: "done", Reason: "all tasks are done"}},
		},
		{
			name: "switched off", files: map[string]string{"current": "login", "specs/login/state.json": "{}", "plugin.md": "---\nenabled: false\n---\n"},
			want: project.Loop{Policy: ".ralph/tasks.yaml", Name: "login", State: project.StateOff, Why: "the loop is switched off: plugin.enabled", File: "specs/login/state.json", Measure: &rules.Measure{}},
		},
		{
			name: "all are off", files: map[string]string{"loop.md": "---\n---\n# Do it\n", ".ralph/off": ""},
			want: project.Loop{Policy: ".ralph/again.yaml", Name: "loop.md", State: project.StateOff, Why: "all loops are off: the file .ralph/off exists", File: "loop.md", Goal: "Do it"},
		},
		{
			name: "unreadable", files: map[string]string{"current": "login", "specs/login/state.json": "{"},
			want: project.Loop{Policy: ".ralph/tasks.yaml", Name: "login", State: project.StateUnusable, Why: "the state of its loop is unusable", File: "specs/login/state.json",
				Problems: []string{"state: specs/login/state.json is not valid JSON"}},
		},
		{
			name: "a question", files: map[string]string{"question.txt": ""}, do: func(w *world) { w.stop("bare", "one", "") },
			want: project.Loop{Policy: ".ralph/bare.yaml", State: project.StateWaits, Why: `it asks "Which one"; answer with your next prompt`,
				Last: &project.Last{Session: "one", Outcome: loop.Asked, By: "which", Reason: "Which one"}},
		},
		{
			name: "a field that cannot be used", files: map[string]string{"loop.md": "---\niteration: -4\n---\nDo it\n"},
			want: project.Loop{Policy: ".ralph/again.yaml", Name: "loop.md", State: project.StateReady, File: "loop.md", Goal: "Do it",
				Problems: []string{"loop.md:2:12: run.iteration is -4, expected at least 0"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.files)
			if tt.do != nil {
				tt.do(w)
			}
			s := w.status()
			if len(s.Loops) != 1 {
				t.Fatalf("loops: %+v", s.Loops)
			}
			begins := cmp.Comparer(func(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) })
			times := cmpopts.IgnoreTypes(time.Time{})
			if diff := cmp.Diff(tt.want, s.Loops[0], times, begins, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(project.Loop{}, "Memory")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Loops that ended are shown with how they ended, the latest first.
func TestFinished(t *testing.T) {
	w := newWorld(t, nil)
	w.start("again", project.StartRequest{Argument: given("# Keep it"), Promise: given("DONE")})
	w.stop("again", "one", "<promise>DONE</promise>")
	w.now = w.now.Add(time.Second)
	w.start("again", project.StartRequest{Argument: given("Try it"), Max: given(1)})
	w.stop("again", "one", "")
	w.now = w.now.Add(time.Second)
	w.start("again", project.StartRequest{Argument: given("Leave it")})
	w.now = w.now.Add(time.Second)
	if _, err := w.Stop(t.Context(), nil, ""); err != nil {
		t.Fatal(err)
	}
	want := []project.Finished{
		{Policy: ".ralph/again.yaml", Result: loop.Asked, Cause: "stopped", By: "ralph stop", Goal: "Leave it", File: ".ralph/archive/20260102T030410Z/loop.md"},
		{Policy: ".ralph/again.yaml", Result: loop.Stopped, By: "limit", Reason: "iteration 1 was the last", Goal: "Try it", File: ".ralph/archive/20260102T030408Z/loop.md"},
		{Policy: ".ralph/again.yaml", Result: loop.Done, By: "promise", Reason: "the promise was kept", Goal: "Keep it", File: ".ralph/archive/20260102T030406Z/loop.md"},
	}
	if diff := cmp.Diff(want, w.status().Finished, cmpopts.IgnoreFields(project.Finished{}, "At")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestHintTooLong(t *testing.T) {
	_, err := newWorld(t, nil).Hint(t.Context(), strings.Repeat("x", 17<<10), "", "")
	if err == nil || err.Error() != "the hint is too long: 17408 bytes (limit 16384)" {
		t.Error(err)
	}
}

// ask is a source of the program.
type ask struct{}

func (ask) Kind() rules.SourceKind { return rules.SourceKind{Name: "ask", Doc: "Asks."} }

func (ask) Gather(context.Context, loop.Query) rules.Value { return rules.Value{V: 1} }

// The options of the configuration are for each loop, once, wherever its policy is from.
func TestOptions(t *testing.T) {
	const policy = "ralph: 1\nloop: {state: state, on: up == 1}\nfacts: {state: {json: state.json}, up: {ask: x}}\nrules: [{name: go, when: up == 1, continue: Go on}]\n"
	options := []loop.Option{loop.WithSource(ask{})}
	program, diags := rules.LoadBytes(t.Context(), "mine.yaml", []byte(policy), loop.Config(options...))
	if program == nil {
		t.Fatal(diags.Err())
	}
	for name, c := range map[string]project.Config{
		"made":  {Policies: []project.Policy{{Name: ".ralph/mine.yaml", Program: program}}},
		"found": {},
	} {
		w := newWorld(t, map[string]string{".ralph/mine.yaml": policy, "state.json": "{}"})
		c.Dir, c.State, c.Options, c.Env = w.dir, w.own, options, func(string) string { return "" }
		p, err := project.Open(c)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		s, err := p.Status(t.Context())
		if err != nil || len(s.Loops) != 1 {
			t.Errorf("%s: %+v, error %v", name, s, err)
		}
		loops, _, err := project.Hook{Config: c, Policies: []string{".ralph/mine.yaml"}}.Loops(t.Context(), host.Event{Name: host.Stop, Cwd: w.dir})
		if err != nil || len(loops) != 1 {
			t.Fatalf("%s: %d loops, error %v", name, len(loops), err)
		}
		if d := loops[0].Preview(t.Context(), host.Event{Name: host.Stop, SessionID: "s", Cwd: w.dir}); d.Verdict.Reason != "Go on" {
			t.Errorf("%s: %s", name, d.Verdict.Reason)
		}
	}
}
