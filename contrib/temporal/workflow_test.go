package temporal

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// play is a workflow on a stage without a server. Its policy is done after a number of good iterations.
type play struct {
	*testsuite.TestWorkflowEnvironment
	done    int
	plays   []func(p *play) (run.Iteration, error) // iterations; good ones after these
	said    []string
	good    int
	decides func() // is called within a decision
}

func newPlay(done int, plays ...func(p *play) (run.Iteration, error)) *play {
	p := &play{done: done, plays: plays, decides: func() {}}
	p.begin()
	return p
}

func (p *play) begin() {
	var suite testsuite.WorkflowTestSuite
	p.TestWorkflowEnvironment = suite.NewTestWorkflowEnvironment()
	p.RegisterWorkflowWithOptions(Run, workflow.RegisterOptions{Name: WorkflowType})
	p.RegisterActivityWithOptions(p.decide, activity.RegisterOptions{Name: activityDecide})
	p.RegisterActivityWithOptions(p.iterate, activity.RegisterOptions{Name: activityIterate})
}

func (p *play) decide(_ context.Context, s run.State) (run.Input, error) {
	p.decides()
	d := run.Decision{Outcome: rules.Continued, Rule: "next", Reason: "go on"}
	if p.good >= p.done {
		d = run.Decision{Outcome: rules.Done, Rule: "done"}
	}
	p.said = append(p.said, fmt.Sprintf("decide %d: %s", s.Decision, d.Outcome))
	return run.Input{Kind: run.Decided, Decision: d}, nil
}

func (p *play) iterate(_ context.Context, s run.State, cmd run.Command) (run.Input, error) {
	it, err := run.Iteration{Outcome: run.OK}, error(nil)
	if len(p.plays) > 0 {
		it, err = p.plays[0](p)
		p.plays = p.plays[1:]
	}
	if it.Outcome == run.OK {
		p.good++
	}
	p.said = append(p.said, fmt.Sprintf("iterate %d: %s%v", s.Iteration, it.Outcome, err))
	return run.Input{Kind: run.Iterated, Iteration: it}, err
}

func (p *play) signal(name string, arg any) func() {
	return func() { p.SignalWorkflow(name, arg) }
}

func (p *play) run(s run.State) (end run.State, err error) {
	p.ExecuteWorkflow(WorkflowType, Course{State: s})
	if err = p.GetWorkflowError(); err == nil {
		err = p.GetWorkflowResult(&end)
	}
	return end, err
}

func state(t *testing.T, most int) run.State {
	t.Helper()
	s, err := run.New(run.Plan{ID: "r1", Name: "policy", Args: []string{"agent"}, Limits: run.Limits{Max: most}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ends(outcome string) func(*play) (run.Iteration, error) {
	return func(*play) (run.Iteration, error) { return run.Iteration{Outcome: outcome}, nil }
}

// The workflow drives the step: what the activities do, and how the run ends.
func TestRun(t *testing.T) {
	lost := func(*play) (run.Iteration, error) {
		return run.Iteration{}, sdk.NewNonRetryableApplicationError("gone", "lost", nil)
	}
	for _, c := range []struct {
		name string
		play *play
		most int
		end  run.End
		said []string
	}{
		{"done", newPlay(2), 9, run.End{Outcome: rules.Done, Rule: "done", Decided: true},
			[]string{"decide 0: continued", "iterate 1: ok<nil>", "decide 1: continued", "iterate 2: ok<nil>", "decide 2: done"}},
		{"a limit", newPlay(9), 1, run.End{Outcome: rules.Limit, Rule: "--max", Reason: "1 of 1 iterations were started"},
			[]string{"decide 0: continued", "iterate 1: ok<nil>", "decide 1: continued"}},
		{"an iteration that is lost counts", newPlay(1, lost), 2, run.End{Outcome: rules.Done, Rule: "done", Decided: true},
			[]string{"decide 0: continued", "iterate 1: gone (type: lost, retryable: false)", "decide 1: continued", "iterate 2: ok<nil>", "decide 2: done"}},
		{"a rest", newPlay(1, ends(run.RateLimited)), 9, run.End{Outcome: rules.Done, Rule: "done", Decided: true},
			[]string{"decide 0: continued", "iterate 1: rate_limited<nil>", "decide 0: continued", "iterate 2: ok<nil>", "decide 1: done"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := c.play.run(state(t, c.most))
			if err != nil {
				t.Fatal(err, c.play.said)
			}
			if diff := cmp.Diff(&c.end, s.End); diff != "" {
				t.Errorf("the end (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.said, c.play.said); diff != "" {
				t.Errorf("the activities (-want +got)\n%s", diff)
			}
		})
	}
	t.Run("three in a row", func(t *testing.T) {
		if s, err := newPlay(1, lost, lost, lost).run(state(t, 9)); err != nil || s.End.Outcome != run.Lost || s.Iteration != 3 {
			t.Errorf("%v, %+v after %d", err, s.End, s.Iteration)
		}
	})
}

// A stop lets the iteration end; then the run waits, and goes on with another limit.
func TestStopAndContinue(t *testing.T) {
	p := newPlay(3, func(p *play) (run.Iteration, error) {
		p.signal(SignalStop, nil)()
		return run.Iteration{Outcome: run.OK}, nil
	})
	var waiting run.State
	p.RegisterDelayedCallback(func() {
		v, err := p.QueryWorkflow(QueryState)
		if err == nil {
			err = v.Get(&waiting)
		}
		if err != nil {
			t.Error(err)
		}
		p.signal(SignalContinue, run.Limits{Max: 2})()
	}, time.Hour)
	s, err := p.run(state(t, 9))
	if err != nil || waiting.End == nil || waiting.End.Outcome != run.Interrupted || waiting.Iteration != 1 {
		t.Errorf("after the stop: %v, %+v", err, waiting)
	}
	if s.End == nil || s.End.Rule != "--max" || s.Iteration != 2 || s.Resumed != 1 || s.Spent.Elapsed > time.Minute {
		t.Errorf("at the end: %+v", s)
	}
}

// A run that was stopped, and that a person forgets or cancels, ends.
func TestStopped(t *testing.T) {
	for name, then := range map[string]func(p *play){
		"forgotten": func(*play) {},
		"cancelled": func(p *play) { p.RegisterDelayedCallback(p.CancelWorkflow, time.Hour) },
	} {
		p := newPlay(3)
		p.RegisterDelayedCallback(func() {
			p.SignalWorkflow(SignalContinue, nil) // before the stop, to which it does not belong
			p.SignalWorkflow(SignalStop, nil)
		}, 0)
		then(p)
		if s, err := p.run(state(t, 9)); err != nil || s.End == nil || s.End.Outcome != run.Interrupted {
			t.Errorf("%s: %v, %+v", name, err, s)
		}
	}
}

// A stop ends a rest.
func TestStopInRest(t *testing.T) {
	p := newPlay(1, func(*play) (run.Iteration, error) {
		return run.Iteration{Outcome: run.RateLimited, Resets: time.Now().Add(10 * time.Hour)}, nil
	})
	p.RegisterDelayedCallback(p.signal(SignalStop, nil), time.Hour)
	p.RegisterDelayedCallback(p.CancelWorkflow, 2*time.Hour)
	if s, err := p.run(state(t, 9)); err != nil || s.Iteration != 1 || s.End == nil || s.End.Outcome != run.Interrupted || s.Spent.Elapsed > 90*time.Minute {
		t.Errorf("%v, %+v", err, s)
	}
}

// A person who stops a run and then wants it to go on is heard, whatever it does meanwhile.
func TestContinueAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		iterate, decide []string
		resumed         int
	}{
		"within the iteration":         {[]string{SignalStop, SignalContinue}, nil, 0},
		"within the decision after it": {[]string{SignalStop}, []string{SignalContinue}, 1},
		"a continue without a stop":    {[]string{SignalContinue}, nil, 0},
	} {
		p := newPlay(2, func(p *play) (run.Iteration, error) {
			for _, signal := range c.iterate {
				p.SignalWorkflow(signal, run.Limits{})
			}
			return run.Iteration{Outcome: run.OK}, nil
		})
		p.decides = func() {
			if p.good == 1 {
				for _, signal := range c.decide {
					p.SignalWorkflow(signal, run.Limits{})
				}
				c.decide = nil
			}
		}
		if s, err := p.run(state(t, 9)); err != nil || s.End.Outcome != rules.Done || s.Iteration != 2 || s.Resumed != c.resumed {
			t.Errorf("%s: %v, %+v", name, err, s)
		}
	}
}

// A run that is cancelled ends, also if its worker is lost before it says so.
func TestCancelled(t *testing.T) {
	s, err := newPlay(2, func(p *play) (run.Iteration, error) {
		p.CancelWorkflow()
		return run.Iteration{}, errors.New("gone")
	}).run(state(t, 9))
	if err != nil || s.Iteration != 1 || s.End == nil || s.End.Reason != "the iteration was interrupted" {
		t.Errorf("%v, %+v", err, s.End)
	}
}

// A long run goes on as a new workflow, with exact counts.
func TestContinueAsNew(t *testing.T) {
	p := newPlay(2, func(p *play) (run.Iteration, error) {
		p.SetContinueAsNewSuggested(true)
		return run.Iteration{Outcome: run.OK}, nil
	})
	_, err := p.run(state(t, 9))
	var next *workflow.ContinueAsNewError
	if !errors.As(err, &next) {
		t.Fatalf("it does not go on as a new workflow: %v", err)
	}
	var c Course
	if err := converter.GetDefaultDataConverter().FromPayloads(next.Input, &c); err != nil {
		t.Fatal(err)
	}
	p.begin()
	if s, err := p.run(c.State); err != nil || s.End == nil || s.End.Outcome != rules.Done || s.Iteration != 2 || s.Resumed != 0 {
		t.Errorf("%v, %+v", err, s)
	}
	p = newPlay(2, func(p *play) (run.Iteration, error) { // a stop is not forgotten
		p.SetContinueAsNewSuggested(true)
		p.SignalWorkflow(SignalStop, nil)
		return run.Iteration{Outcome: run.OK}, nil
	})
	if s, err := p.run(state(t, 9)); err != nil || s.End == nil || s.End.Outcome != run.Interrupted {
		t.Errorf("stopped: %v, %+v", err, s)
	}
}

func TestVersion(t *testing.T) {
	s := state(t, 1)
	s.Version++
	if _, err := newPlay(1).run(s); err == nil {
		t.Error("a run of another version is driven")
	}
}

// The workflow still drives the runs of earlier versions: their histories replay. TestEndToEnd -update writes this one.
func TestHistory(t *testing.T) {
	r := worker.NewWorkflowReplayer()
	r.RegisterWorkflowWithOptions(Run, workflow.RegisterOptions{Name: WorkflowType})
	if err := r.ReplayWorkflowHistoryFromJSONFile(nil, "testdata/history.json"); err != nil {
		t.Error(err)
	}
}
