package temporal

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/ralph-sdk/ralph/run/step"
)

// A play is a run whose worker is played. It notes what the worker does.
type play struct {
	env   *testsuite.TestWorkflowEnvironment
	notes []string
	fails map[string]error // by the note, once
	then  map[string]func()
	want  int // iterations that the policy wants
	asks  int // the iteration after which it asks
	waits int // how often a rule that waits before the first iteration is looked at
	homes []string
}

func (p *play) note(format string, args ...any) (string, error) {
	note := fmt.Sprintf(format, args...)
	p.notes = append(p.notes, note)
	if do := p.then[note]; do != nil {
		delete(p.then, note)
		do()
	}
	err := p.fails[note]
	delete(p.fails, note)
	return note, err
}

func (p *play) settle(_ context.Context, id, base string, _ time.Duration) (string, error) {
	if _, err := p.note("settle %q", base); err != nil {
		return "", err
	}
	if len(p.homes) == 0 {
		return "", sdk.NewNonRetryableApplicationError(errElsewhere.Error(), "elsewhere", nil)
	}
	home := p.homes[0]
	p.homes = p.homes[1:]
	return home, nil
}

func (p *play) do(_ context.Context, c Course) (Done, error) {
	s := c.State
	_, err := p.note("%s %d at %s", s.Due.Kind, s.Iterations, c.Place)
	if err != nil {
		return Done{}, err
	}
	switch s.Due.Kind {
	case step.Iterate:
		return Done{Input: step.Input{Kind: step.Iterated, Iteration: &step.Iteration{Outcome: step.OK}}, Commit: fmt.Sprint("commit", s.Iterations)}, nil
	case step.Merge:
		return Done{Input: step.Input{Kind: step.Merged}}, nil
	case step.Await:
		p.waits--
		return Done{Input: step.Input{Kind: step.Awaited, Waits: p.waits > 0}}, nil
	}
	long := strings.Repeat("x", 2*step.MaxText)
	d := &step.Decision{Action: "continue", Prompt: step.Text{Document: "name", Bytes: len(long)}}
	switch {
	case p.waits > 0:
		d = &step.Decision{Action: "wait", Rule: "ci", Why: "CI", Wait: &step.Awaiting{Until: p.env.Now().Add(time.Hour), Every: time.Minute}}
	case s.Iterations > 0 && c.Documents["name"] != long:
		return Done{}, fmt.Errorf("the prompt is not there")
	case s.Iterations == p.asks && p.asks > 0 && s.Answer.IsZero():
		d = &step.Decision{Action: "ask", End: step.Asked, Why: "which?"}
	case s.Iterations >= p.want:
		d = &step.Decision{Action: "stop", End: step.Success}
	}
	return Done{Input: step.Input{Kind: step.Decided, Decision: d}, Documents: map[string]string{"name": long, "old": long}}, nil
}

func (p *play) signal(in step.Input) func() {
	return func() { p.env.SignalWorkflow(signalInput, in) }
}

func TestRun(t *testing.T) {
	lost := sdk.NewTimeoutError(enums.TIMEOUT_TYPE_HEARTBEAT, nil)
	away := sdk.NewTimeoutError(enums.TIMEOUT_TYPE_SCHEDULE_TO_START, nil)
	for _, c := range []struct {
		name  string
		play  play
		max   int
		notes []string
		end   step.End
		n     int
	}{
		{"until it is done", play{want: 2}, 9, []string{`settle "base"`, "decide 0 at one", "iterate 1 at one", "merge 1 at one", "decide 1 at one", "iterate 2 at one", "merge 2 at one", "decide 2 at one"}, step.Success, 2},
		{"until its limit", play{want: 9}, 1, []string{`settle "base"`, "decide 0 at one", "iterate 1 at one", "merge 1 at one", "decide 1 at one"}, step.AtLimit, 1},
		{"a rule waits, by a timer", play{want: 1, waits: 2}, 9, []string{`settle "base"`, "decide 0 at one", "await 0 at one", "await 0 at one", "decide 0 at one", "iterate 1 at one", "merge 1 at one", "decide 1 at one"}, step.Success, 1},
		{"a lost iteration counts, and is not merged", play{want: 2, homes: []string{"one"}, fails: map[string]error{"iterate 1 at one": lost}}, 2,
			[]string{`settle "base"`, "decide 0 at one", "iterate 1 at one", `settle ""`, "iterate 2 at one", "merge 2 at one", "decide 2 at one"}, step.Success, 2},
		{"three lost iterations end it", play{want: 9, homes: []string{"two", "three"}, fails: map[string]error{"iterate 1 at one": lost, "iterate 2 at two": lost, "iterate 3 at three": lost}}, 9,
			[]string{`settle "base"`, "decide 0 at one", "iterate 1 at one", `settle ""`, "iterate 2 at two", `settle ""`, "iterate 3 at three"}, step.TooManyLost, 3},
		{"a lost decision is made again", play{want: 1, homes: []string{"one"}, fails: map[string]error{"decide 1 at one": lost}}, 9,
			[]string{`settle "base"`, "decide 0 at one", "iterate 1 at one", "merge 1 at one", "decide 1 at one", `settle ""`, "decide 1 at one"}, step.Success, 1},
		{"another worker continues, and nothing counts twice", play{want: 2, homes: []string{"two"}, fails: map[string]error{"iterate 2 at one": away}}, 9,
			[]string{`settle "base"`, "decide 0 at one", "iterate 1 at one", "merge 1 at one", "decide 1 at one", "iterate 2 at one", `settle ""`, "iterate 2 at two", "merge 2 at two", "decide 2 at two"}, step.Success, 2},
		{"no other worker can", play{want: 2, fails: map[string]error{"iterate 2 at one": away}}, 9,
			[]string{`settle "base"`, "decide 0 at one", "iterate 1 at one", "merge 1 at one", "decide 1 at one", "iterate 2 at one", `settle ""`}, step.TooManyLost, 2},
		{"stopped in an iteration", play{want: 9, then: map[string]func(){"iterate 1 at one": nil}}, 9, []string{`settle "base"`, "decide 0 at one", "iterate 1 at one", "merge 1 at one"}, step.Cancelled, 1},
		{"asked and answered", play{want: 2, asks: 1}, 9, []string{`settle "base"`, "decide 0 at one", "iterate 1 at one", "merge 1 at one", "decide 1 at one", "decide 1 at one", "iterate 2 at one", "merge 2 at one", "decide 2 at one"}, step.Success, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			var suite testsuite.WorkflowTestSuite
			p := &c.play
			p.env = suite.NewTestWorkflowEnvironment()
			p.homes = append([]string{"one"}, p.homes...)
			p.env.RegisterWorkflowWithOptions(Run, workflow.RegisterOptions{Name: WorkflowType})
			p.env.RegisterActivityWithOptions(p.settle, activity.RegisterOptions{Name: activitySettle})
			p.env.RegisterActivityWithOptions(p.do, activity.RegisterOptions{Name: activityDo})
			if _, stops := p.then["iterate 1 at one"]; stops {
				p.then["iterate 1 at one"] = p.signal(step.Input{Kind: step.Stop, Why: "enough"})
			}
			if p.asks > 0 {
				p.env.RegisterDelayedCallback(p.signal(step.Input{Kind: step.Answer, Answer: step.Text{Text: "this"}}), time.Minute)
			}
			plan := step.Plan{ID: "r", Policy: "p", Client: "generic", Args: []string{"agent"}, Limits: step.Limits{Iterations: c.max}, Merge: true, Await: true}
			p.env.ExecuteWorkflow(WorkflowType, Course{State: step.New(plan), Base: "base", Silence: time.Minute, Away: time.Hour})
			var status Status
			if err := p.env.GetWorkflowResult(&status); err != nil {
				t.Fatal(err, p.notes)
			}
			if status.Ended != c.end || status.Totals.Iterations != c.n {
				t.Errorf("it ends with %s after %d iterations, want %s after %d", status.Ended, status.Totals.Iterations, c.end, c.n)
			}
			if diff := cmp.Diff(c.notes, p.notes); diff != "" {
				t.Errorf("the worker does (-want +got)\n%s", diff)
			}
		})
	}
}

// A long run continues as a new workflow, with all that its state has: what a person wants of it and what it used. Each iteration
// counts once.
func TestContinueAsNew(t *testing.T) {
	p := &play{want: 2, then: map[string]func(){}}
	plan := step.Plan{ID: "r", Policy: "p", Client: "generic", Args: []string{"agent"}, Limits: step.Limits{Iterations: 9}, Merge: true, Await: true}
	course := Course{State: step.New(plan), Base: "base", Silence: time.Minute, Away: time.Hour}
	p.homes = []string{"one"}
	play := func() error {
		var suite testsuite.WorkflowTestSuite
		p.env = suite.NewTestWorkflowEnvironment()
		p.env.RegisterWorkflowWithOptions(Run, workflow.RegisterOptions{Name: WorkflowType})
		p.env.RegisterActivityWithOptions(p.settle, activity.RegisterOptions{Name: activitySettle})
		p.env.RegisterActivityWithOptions(p.do, activity.RegisterOptions{Name: activityDo})
		if course.State.Paused != "" {
			p.env.RegisterDelayedCallback(p.signal(step.Input{Kind: step.Go}), time.Minute)
		}
		p.env.ExecuteWorkflow(WorkflowType, course)
		return p.env.GetWorkflowError()
	}
	p.then["iterate 1 at one"] = func() {
		p.signal(step.Input{Kind: step.Pause})()
		p.env.SetContinueAsNewSuggested(true)
	}
	var next *workflow.ContinueAsNewError
	if err := play(); !errors.As(err, &next) {
		t.Fatal("it does not continue as new: ", err, p.notes)
	}
	course = Course{}
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &course); err != nil {
		t.Fatal(err)
	}
	if course.State.Paused == "" || course.Place != "one" || course.State.Iterations != 1 {
		t.Errorf("it continues at %q, paused %q, after %d", course.Place, course.State.Paused, course.State.Iterations)
	}
	if err := play(); err != nil {
		t.Fatal(err)
	}
	var status Status
	if err := p.env.GetWorkflowResult(&status); err != nil || status.Ended != step.Success || status.Totals.Iterations != 2 {
		t.Errorf("it ends as %s after %d: %v", status.Ended, status.Totals.Iterations, err)
	}
	want := []string{`settle "base"`, "decide 0 at one", "iterate 1 at one", "merge 1 at one", "decide 1 at one", "iterate 2 at one", "merge 2 at one", "decide 2 at one"}
	if diff := cmp.Diff(want, p.notes); diff != "" {
		t.Errorf("the workers do (-want +got)\n%s", diff)
	}
}

// Workers of another version leave a run alone.
func TestVersion(t *testing.T) {
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.RegisterWorkflowWithOptions(Run, workflow.RegisterOptions{Name: WorkflowType})
	course := Course{State: step.New(step.Plan{ID: "r"})}
	course.State.V++
	env.ExecuteWorkflow(WorkflowType, course)
	if err := env.GetWorkflowError(); err == nil || !strings.Contains(err.Error(), "its workers are too old or too new") {
		t.Error(err)
	}
}

// The workflow continues the runs of earlier releases: their histories, which temporal/e2e -update writes, replay.
func TestHistories(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no histories: ", err)
	}
	for _, file := range files {
		r := worker.NewWorkflowReplayer()
		r.RegisterWorkflowWithOptions(Run, workflow.RegisterOptions{Name: WorkflowType})
		if err := r.ReplayWorkflowHistoryFromJSONFile(nil, file); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
