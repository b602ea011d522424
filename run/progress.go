package run

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"time"

	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
)

// phase is the next step of a run.
type phase string

const (
	first     phase = ""          // get the first prompt
	ready     phase = "ready"     // start an iteration
	iterating phase = "iterating" // an iteration is running
	deciding  phase = "deciding"  // evaluate the policy
	waiting   phase = "waiting"   // a rule waits
)

// progress is the state of a run. With the plan it is all that is needed to continue the run. Its JSON form has the
// fields of its parts.
type progress struct {
	Phase      phase         `json:"phase"`
	End        End           `json:"end,omitempty"`
	Resumed    int           `json:"resumed,omitempty"` // how often it was resumed after its end
	Elapsed    time.Duration `json:"elapsed_ns"`        // that processes of ralph lived for the run
	Iterations int           `json:"iterations"`        // iterations started
	Prompt     string        `json:"prompt,omitempty"`
	Answer     string        `json:"answer,omitempty"` // for the next decision
	Await      *await        `json:"await,omitempty"`  // what a rule waits for
	Agent      process.ID    `json:"agent,omitzero"`   // the running agent
	Seq        int           `json:"seq"`              // number of the latest event
	Event      *Event        `json:"event,omitempty"`

	spending
	tally
	report
	counts
}

// spending is what a run has used.
type spending struct {
	Tokens int      `json:"tokens,omitempty"`
	UsedBy string   `json:"used_by,omitempty"` // the session to which Used applies
	Used   int      `json:"used,omitempty"`
	Cost   *float64 `json:"cost_usd,omitempty"`
}

// tally is how iterations ended.
type tally struct {
	Outcomes map[Outcome]int `json:"outcomes,omitempty"`
	Crashes  int             `json:"crashes,omitempty"` // in a row
	Limited  int             `json:"limited,omitempty"` // rate limits in a row
}

// report is the latest iteration that the policy evaluates.
type report struct {
	Outcome    Outcome   `json:"outcome,omitempty"`
	Text       string    `json:"text,omitempty"`
	Exit       int       `json:"exit,omitempty"`
	Session    string    `json:"session,omitempty"`
	Transcript string    `json:"transcript,omitempty"`
	ResetsAt   time.Time `json:"resets_at,omitzero"` // of any iteration
}

// counts are the memories of a run.
type counts struct {
	Memory  *loop.Entry `json:"memory,omitempty"`
	Counted *loop.Entry `json:"counted,omitempty"` // what the run's session counts for all policies
}

// maxText bounds the agent's last message that is kept for the policy; promises are at its end.
const maxText = 1 << 20

// after records the result of an iteration.
func (p *progress) after(res Result, exit int) {
	p.Agent = process.ID{}
	p.count(res.Outcome)
	p.spend(res)
	p.ResetsAt = res.ResetsAt
	if res.Outcome == RateLimited {
		p.Phase, p.Limited = ready, p.Limited+1
		return
	}
	p.Phase, p.Limited = deciding, 0
	if p.Crashes++; res.Outcome != Crashed {
		p.Crashes = 0
	}
	if len(res.Text) > maxText {
		res.Text = res.Text[len(res.Text)-maxText:]
	}
	p.report = report{Outcome: res.Outcome, Text: res.Text, Exit: exit, Session: res.Session, Transcript: res.Transcript, ResetsAt: res.ResetsAt}
}

// spend adds what an iteration used.
func (s *spending) spend(res Result) {
	s.Tokens = plus(s.Tokens, max(s.tokens(res), 0))
	if res.Cost != nil {
		sum := *res.Cost
		if s.Cost != nil {
			sum += *s.Cost
		}
		s.Cost = &sum
	}
}

// tokens returns the tokens of an iteration: those that a resumed session had used before are already counted.
func (s *spending) tokens(res Result) int {
	if res.Used == 0 {
		return res.Tokens
	}
	before := 0
	if res.Session == s.UsedBy {
		before = s.Used
	}
	s.UsedBy, s.Used = res.Session, res.Used
	return res.Used - before
}

// count counts an outcome, in a new map because events keep the old one.
func (t *tally) count(o Outcome) {
	t.Outcomes = maps.Clone(t.Outcomes)
	if t.Outcomes == nil {
		t.Outcomes = map[Outcome]int{}
	}
	t.Outcomes[o]++
}

// checkpoint is the saved form of a run.
type checkpoint struct {
	V        int      `json:"v"` // the version, 1
	Plan     plan     `json:"plan"`
	Progress progress `json:"progress"`
}

// say numbers an event, then saves it with the progress, writes it to the directory, and yields it. A run killed in
// between writes it when it is resumed.
func (r *Runner) say(ev Event) error {
	ev.V, ev.Time, ev.Run = 1, r.clock.now(), r.plan.ID
	if ev.Kind == AgentOutput {
		r.out.emit(ev)
		return nil
	}
	r.progress.Elapsed, r.clock.counted = r.totals().Elapsed, ev.Time
	r.progress.Seq++
	ev.Seq = r.progress.Seq
	r.progress.Event = &ev
	err := r.keep()
	if err == nil && r.out.directory != nil {
		err = r.out.directory.append(ev)
	}
	r.out.emit(ev)
	return err
}

// keep saves the checkpoint.
func (r *Runner) keep() error {
	if r.kept.disk == nil {
		return nil
	}
	line, err := json.Marshal(checkpoint{1, r.plan, r.progress})
	if err == nil {
		err = r.kept.disk.SaveRun(context.Background(), r.plan.ID, line)
	}
	if err != nil {
		return fmt.Errorf("the run cannot be kept, so it ends: %w", err)
	}
	return nil
}

// recall reads the run to resume. It reads again under the run's lock, since another process may have run it until
// then.
func (r *Runner) recall() error {
	if r.kept.disk == nil {
		return errors.New("a run is resumed from where it was kept: add WithState")
	}
	limits := r.resumed.limits
	c, err := readRun(r.kept.disk, r.resumed.id)
	if err != nil {
		return err
	}
	switch {
	case c.Plan.Policy != r.name:
		return fmt.Errorf("run %s is of the policy %s, not of %s", r.resumed.id, c.Plan.Policy, r.name)
	case c.Plan.Client != r.adapter.Name():
		return fmt.Errorf("run %s is of %s, not of %s", r.resumed.id, c.Plan.Client, r.adapter.Name())
	case c.Progress.End == Success:
		return fmt.Errorf("run %s has ended by success; start a new one", r.resumed.id)
	case r.resumed.answer != "" && c.Progress.End != Asked:
		return fmt.Errorf("run %s asks nothing; resume it without an answer", r.resumed.id)
	}
	if _, err := os.Stat(c.Plan.Root); err != nil {
		return fmt.Errorf("the project cannot be used: %w", err)
	}
	if err := r.reported(limits); err != nil {
		return err
	}
	r.plan, r.progress = c.Plan, c.Progress
	old := r.plan.Limits
	r.plan.Limits = Limits{
		Iterations: cmp.Or(limits.Iterations, old.Iterations), Elapsed: cmp.Or(limits.Elapsed, old.Elapsed),
		Tokens: cmp.Or(limits.Tokens, old.Tokens), Cost: cmp.Or(limits.Cost, old.Cost),
	}
	if r.progress.End != "" {
		r.progress.Resumed++ // another turn, in which the policy decides before it waits
		if r.progress.Phase == waiting {
			r.progress.Phase = deciding
		}
	}
	r.progress.End, r.progress.Crashes, r.progress.Answer = "", 0, cmp.Or(r.resumed.answer, r.progress.Answer)
	return nil
}

func readRun(disk *store.Store, id string) (c checkpoint, err error) {
	line, err := disk.LoadRun(id)
	if err == nil {
		err = json.Unmarshal(line, &c)
	}
	if err == nil && (c.V != 1 || c.Plan.ID != id) {
		err = errors.New("it is not in the form of this version")
	}
	switch {
	case errors.Is(err, store.ErrNoRun):
		return c, fmt.Errorf("%w: %s", store.ErrNoRun, id)
	case err != nil:
		return c, fmt.Errorf("run %s cannot be read: %w", id, err)
	}
	return c, nil
}

// hold takes the lock of the policy in its project: two runs of one policy would work on the same task.
func (r *Runner) hold(ctx context.Context) (release func(), err error) {
	release, live, err := r.kept.disk.Hold(ctx, r.kept.disk.RunLease(r.plan.Root, r.plan.Policy), r.plan.ID)
	if live != "" {
		err = endf(Failed, "run %s of %s works in %s; wait for it, stop it, or run this one in a separate worktree", live, r.plan.Policy, r.plan.Root)
	}
	return release, err
}
