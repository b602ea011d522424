package run_test

import (
	"bufio"
	"context"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// policy continues until three iterations have run.
const policy = `ralph: 1
rules:
  - name: done
    when: run.iteration >= 3
    stop: three is enough
  - name: again
    continue: "do step ${run.iteration + 1} after ${run.outcome}"
`

// endless always continues, as far as the run allows.
const endless = "ralph: 1\nlimits: {continuations: 10000, total: 100000}\nrules: [{name: again, continue: 'step ${loop.continuations + 1}'}]\n"

func load(t *testing.T, text string) *rules.Program {
	t.Helper()
	p, diags := rules.LoadBytes(t.Context(), "policy.yaml", []byte(text), rules.Config{})
	if p == nil {
		t.Fatal(diags.Err())
	}
	return p
}

// project makes a project directory, and a state directory beside it.
func project(t *testing.T) (dir, state string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "project")
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, t.TempDir()
}

// absent is an agent that does not exist.
const absent = "no-such-agent-of-ralph"

// sh is an agent that a shell runs, or absent; $1 is the prompt.
func sh(script string) run.Option {
	if script == absent {
		return run.WithArgs(absent)
	}
	return run.WithArgs("sh", "-c", script, "agent")
}

// linesOf reads lines as they come.
func linesOf(r io.Reader) iter.Seq[string] {
	return func(yield func(string) bool) {
		for s := bufio.NewScanner(r); s.Scan(); {
			if !yield(s.Text()) {
				return
			}
		}
	}
}

// inWords is an event as its kind, its number and what it says.
func inWords(ev run.Event) string {
	words := []string{string(ev.Kind)}
	if ev.Iteration > 0 {
		words = append(words, strconv.Itoa(ev.Iteration))
	}
	for _, w := range []string{string(ev.Outcome), ev.Action, ev.Rule, string(ev.Ended), ev.Shown} {
		if w != "" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

func all(t *testing.T, ctx context.Context, r *run.Runner) (events []run.Event, lines []string) {
	t.Helper()
	for ev := range r.Run(ctx) {
		events = append(events, ev)
		lines = append(lines, inWords(ev))
	}
	return events, lines
}

func TestRun(t *testing.T) {
	dir, state := project(t)
	r, err := run.New(load(t, policy), run.Generic(), run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), sh(`echo "$1" >>prompts; echo working`))
	if err != nil {
		t.Fatal(err)
	}
	events, got := all(t, t.Context(), r)
	want := []string{
		"run_start", "verdict continue again",
		"iteration_start 1", "output 1 working", "iteration_end 1 ok", "verdict 1 continue again",
		"iteration_start 2", "output 2 working", "iteration_end 2 ok", "verdict 2 continue again",
		"iteration_start 3", "output 3 working", "iteration_end 3 ok", "verdict 3 stop done",
		"run_end done stopped",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
	prompts, _ := os.ReadFile(filepath.Join(dir, "prompts"))
	if want := "do step 1 after\ndo step 2 after ok\ndo step 3 after ok\n"; string(prompts) != want {
		t.Errorf("prompts %q, want %q", prompts, want)
	}
	if last := events[len(events)-1]; last.Why != "three is enough" || last.Totals.Iterations != 3 {
		t.Errorf("it ends with %+v", last)
	}
	log, _ := os.ReadFile(filepath.Join(dir, run.Dir, r.ID(), "run.jsonl"))
	if n := strings.Count(string(log), "\n"); n != len(want)-3 {
		t.Errorf("run.jsonl has %d lines:\n%s", n, log)
	}
	info, err := run.Find(t.Context(), loop.LocalStore(state), "", r.ID())
	if err != nil {
		t.Fatal(err)
	}
	kept, err := info.Events(int64(len(log)))
	if len(kept) != len(want)-3 || err != nil || kept[len(kept)-1].Ended != run.Stopped {
		t.Errorf("%d events are kept, %v", len(kept), err)
	}
	if tail, err := info.Events(int64(len(log)) - 10); len(tail) != len(kept)-1 || err != nil {
		t.Errorf("%d events are in the end of run.jsonl, %v", len(tail), err)
	}
	out, _ := os.ReadFile(filepath.Join(dir, run.Dir, r.ID(), "0002.out"))
	if string(out) != "working\n" {
		t.Errorf("the output of iteration 2 is %q", out)
	}
}

func TestEnds(t *testing.T) {
	again := "ralph: 1\nlimits: {continuations: 1000}\nrules: [{name: again, continue: go on}]\n"
	for _, c := range []struct {
		name, policy, script string
		opts                 []run.Option
		ended                run.End
		iterations           int
		why                  string
	}{
		{"a limit of iterations", again, "true", []run.Option{run.WithLimits(run.Limits{Iterations: 2})}, run.AtLimit, 2, "2 of 2 iterations"},
		{"a text", again, "echo 'ALL DONE'", []run.Option{run.WithSaid("ALL DONE")}, run.Success, 1, "the agent wrote ALL DONE"},
		{"a text in code", again, "echo '`ALL DONE`'", []run.Option{run.WithSaid("ALL DONE"), run.WithLimits(run.Limits{Iterations: 2})}, run.AtLimit, 2, ""},
		{"a promise", again, "echo '<promise>DONE</promise>'", []run.Option{run.WithSaid("<promise>DONE</promise>")}, run.Success, 1, ""},
		{"a text in a sentence", again, "echo 'I am ALL DONE.'", []run.Option{run.WithSaid("ALL DONE"), run.WithLimits(run.Limits{Iterations: 1})}, run.AtLimit, 1, ""},
		{"the prompt repeated", again, `echo "$1"`, []run.Option{run.WithSaid("ALL DONE"), run.WithLimits(run.Limits{Iterations: 3})}, run.AtLimit, 3, ""},
		{"no promise", again, "echo DONE", []run.Option{run.WithSaid("<promise>DONE</promise>"), run.WithLimits(run.Limits{Iterations: 1})}, run.AtLimit, 1, ""},
		{"the policy's limit of iterations", "ralph: 1\nlimits: {iterations: 2}\nrules: [{name: again, continue: go on}]\n", "true", nil, run.AtLimit, 2, "the limit of 2 iterations"},
		{"more iterations than there are by default", again, "true", []run.Option{run.WithLimits(run.Limits{Iterations: 120})}, run.AtLimit, 120, "120 of 120 iterations"},
		{"no rule", "ralph: 1\nrules: [{name: a, when: run.iteration == 0, continue: go}]\n", "true", nil, run.Stopped, 1, "no rule"},
		{"the first prompt is refused", "ralph: 1\nrules: [{name: a, stop: nothing to do}]\n", "true", nil, run.Stopped, 0, "nothing to do"},
		{"a limit of the policy", "ralph: 1\nlimits: {continuations: 2}\nrules: [{name: a, continue: go}]\n", "true", nil, run.AtLimit, 2, ""},
		{"crashes", again, "echo broken >&2; exit 9", nil, run.TooManyFail, 3, "exit status 9: broken"},
		{"no such agent", again, absent, nil, run.Failed, 0, "cannot be started"},
		{"time", again, "sleep 300", []run.Option{run.WithIteration(50 * time.Millisecond), run.WithLimits(run.Limits{Iterations: 1})}, run.AtLimit, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, _ := project(t)
			r, err := run.New(load(t, c.policy), run.Generic(), append([]run.Option{run.WithDir(dir), sh(c.script), run.Hasty()}, c.opts...)...)
			if err != nil {
				t.Fatal(err)
			}
			events, lines := all(t, t.Context(), r)
			last := events[len(events)-1]
			if last.Kind != run.RunEnd || last.Ended != c.ended || last.Totals.Iterations != c.iterations || !strings.Contains(last.Why, c.why) {
				t.Errorf("it ends with %s after %d: %q, want %s after %d: %q\n%s", last.Ended, last.Totals.Iterations, last.Why, c.ended, c.iterations, c.why, strings.Join(lines, "\n"))
			}
		})
	}
}

// Each prompt of a run that waits for a text shows the line to write, and why one did not count.
func TestSaidIsShown(t *testing.T) {
	dir, _ := project(t)
	policy := load(t, "ralph: 1\nlimits: {continuations: 9}\nrules: [{name: again, continue: go on}]\n")
	r, err := run.New(policy, run.Generic(), run.WithDir(dir), run.WithPrompt("begin"), run.WithSaid("DONE"), run.Hasty(),
		sh(`echo "$1" >>prompts; if test -e second; then echo DONE; else touch second; echo 'I am DONE.'; fi`))
	if err != nil {
		t.Fatal(err)
	}
	all(t, t.Context(), r)
	prompts, _ := os.ReadFile(filepath.Join(dir, "prompts"))
	const asks = "When it is true, and not before, write this line:\n\nDONE\n"
	if diff := cmp.Diff("begin\n\n"+asks+"go on\n\n“DONE” did not count: it is not alone on its line.\n"+asks, string(prompts)); diff != "" {
		t.Errorf("prompts (-want +got):\n%s", diff)
	}
}

// An agent that cannot be started is no iteration: not in this run, and not when the run is resumed.
func TestNotStarted(t *testing.T) {
	dir, state := project(t)
	policy := load(t, "ralph: 1\nlimits: {continuations: 9}\nrules: [{name: a, continue: go}]\n")
	opts := []run.Option{run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), run.WithArgs(absent), run.Hasty()}
	for range 3 {
		r, err := run.New(policy, run.Generic(), opts...)
		if err != nil {
			t.Fatal(err)
		}
		events, lines := all(t, t.Context(), r)
		if last := events[len(events)-1]; last.Ended != run.Failed || last.Totals.Iterations != 0 || len(last.Totals.Outcomes) != 0 {
			t.Errorf("%+v\n%s", last, strings.Join(lines, "\n"))
		}
		opts = []run.Option{run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), run.Resume(r.ID()), run.Hasty()}
	}
}

func TestRefused(t *testing.T) {
	dir, state := project(t)
	for _, c := range []struct {
		name string
		opts []run.Option
		want string
	}{
		{"no agent", nil, "no agent"},
		{"no project", []run.Option{run.WithArgs("true"), run.WithHome(filepath.Join(dir, "nosuch"))}, "cannot be used"},
		{"tokens", []run.Option{run.WithArgs("true"), run.WithLimits(run.Limits{Tokens: 5})}, "does not report tokens"},
		{"cost", []run.Option{run.WithArgs("true"), run.WithLimits(run.Limits{Cost: 5})}, "does not report its cost"},
		{"the usage window", []run.Option{run.WithArgs("true"), run.WithLimits(run.Limits{Window: 80})}, "does not report how much of its usage window is used"},
		{"a session", []run.Option{run.WithArgs("true"), run.WithContinue()}, "generic cannot continue a session"},
		{"a negative limit", []run.Option{run.WithArgs("true"), run.WithLimits(run.Limits{Iterations: -1})}, "must not be negative"},
		{"a run that is none", []run.Option{run.WithStore(loop.LocalStore(state), ""), run.Resume("nosuch")}, "no run has this ID"},
		{"a path as an id", []run.Option{run.WithStore(loop.LocalStore(state), ""), run.Resume("../x")}, "letters, digits and hyphens"},
		{"an answer to a new run", []run.Option{run.WithStore(loop.LocalStore(state), ""), run.WithAnswer("yes")}, "add Resume"},
		{"an answer of nothing", []run.Option{run.WithAnswer("")}, "run.WithAnswer has no value"},
		{"nowhere to resume from", []run.Option{run.Resume("x")}, "WithStore"},
	} {
		if _, err := run.New(load(t, policy), run.Generic(), append([]run.Option{run.WithDir(dir)}, c.opts...)...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// A limit of the policy that the client does not report is refused too: it would never be hit.
func TestRefusedLimitOfThePolicy(t *testing.T) {
	dir, _ := project(t)
	for limit, want := range map[string]string{"tokens: 5": "does not report tokens", "cost: 5": "does not report its cost", "iterations: 5": ""} {
		_, err := run.New(load(t, "ralph: 1\nlimits: {"+limit+"}\nrules: [{name: again, continue: go on}]\n"), run.Generic(), run.WithDir(dir), run.WithArgs("true"))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", limit, err, want)
		}
	}
}

// Two runs of one policy in one project would work on the same task.
func TestOneRunOfAPolicy(t *testing.T) {
	dir, state := project(t)
	opts := []run.Option{run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), sh("true")}
	first, err := run.New(load(t, policy), run.Generic(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	for range first.Run(t.Context()) {
		second, err := run.New(load(t, policy), run.Generic(), opts...)
		if err != nil {
			t.Fatal(err)
		}
		events, _ := all(t, t.Context(), second)
		if last := events[len(events)-1]; last.Ended != run.Failed || !strings.Contains(last.Why, "run "+first.ID()+" of policy.yaml works in") {
			t.Errorf("a second run ends with %+v", last)
		}
		break
	}
}

// A run that ends in the middle of an iteration continues with that iteration.
func TestResume(t *testing.T) {
	dir, state := project(t)
	opts := []run.Option{run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), sh(`echo "$1" >>prompts`)}
	r, err := run.New(load(t, policy), run.Generic(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for ev := range r.Run(ctx) {
		if ev.Kind == run.IterationEnd && ev.Iteration == 2 {
			break
		}
	}
	back, err := run.New(load(t, policy), run.Generic(), run.WithStore(loop.LocalStore(state), ""), run.Resume(r.ID()))
	if err != nil {
		t.Fatal(err)
	}
	_, got := all(t, t.Context(), back)
	want := []string{"run_resume", "verdict 2 continue again", "iteration_start 3", "iteration_end 3 ok", "verdict 3 stop done", "run_end done stopped"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
	prompts, _ := os.ReadFile(filepath.Join(dir, "prompts"))
	if n := strings.Count(string(prompts), "\n"); n != 3 {
		t.Errorf("the agent was started %d times:\n%s", n, prompts)
	}
}

// A process that resumes a run while another one still runs it does not change it, and continues where the other one
// ended.
func TestResumeOfARunUnderWay(t *testing.T) {
	dir, state := project(t)
	r, err := run.New(load(t, policy), run.Generic(), run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), run.WithLimits(run.Limits{Iterations: 1}), sh("echo x >>count"))
	if err != nil {
		t.Fatal(err)
	}
	resume := func() *run.Runner {
		back, err := run.New(load(t, policy), run.Generic(), run.WithStore(loop.LocalStore(state), ""), run.WithLimits(run.Limits{Iterations: 2}), run.Resume(r.ID()))
		if err != nil {
			t.Fatal(err)
		}
		return back
	}
	var later *run.Runner
	for ev := range r.Run(t.Context()) {
		if ev.Kind != run.IterationStart {
			continue
		}
		before, err := run.Find(t.Context(), loop.LocalStore(state), "", r.ID())
		if err != nil || !before.Running {
			t.Fatalf("under way it is %+v (%v)", before, err)
		}
		if _, got := all(t, t.Context(), resume()); !cmp.Equal(got, []string{"run_end failed"}) {
			t.Errorf("another process runs it: %v", got)
		}
		after, err := run.Find(t.Context(), loop.LocalStore(state), "", r.ID())
		if diff := cmp.Diff(before, after); diff != "" || err != nil {
			t.Errorf("another process changed what is kept (%v, -before +after):\n%s", err, diff)
		}
		later = resume()
	}
	_, got := all(t, t.Context(), later)
	want := []string{"run_resume", "iteration_start 2", "iteration_end 2 ok", "verdict 2 continue again", "run_end limit"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
	if count, _ := os.ReadFile(filepath.Join(dir, "count")); string(count) != "x\nx\n" {
		t.Errorf("the agent was started %d times", strings.Count(string(count), "x"))
	}
}

// A run that was killed is not under way because another run of its policy is.
func TestKilledBesideAnother(t *testing.T) {
	dir, state := project(t)
	opts := []run.Option{run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), sh("true")}
	killed, err := run.New(load(t, policy), run.Generic(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(state, "runs", killed.ID()+".json")
	var kept []byte
	for ev := range killed.Run(t.Context()) {
		if ev.Kind == run.IterationStart {
			if kept, err = os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.WriteFile(path, kept, 0o600); err != nil {
		t.Fatal(err)
	}
	other, err := run.New(load(t, policy), run.Generic(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	for ev := range other.Run(t.Context()) {
		if ev.Kind != run.IterationStart {
			continue
		}
		for id, want := range map[string]bool{killed.ID(): false, other.ID(): true} {
			if info, err := run.Find(t.Context(), loop.LocalStore(state), "", id); err != nil || info.Running != want || info.Ended != "" {
				t.Errorf("%s is %+v (%v), running %t", id, info, err, want)
			}
		}
	}
}

// A paused run waits before it evaluates the policy: the switch that pauses it lets every agent stop.
func TestPause(t *testing.T) {
	dir, _ := project(t)
	asked := 0
	control := func() run.Control {
		if asked++; asked == 1 {
			return run.Pause
		}
		return run.GoOn
	}
	r, err := run.New(load(t, policy), run.Generic(), run.WithDir(dir), run.WithControl(control), run.WithLimits(run.Limits{Iterations: 1}), sh("true"))
	if err != nil {
		t.Fatal(err)
	}
	_, got := all(t, t.Context(), r)
	want := []string{"run_start", "waiting", "verdict continue again", "iteration_start 1", "iteration_end 1 ok", "verdict 1 continue again", "run_end limit"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
}

// A verdict says how far the work is, where the policy measures it.
func TestMeasure(t *testing.T) {
	dir, _ := project(t)
	text := "ralph: 1\nmeasure: {done: run.iteration, total: 2}\nrules:\n  - {name: done, when: run.iteration == 2, stop: done}\n  - {name: again, continue: go on}\n"
	r, err := run.New(load(t, text), run.Generic(), run.WithDir(dir), sh("true"))
	if err != nil {
		t.Fatal(err)
	}
	events, _ := all(t, t.Context(), r)
	var got []float64
	for _, ev := range events {
		if ev.Done != nil && ev.Total != nil {
			got = append(got, *ev.Done, *ev.Total)
		}
	}
	if diff := cmp.Diff([]float64{0, 2, 1, 2, 2, 2}, got); diff != "" {
		t.Errorf("done and total (-want +got)\n%s", diff)
	}
}

// The first request to end waits for the iteration, the context does not.
func TestInterrupt(t *testing.T) {
	dir, _ := project(t)
	stop := make(chan struct{})
	r, err := run.New(load(t, policy), run.Generic(), run.WithDir(dir), run.WithInterrupt(stop), sh("true"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for ev := range r.Run(t.Context()) {
		got = append(got, inWords(ev))
		if ev.Kind == run.IterationStart {
			close(stop)
		}
	}
	want := []string{"run_start", "verdict continue again", "iteration_start 1", "iteration_end 1 ok", "verdict 1 continue again", "run_end interrupted"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err = run.New(load(t, policy), run.Generic(), run.WithDir(dir), sh("echo started; sleep 300"))
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	for ev := range r.Run(ctx) {
		got = append(got, inWords(ev))
		if ev.Kind == run.AgentOutput {
			cancel()
		}
	}
	want = []string{"run_start", "verdict continue again", "iteration_start 1", "output 1 started", "iteration_end 1 interrupted", "run_end interrupted"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got)\n%s", diff)
	}
}

// After a rate limit the policy is not asked, and a client that cannot sign in is not started again.
func TestOutcomes(t *testing.T) {
	dir, _ := project(t)
	for _, c := range []struct {
		outcomes []run.Outcome
		want     []string
		ended    run.End
	}{
		{[]run.Outcome{run.RateLimited, run.RateLimited, run.OK}, []string{"1 rate_limited", "2 rate_limited", "3 ok"}, run.Stopped},
		{[]run.Outcome{run.Auth}, []string{"1 auth"}, run.NoAccess},
		{[]run.Outcome{run.Billing}, []string{"1 billing"}, run.NoAccess},
		{[]run.Outcome{run.Crashed, run.OK, run.Crashed, run.Crashed, run.TurnLimit}, []string{"1 crashed", "2 ok", "3 crashed", "4 crashed", "5 turn_limit"}, run.Stopped},
	} {
		n := len(c.want)
		text := "ralph: 1\nlimits: {continuations: 1000}\nrules:\n  - {name: done, when: run.iteration >= " + strconv.Itoa(n) + ", stop: done}\n  - {name: again, continue: go on}\n"
		r, err := run.New(load(t, text), &scripted{outcomes: c.outcomes}, run.WithDir(dir), sh("true"), run.Hasty())
		if err != nil {
			t.Fatal(err)
		}
		events, lines := all(t, t.Context(), r)
		var got []string
		for _, l := range lines {
			if end, ok := strings.CutPrefix(l, "iteration_end "); ok {
				got = append(got, end)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" || events[len(events)-1].Ended != c.ended {
			t.Errorf("%v (-want +got)\n%s\n%s", c.outcomes, diff, strings.Join(lines, "\n"))
		}
	}
}

// Whatever the agent reports of itself, it is not started more often than the run allows.
func TestStartsAreBounded(t *testing.T) {
	dir, _ := project(t)
	for _, o := range []run.Outcome{run.OK, run.RateLimited, run.TurnLimit, run.ContextOverflow, run.OverBudget, run.Crashed, run.Lost, run.Timeout, "", "odd"} {
		for _, resets := range []time.Duration{0, time.Second, -time.Second} {
			client := &scripted{outcomes: slices.Repeat([]run.Outcome{o}, 10), resets: resets}
			r, err := run.New(load(t, endless), client, run.WithDir(dir), run.WithLimits(run.Limits{Iterations: 2}), sh("true"), run.Hasty())
			if err != nil {
				t.Fatal(err)
			}
			events, lines := all(t, t.Context(), r)
			if last := events[len(events)-1]; last.Ended != run.AtLimit || len(client.outcomes) != 8 {
				t.Errorf("%q: the agent was started %d times\n%s", o, 10-len(client.outcomes), strings.Join(lines, "\n"))
			}
		}
	}
}

// The time of a run is that in which ralph works on it: not the night before it is resumed, nor time that the clock goes
// back.
func TestElapsed(t *testing.T) {
	dir, state := project(t)
	now := time.Date(2026, 1, 1, 22, 0, 0, 0, time.UTC)
	hours := []time.Duration{3, 2, -5, 6}
	agent := run.Func("mine", func(context.Context, run.Invocation) (run.Result, error) {
		now, hours = now.Add(hours[0]*time.Hour), hours[1:]
		return run.Result{}, nil
	})
	var got []string
	var id string
	for _, limits := range []run.Limits{{Iterations: 1, Elapsed: 10 * time.Hour}, {Iterations: 2}, {Iterations: 9}} {
		opts := []run.Option{run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), run.WithLimits(limits), run.WithClock(func() time.Time { return now })}
		if id != "" {
			opts = append(opts, run.Resume(id))
		}
		r, err := run.New(load(t, endless), agent, opts...)
		if err != nil {
			t.Fatal(err)
		}
		id = r.ID()
		events, _ := all(t, t.Context(), r)
		last := events[len(events)-1]
		info, err := run.Find(t.Context(), loop.LocalStore(state), "", id)
		if err != nil || info.Limit != last.Limit || info.Totals.Elapsed != last.Totals.Elapsed {
			t.Errorf("%v: kept as %s after %s", err, info.Limit, info.Totals.Elapsed)
		}
		got = append(got, last.Limit+" "+last.Totals.Elapsed.String())
		now = now.Add(9 * time.Hour)
	}
	if diff := cmp.Diff([]string{"iterations 3h0m0s", "iterations 5h0m0s", "elapsed 11h0m0s"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// The wait before the next start is ralph's own, or longer if the client asks for that.
func TestLeastWait(t *testing.T) {
	dir, _ := project(t)
	now := time.Now()
	for resets, want := range map[time.Duration]time.Duration{0: 10 * time.Second, -time.Hour: 10 * time.Second, time.Second: 10 * time.Second, time.Hour: time.Hour} {
		r, err := run.New(load(t, endless), &scripted{outcomes: []run.Outcome{run.RateLimited}, resets: resets}, run.WithDir(dir), sh("true"), run.WithClock(func() time.Time { return now }))
		if err != nil {
			t.Fatal(err)
		}
		for ev := range r.Run(t.Context()) {
			if ev.Kind == run.Waiting {
				if got := ev.Until.Sub(now); got < want || got > want+want/10 {
					t.Errorf("a reset after %s: it waits %s, want %s", resets, got, want)
				}
				break
			}
		}
	}
}

// scripted reports outcomes in turn.
type scripted struct {
	run.Adapter
	outcomes []run.Outcome
	resets   time.Duration // from now, 0 where the client does not say
}

func (s *scripted) Name() string         { return "scripted" }
func (s *scripted) Host() string         { return "" }
func (s *scripted) Reports() run.Reports { return run.Reports{Tokens: true, Cost: true} }
func (s *scripted) Command(i run.Invocation) (run.Command, error) {
	return run.Command{Args: slices.Clone(i.Args)}, nil
}

func (s *scripted) Output() run.Output {
	o := s.outcomes[0]
	s.outcomes = s.outcomes[1:]
	return output{o, s.resets}
}

type output struct {
	outcome run.Outcome
	resets  time.Duration
}

func (output) Line([]byte) (string, run.Outcome) { return "", "" }
func (o output) Result(run.Process) run.Result {
	cost := 0.25
	res := run.Result{Outcome: o.outcome, Tokens: 100, Cost: &cost}
	if o.resets != 0 {
		res.ResetsAt = time.Now().Add(o.resets)
	}
	return res
}

// Tokens and cost are known after an iteration.
func TestBudgets(t *testing.T) {
	dir, _ := project(t)
	for _, l := range []run.Limits{{Tokens: 250}, {Cost: 0.70}} {
		r, err := run.New(load(t, "ralph: 1\nlimits: {continuations: 1000}\nrules: [{name: again, continue: go on}]\n"), &scripted{outcomes: slices.Repeat([]run.Outcome{run.OK}, 5)},
			run.WithDir(dir), run.WithLimits(l), sh("true"))
		if err != nil {
			t.Fatal(err)
		}
		events, _ := all(t, t.Context(), r)
		last := events[len(events)-1]
		if last.Ended != run.AtLimit || last.Totals.Iterations != 3 || last.Totals.Tokens != 300 || *last.Totals.Cost != 0.75 {
			t.Errorf("%+v: it ends with %+v", l, last)
		}
	}
}

// Runs that ended a month ago are forgotten, and those of other projects are not.
func TestPrune(t *testing.T) {
	dir, state := project(t)
	other, _ := project(t)
	month := time.Now().Add(-31 * 24 * time.Hour)
	start := func(dir string, opts ...run.Option) string {
		r, err := run.New(load(t, policy), run.Generic(), append(opts, run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""), sh("true"))...)
		if err != nil {
			t.Fatal(err)
		}
		all(t, t.Context(), r)
		return r.ID()
	}
	old, others, young := start(dir, run.WithClock(func() time.Time { return month })), start(other, run.WithClock(func() time.Time { return month })), start(dir)
	kept := map[string]bool{}
	for _, home := range []string{dir, other} {
		infos, err := run.List(t.Context(), loop.LocalStore(state), "", home)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			kept[info.ID] = true
		}
	}
	if diff := cmp.Diff(map[string]bool{others: true, young: true}, kept); diff != "" {
		t.Errorf("kept (-want +got)\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, run.Dir, old)); err == nil {
		t.Error("the directory of the old run still exists")
	}
}
