package run_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run"
)

// looping names its loop, which may belong to a session.
const looping = `ralph: 1
limits: {repeats: 2}
loop:
  state: state
  name: build
  on: not exists("off")
  owner: state.owner
  start: {state: {step: 1}}
facts:
  state: {json: state.json, schema: {properties: {step: {type: integer, default: 0}, owner: {type: string}}}}
progress: [state.step]
rules:
  - name: all-done
    when: said("ALL_DONE")
    stop: all done
    success: true
  - name: enough
    when: state.step > 5
    stop: enough
  - name: next
    when: ok(state)
    continue: step ${state.step}
`

// loopProject is a project with a loop, and a state directory.
func loopProject(t *testing.T) (dir, state string) {
	t.Helper()
	dir, state = project(t)
	write(t, filepath.Join(dir, "state.json"), `{"step": 1}`)
	return dir, state
}

// loopRun is a run of the policy looping.
func loopRun(t *testing.T, dir, state string, opts ...run.Option) *run.Runner {
	t.Helper()
	r, err := run.New(load(t, looping), run.Generic(), append([]run.Option{run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), run.Hasty()}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// hook decides a stop of a session in the environment of a run, and returns what it answers.
func hook(t *testing.T, dir, state, session, inRun string) string {
	t.Helper()
	env := func(name string) string {
		if name == run.Env {
			return inRun
		}
		return ""
	}
	l, err := loop.New(load(t, looping), loop.WithRoot(dir), loop.WithState(state), loop.WithEnv(env))
	if err != nil {
		t.Fatal(err)
	}
	ev := host.Event{Name: host.Stop, SessionID: session, Cwd: dir}
	d, err := l.Run(t.Context(), ev)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(append([]string{d.Verdict.Action.String(), d.Verdict.Reason}, d.Notices...), "|")
}

// However a run ends, nothing of it holds a session or another run.
func TestNothingIsLeft(t *testing.T) {
	for _, c := range []struct {
		name, script string
		opts         []run.Option
		ended        run.End
	}{
		{name: "success", script: "echo ALL_DONE", ended: run.Success},
		{name: "said", script: "echo ENOUGH", opts: []run.Option{run.WithSaid("ENOUGH")}, ended: run.Success},
		{name: "stopped", script: `echo '{"step": 6}' >state.json`, ended: run.Stopped},
		{name: "limit", script: "true", opts: []run.Option{run.WithLimits(run.Limits{Iterations: 1})}, ended: run.AtLimit},
		{name: "no progress", script: "true", ended: run.NoProgress},
		{name: "crashes", script: `echo >>n; echo "{\"step\": $(wc -l <n)}" >state.json; exit 9`, ended: run.TooManyFail},
		{name: "time", script: "sleep 300", opts: []run.Option{run.WithLimits(run.Limits{Elapsed: time.Millisecond})}, ended: run.AtLimit},
		{name: "stopped by the user", script: "touch leave", ended: run.Cancelled},
		{name: "the loop is gone", script: "rm state.json", ended: run.Stopped},
		{name: "switched off", script: "touch off", ended: run.Failed},
		{name: "no such agent", script: absent, ended: run.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, state := loopProject(t)
			control := func() run.Control {
				if _, err := os.Lstat(filepath.Join(dir, "leave")); err == nil {
					return run.Leave
				}
				return run.GoOn
			}
			events, lines := all(t, t.Context(), loopRun(t, dir, state, append([]run.Option{sh(c.script), run.WithControl(control)}, c.opts...)...))
			if last := events[len(events)-1]; last.Ended != c.ended {
				t.Errorf("it ends with %s: %s, want %s\n%s", last.Ended, last.Why, c.ended, strings.Join(lines, "\n"))
			}
			if left, _ := filepath.Glob(filepath.Join(state, "runs", "*.live")); len(left) > 0 {
				t.Errorf("left are %v", left)
			}
			write(t, filepath.Join(dir, "state.json"), `{"step": 3}`)
			if err := os.Remove(filepath.Join(dir, "off")); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Fatal(err)
			}
			if diff := cmp.Diff("continue|step 3", hook(t, dir, state, "s", "")); diff != "" {
				t.Errorf("a session (-want +got)\n%s", diff)
			}
			_, lines = all(t, t.Context(), loopRun(t, dir, state, sh("true"), run.WithLimits(run.Limits{Iterations: 1})))
			want := []string{"run_start", "verdict continue next", "iteration_start 1", "iteration_end 1 ok", "verdict 1 continue next", "run_end limit"}
			if diff := cmp.Diff(want, lines); diff != "" {
				t.Errorf("another run (-want +got)\n%s", diff)
			}
		})
	}
}

// While a run is under way, the sessions of its project may stop and see once why; its own agent sees nothing. A run
// in a work tree affects no sessions elsewhere.
func TestSessionsStepAside(t *testing.T) {
	dir, state := loopProject(t)
	tree, _ := loopProject(t)
	r := loopRun(t, dir, state, sh("true"), run.WithLimits(run.Limits{Iterations: 1}))
	inRun := "run " + r.ID() + " continues the loop build; run `ralph stop policy.yaml` to end it"
	busy := "stop|" + inRun + "|[ralph] " + inRun
	got := map[string]string{}
	for ev := range r.Run(t.Context()) {
		if ev.Kind != run.IterationStart {
			continue
		}
		if live, err := run.Live(t.Context(), loop.LocalStore(state), "", dir, "policy.yaml"); live != r.ID() || err != nil {
			t.Errorf("under way is %q (%v)", live, err)
		}
		got["first"], got["again"] = hook(t, dir, state, "s", ""), hook(t, dir, state, "s", "")
		got["another"] = hook(t, dir, state, "t", "20260101-000000-abcdef")
		got["own"] = hook(t, dir, state, "u", r.ID())
		got["elsewhere"] = hook(t, tree, state, "s", "")
		second, _ := all(t, t.Context(), loopRun(t, dir, state, sh("true")))
		got["run"] = second[len(second)-1].Why
		other, _ := all(t, t.Context(), loopRun(t, tree, state, run.WithHome(dir), sh("true"), run.WithLimits(run.Limits{Iterations: 1})))
		got["run elsewhere"] = other[len(other)-1].Why
	}
	got["after"] = hook(t, dir, state, "s", "")
	want := map[string]string{
		"first": busy, "again": "stop|" + inRun, "another": busy, "own": "stop|the agent is that of run " + r.ID() + ", which decides", "elsewhere": "continue|step 1",
		"run":           "run " + r.ID() + " of policy.yaml works in " + dir + "; wait for it, stop it, or run this one in a separate worktree",
		"run elsewhere": "1 of 1 iterations were started", "after": "continue|step 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answers (-want +got)\n%s", diff)
	}
}

// What the loop of a policy means for a run.
func TestLoopOfTheRun(t *testing.T) {
	for _, c := range []struct {
		name, state, script string
		stopped             bool // by ralph stop
		opts                []run.Option
		want                []string
		why                 string
	}{
		{
			name: "no loop", want: []string{"run_start", "verdict stop", "run_end failed"},
			why: "no loop: state.json is missing; run `ralph start policy.yaml` to start one",
		},
		{
			name: "no loop, and a prompt", opts: []run.Option{run.WithPrompt("begin")},
			want: []string{"run_start", "iteration_start 1", "iteration_end 1 ok", "verdict 1 stop", "run_end failed"},
			why:  "no loop: state.json is missing; run `ralph start policy.yaml` to start one",
		},
		{
			name: "a prompt that makes the loop", opts: []run.Option{run.WithPrompt("begin")}, script: `echo '{"step": 6}' >state.json`,
			want: []string{"run_start", "iteration_start 1", "iteration_end 1 ok", "verdict 1 stop enough", "run_end enough stopped"},
			why:  "enough",
		},
		{
			name: "of a session", state: `{"step": 1, "owner": "s"}`, script: "echo ALL_DONE",
			want: []string{"run_start", "verdict continue next", "iteration_start 1", "output 1 ALL_DONE", "iteration_end 1 ok", "verdict 1 stop all-done", "run_end all-done success"},
			why:  "all done",
		},
		{
			name: "stopped", state: `{"step": 1}`, stopped: true, want: []string{"run_start", "verdict stop", "run_end failed"},
			why: "the loop build was stopped; run `ralph start policy.yaml` to continue it",
		},
		{
			name: "stopped, and a prompt", state: `{"step": 1}`, stopped: true, opts: []run.Option{run.WithPrompt("begin")}, want: []string{"run_start", "run_end failed"},
			why: "the loop build was stopped; run `ralph start policy.yaml` to continue it",
		},
		{
			name: "removed, and done", state: `{"step": 1}`, script: "rm state.json; echo ALL_DONE",
			want: []string{"run_start", "verdict continue next", "iteration_start 1", "output 1 ALL_DONE", "iteration_end 1 ok", "verdict 1 stop all-done", "run_end all-done success"},
			why:  "all done",
		},
		{
			name: "removed after a prompt, and done", state: `{"step": 1}`, script: "rm state.json; echo ALL_DONE", opts: []run.Option{run.WithPrompt("begin")},
			want: []string{"run_start", "iteration_start 1", "output 1 ALL_DONE", "iteration_end 1 ok", "verdict 1 stop all-done", "run_end all-done success"},
			why:  "all done",
		},
		{
			name: "removed", state: `{"step": 1}`, script: "rm state.json",
			want: []string{"run_start", "verdict continue next", "iteration_start 1", "iteration_end 1 ok", "verdict 1 stop", "run_end stopped"},
			why:  "the loop's file is gone: state.json",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, state := loopProject(t)
			if c.state == "" {
				if err := os.Remove(filepath.Join(dir, "state.json")); err != nil {
					t.Fatal(err)
				}
			} else {
				write(t, filepath.Join(dir, "state.json"), c.state)
			}
			if c.stopped {
				if err := store.Open(state).StopLoop(dir, "policy.yaml", time.Now()); err != nil {
					t.Fatal(err)
				}
			}
			events, got := all(t, t.Context(), loopRun(t, dir, state, append(c.opts, sh(c.script))...))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("events (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.why, events[len(events)-1].Why); diff != "" {
				t.Errorf("why (-want +got)\n%s", diff)
			}
		})
	}
}
