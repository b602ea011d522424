package temporal

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/run/step"
)

var watch run.Watch

func TestMain(m *testing.M) {
	watch = run.Watched()
	os.Exit(m.Run())
}

// counting is a policy that continues until a file has three lines, and writes what it saw into another one.
const counting = `ralph: 1
facts:
  lines: {text: lines, default: ""}
rules:
  - name: done
    when: len(split(trim(lines), "\n")) >= 3
    stop: three lines
    success: true
  - name: more
    continue: Add a line.
`

// offline is a client without a server.
type offline struct{ client.Client }

// projectOf opens the project of a clone, with a policy count.
func projectOf(t *testing.T, p places, policy string) *project.Project {
	t.Helper()
	sh(t, p.project, "mkdir .ralph")
	if err := os.WriteFile(filepath.Join(p.project, ".ralph/count.yaml"), []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	project, err := project.Open(project.Config{Dir: p.project, State: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { project.Close() })
	return project
}

// A worker carries out a run with real trees and a real agent: each iteration is a commit on the run's branch, which is on the
// remote, and what git ignores is not.
func TestWorker(t *testing.T) {
	for _, c := range []struct {
		name, agent string
		max         int
		end         run.End
		iterations  int
		lines       string
	}{
		{"until the policy is content", `cat >/dev/null; echo $RALPH_RUN >>lines; echo x >>ignored`, 5, run.Success, 3, "r r r"},
		{"until its limit", `echo one >>lines`, 2, run.AtLimit, 2, "one one"},
		{"the agent fails", `echo half >>lines; exit 3`, 1, run.AtLimit, 1, "half"},
		{"an agent that cannot be started", "", 3, run.Failed, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			one, _, base := clones(t)
			p := projectOf(t, one, counting)
			w, err := NewWorker(t.Context(), offline{}, p, Options{Remote: "origin", Watch: watch})
			if err != nil {
				t.Fatal(err)
			}
			w.beat = func(context.Context, []byte) error { return nil }
			agent := []string{"sh", "-c", c.agent}
			if c.agent == "" {
				agent = []string{"no-such-program-of-ralph"}
			}
			r, err := p.Run(t.Context(), project.RunRequest{Policy: "count", Agent: agent, Limits: run.Limits{Iterations: c.max}})
			if err != nil {
				t.Fatal(err)
			}
			s, documents := r.State()
			s.Plan.ID, s.Plan.Merge, s.Plan.Await = "r", true, true
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestWorkflowEnvironment()
			env.SetTestTimeout(time.Minute)
			env.RegisterWorkflowWithOptions(Run, workflow.RegisterOptions{Name: WorkflowType})
			env.RegisterActivityWithOptions(w.settle, activity.RegisterOptions{Name: activitySettle})
			env.RegisterActivityWithOptions(w.do, activity.RegisterOptions{Name: activityDo})
			env.ExecuteWorkflow(WorkflowType, Course{State: s, Documents: documents, Base: base, Silence: 2 * time.Minute, Away: time.Hour})
			var status Status
			if err := env.GetWorkflowResult(&status); err != nil {
				t.Fatal(err)
			}
			if status.Ended != c.end || status.Totals.Iterations != c.iterations {
				t.Errorf("it ended as %s after %d: %s; want %s after %d", status.Ended, status.Totals.Iterations, status.Why, c.end, c.iterations)
			}
			sh(t, one.project, "git fetch -q origin ralph/r")
			if c.iterations > 0 {
				if lines := strings.Join(strings.Fields(sh(t, one.project, "git show FETCH_HEAD:lines")), " "); lines != c.lines {
					t.Errorf("the remote has the lines %q, want %q", lines, c.lines)
				}
			}
			if left := sh(t, one.project, "ls "+one.dir+"; git branch --list 'ralph/r.*'; git worktree list | sed 1d"); left != "" {
				t.Errorf("left are %q", left)
			}
		})
	}
}

// What a person does not want, and what cannot be, is refused before anything starts.
func TestStartRefuses(t *testing.T) {
	one, _, _ := clones(t)
	p := projectOf(t, one, strings.Replace(counting, "text: lines,", "text: ignored,", 1))
	agent := []string{"sh"}
	for want, q := range map[string]Request{
		"which git ignores":   {Run: project.RunRequest{Policy: "count", Agent: agent}},
		"the ID of a run":     {ID: "a.b", Run: project.RunRequest{Policy: "count", Agent: agent}},
		"leave out Worktree":  {Run: project.RunRequest{Policy: "count", Agent: agent, Worktree: true}},
		"there is no agent":   {Run: project.RunRequest{Policy: "count"}},
		"must not be negativ": {Silence: -1, Run: project.RunRequest{Policy: "count", Agent: agent}},
	} {
		if _, err := Start(t.Context(), offline{}, p, q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	for want, in := range map[string]step.Input{"a person sends": {Kind: step.Lost}, "an answer must have": {Kind: step.Answer}} {
		if err := Send(t.Context(), offline{}, "r", in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	if _, err := NewWorker(t.Context(), offline{}, p, Options{Remote: "nowhere"}); err == nil || !strings.Contains(err.Error(), "--remote must name") {
		t.Errorf("a remote that is none: %v", err)
	}
}

// An attempt whose worker ends, or for which the server no longer waits, ends its agent. What it made is on the attempt's branch, and
// nothing of it counts. One that is cancelled ends its agent too, and counts.
func TestAttemptEnds(t *testing.T) {
	for _, c := range []struct {
		name string
		beat error // of heartbeats once the agent works
		err  string
	}{
		{"the worker ends", nil, errDrained.Error()},
		{"the server counted it as lost", serviceerror.NewNotFound("no"), errGone.Error()},
		{"it is cancelled", sdk.NewCanceledError(), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			one, _, base := clones(t)
			sh(t, one.project, "mkfifo ../started")
			p := projectOf(t, one, counting)
			w, err := NewWorker(t.Context(), offline{}, p, Options{Watch: watch})
			if err != nil {
				t.Fatal(err)
			}
			over, end := context.WithCancel(t.Context())
			defer end()
			w.over = over
			var working atomic.Bool
			w.beat = func(context.Context, []byte) error {
				if working.Load() {
					return c.beat
				}
				return nil
			}
			pid := filepath.Join(t.TempDir(), "pid")
			started := filepath.Join(filepath.Dir(one.project), "started")
			agent := []string{"sh", "-c", "echo half >half; echo $$ >" + pid + "; echo >" + started + "; exec sleep 1000"}
			r, err := p.Run(t.Context(), project.RunRequest{Policy: "count", Agent: agent, Limits: run.Limits{Iterations: 2}})
			if err != nil {
				t.Fatal(err)
			}
			course := Course{Base: base, Silence: time.Second}
			course.State, course.Documents = r.State()
			course.State.Plan.ID = "r"
			var suite testsuite.WorkflowTestSuite
			env := suite.NewTestActivityEnvironment()
			env.RegisterActivityWithOptions(w.do, activity.RegisterOptions{Name: activityDo})
			if err := w.places.settle(t.Context(), "r", base); err != nil {
				t.Fatal(err)
			}
			do := func() (done Done, err error) {
				v, err := env.ExecuteActivity(activityDo, course)
				if err == nil {
					err = v.Get(&done)
				}
				return done, err
			}
			course.State, _, _ = course.State.Step(step.Input{Kind: step.Start, At: time.Unix(1, 0)})
			done, err := do()
			if err != nil {
				t.Fatal(err)
			}
			done.Input.Key, done.Input.At = course.State.Due.Key, time.Unix(2, 0)
			course.State, _, _ = course.State.Step(done.Input)
			go func() {
				if _, err := os.ReadFile(started); err != nil { // until the agent has written to it
					t.Error(err)
				}
				if working.Store(true); c.beat == nil {
					end()
				}
			}()
			done, err = do()
			if (c.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("the attempt ends with %v, want %q", err, c.err)
			}
			if it := done.Input.Iteration; c.err == "" && (it == nil || it.Outcome != run.Interrupted) {
				t.Errorf("the iteration is %+v", it)
			}
			if half := sh(t, one.project, "git show "+branchOf(dotted("r", strings.TrimPrefix(course.State.Due.Key, "r/")))+":half"); half != "half" {
				t.Errorf("the attempt's branch has %q", half)
			}
			if alive := sh(t, one.project, "kill -0 $(cat "+pid+") 2>/dev/null && echo alive || true"); alive != "" {
				t.Error("the agent is still alive")
			}
		})
	}
}

// A decision that was made, and whose answer got lost, is made again from the same state, with the same key: it counts once, what it
// wrote counts once, and the log has it once.
func TestDecidedTwice(t *testing.T) {
	one, _, _ := clones(t)
	sh(t, one.project, `echo '{"rounds": 4}' >build.json; git add build.json; git commit -qm build`)
	base := sh(t, one.project, "git rev-parse HEAD")
	p := projectOf(t, one, `ralph: 1
facts:
  build: {json: build.json}
rules:
  - name: more
    when: build.rounds < 99
    continue: Round ${build.rounds}.
    then: [{set: build.rounds = build.rounds + 1}]
`)
	w, err := NewWorker(t.Context(), offline{}, p, Options{Remote: "origin", Watch: watch})
	if err != nil {
		t.Fatal(err)
	}
	w.beat = func(context.Context, []byte) error { return nil }
	r, err := p.Run(t.Context(), project.RunRequest{Policy: "count", Agent: []string{"sh"}})
	if err != nil {
		t.Fatal(err)
	}
	course := Course{Base: base, Silence: time.Minute}
	course.State, course.Documents = r.State()
	course.State.Plan.ID = "r"
	course.State, _, _ = course.State.Step(step.Input{Kind: step.Start, At: time.Unix(1, 0)})
	if err := w.places.settle(t.Context(), "r", base); err != nil {
		t.Fatal(err)
	}
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestActivityEnvironment()
	env.RegisterActivityWithOptions(w.do, activity.RegisterOptions{Name: activityDo})
	var texts []string
	for range 2 {
		v, err := env.ExecuteActivity(activityDo, course)
		if err != nil {
			t.Fatal(err)
		}
		var done Done
		if err := v.Get(&done); err != nil || done.Input.Decision == nil {
			t.Fatal(done.Input, err)
		}
		texts = append(texts, done.Input.Decision.Prompt.Text, sh(t, one.project, "git show "+done.Commit+":build.json"))
	}
	if want := []string{"Round 4.", `{"rounds": 5}`, "Round 4.", `{"rounds": 5}`}; !slices.Equal(texts, want) {
		t.Errorf("it decides %q, want %q", texts, want)
	}
	var ids []string
	for record, err := range loop.LocalStore(filepath.Dir(w.places.dir)).(loop.Log).Records(t.Context(), loop.LogFilter{Root: w.places.tree("r", "0/1")}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, record.ID)
	}
	if !slices.Equal(ids, []string{course.State.Due.Key}) {
		t.Errorf("the log has the decisions %q, want %q", ids, course.State.Due.Key)
	}
}
