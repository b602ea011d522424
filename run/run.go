package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run/step"
)

// Runner is one run of an agent. Use [New] to make one. It runs only once.
type Runner struct {
	used    atomic.Bool
	adapter Adapter
	name    string // of the policy
	loop    *loop.Loop
	plan    step.Plan
	prompt  string // the plan's, before it is kept

	loopOptions []loop.Option
	env         []string
	watch       Watch
	kept        kept
	resumed     resumption
	user        user

	clock  clock
	saved  checkpoint
	making *making // the decision under way
	out    outlet
}

// kept is where a run keeps itself, and what loops of its project share.
type kept struct {
	runs   *runs  // nil: nothing is kept, and nothing shared
	line   []byte // this one, as it was saved last
	driven bool   // by another driver
}

// resumption is the run to resume, and what its options change.
type resumption struct {
	id     string // "": it is a new run
	answer string // to the question of the run, "" for none
	limits Limits // zero fields are those of the run
}

// user is how a user ends or pauses a run.
type user struct {
	interrupt <-chan struct{}
	control   func() Control
}

// clock is the time of a run.
type clock struct {
	now   func() time.Time
	hasty bool // waits for better times are over at once
}

// outlet is where the events of a run go.
type outlet struct {
	directory *directory // nil: none
	emit      func(Event)
}

// New returns a run of a policy with a client. It returns an error if options conflict.
func New(p *rules.Program, a Adapter, opts ...Option) (*Runner, error) {
	switch {
	case p == nil:
		return nil, errors.New("there is no policy")
	case a == nil || a.Name() == "":
		return nil, errors.New("there is no adapter, or it has no name")
	}
	if f, ok := a.(function); ok && f.f == nil {
		return nil, fmt.Errorf("the agent %s has no function: give one to run.Func", f.name)
	}
	r := &Runner{
		adapter: a, user: user{control: func() Control { return GoOn }}, out: outlet{emit: func(Event) {}},
	}
	for i, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("option %d of %d of the run is nil: leave it out", i+1, len(opts))
		}
		if err := o(r); err != nil {
			return nil, err
		}
	}
	if r.kept.driven && (r.kept.runs != nil || r.resumed.id != "") {
		return nil, errors.New("a run that another driver drives is kept and resumed by that one: leave out WithStore and Resume")
	}
	if r.resumed.answer != "" && r.resumed.id == "" {
		return nil, errors.New("an answer is for a run that asked: add Resume")
	}
	r.fill(p)
	if err := r.prepare(p); err != nil {
		return nil, err
	}
	l, err := loop.New(p, slices.Concat(r.loopOptions, r.stored(), []loop.Option{loop.WithName(r.name), loop.WithRoot(r.plan.Root), loop.WithFacts(r.facts)})...)
	if err != nil {
		return nil, fmt.Errorf("the loop of the run: %w", err)
	}
	r.loop = l
	return r, nil
}

// fill sets what no option has set.
func (r *Runner) fill(p *rules.Program) {
	r.name = cmp.Or(r.name, p.Name)
	if r.clock.now == nil {
		r.clock.now = time.Now
	}
	if r.env == nil {
		r.env = os.Environ()
	}
}

// prepare completes the plan, or reads the plan of the run to resume.
func (r *Runner) prepare(p *rules.Program) error {
	if r.kept.driven {
		return nil
	}
	if r.resumed.id != "" {
		_, err := r.recall()
		return err
	}
	pl := &r.plan
	_, function := r.adapter.(function)
	if len(pl.Args) == 0 && function {
		pl.Args = []string{r.adapter.Name()}
	}
	if len(pl.Args) == 0 {
		return errors.New("there is no agent to run: name its program")
	}
	if pl.Home == "" {
		pl.Home = pl.Root
	}
	for _, dir := range []*string{&pl.Root, &pl.Home} {
		abs, err := filepath.Abs(*dir)
		if err == nil {
			*dir, err = filepath.EvalSymlinks(abs)
		}
		if err != nil {
			return fmt.Errorf("the project cannot be used: %w", err)
		}
	}
	pl.Policy, pl.Client = r.name, r.adapter.Name()
	pl.Started = r.clock.now()
	pl.ID = newID(pl.Started)
	if pl.Iteration == 0 {
		pl.Iteration = DefaultIteration
	}
	of := p.Limits()
	if err := r.reported(Limits{Tokens: max(pl.Limits.Tokens, of.Tokens), Cost: max(pl.Limits.Cost, of.Cost), Window: pl.Limits.Window}); err != nil {
		return err
	}
	// The policy's limits replace the defaults. The loop itself enforces a lower elapsed limit.
	if pl.Limits.Iterations == 0 {
		pl.Limits.Iterations = cmp.Or(of.Iterations, DefaultIterations)
	}
	if pl.Limits.Elapsed == 0 {
		pl.Limits.Elapsed = max(of.Elapsed, DefaultElapsed)
	}
	r.saved.Texts = map[string]string{}
	pl.Prompt = r.put(r.prompt)
	if err := pl.Check(); err != nil {
		return err
	}
	r.saved.State = step.New(*pl)
	inv := Invocation{Args: pl.Args, Prompt: "prompt", Dir: pl.Root}
	fresh, err := r.adapter.Command(inv)
	if err != nil || !pl.Continue || function {
		return err
	}
	inv.Session = "00000000-0000-7000-8000-000000000000"
	if on, err := r.adapter.Command(inv); err == nil && slices.Equal(fresh.Args, on.Args) && slices.Equal(fresh.Env, on.Env) {
		return fmt.Errorf("%s cannot continue a session: use a fresh one for each iteration", r.adapter.Name())
	}
	return nil
}

// reported returns an error for a limit on what the client does not report, since it would never be reached.
func (r *Runner) reported(l Limits) error {
	can := r.adapter.Reports()
	switch {
	case l.Tokens > 0 && !can.Tokens:
		return fmt.Errorf("%s does not report tokens, so they cannot be limited", r.adapter.Name())
	case l.Cost > 0 && !can.Cost:
		return fmt.Errorf("%s does not report its cost, so it cannot be limited", r.adapter.Name())
	case l.Window > 0 && !can.Window:
		return fmt.Errorf("%s does not report how much of its usage window is used, so that cannot be limited", r.adapter.Name())
	}
	return nil
}

// ID returns the ID of the run.
func (r *Runner) ID() string {
	if r == nil {
		return ""
	}
	return r.plan.ID
}

// State returns the state of the run: of a new one, that with which another driver can begin.
func (r *Runner) State() step.State {
	if r == nil {
		return step.State{}
	}
	return r.saved.State
}

// Documents returns the texts that the state of the run and the answers to its commands name.
func (r *Runner) Documents() map[string]string {
	if r == nil {
		return nil
	}
	return maps.Clone(r.saved.Texts)
}

// Limits returns the limits of the run, with the defaults.
func (r *Runner) Limits() Limits {
	if r == nil {
		return Limits{}
	}
	return r.plan.Limits
}

// Run yields the events of the run as they happen; the last one is a run_end. Breaking out of the range loop, or a done
// ctx, ends the run: Run ends the agent and all processes that it started before it returns. If the Runner was already
// used or was not made by [New], or if ctx is nil, the only event is a run_end with the error in Why.
func (r *Runner) Run(ctx context.Context) iter.Seq[Event] {
	return func(yield func(Event) bool) {
		why := ""
		switch {
		case r == nil || r.loop == nil:
			why = "New did not make this run"
		case r.kept.driven:
			why = "another driver drives this run"
		case ctx == nil:
			why = "the run has no context"
		case r.used.Swap(true):
			why = "a Runner runs once, and this one was used already; make another with New"
		}
		if why != "" {
			yield(Event{V: 1, Kind: RunEnd, Time: time.Now(), Run: r.ID(), Ended: Failed, Why: why})
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		watched := true
		r.out.emit = func(ev Event) {
			if watched && !yield(ev) {
				watched = false
				cancel()
			}
		}
		r.run(ctx)
	}
}
