package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Runner is one run of an agent. Use [New] to make one. It runs only once.
type Runner struct {
	used    atomic.Bool
	adapter Adapter
	name    string // of the policy
	loop    *loop.Loop
	plan    plan

	loopOptions []loop.Option
	env         []string
	watch       Watch
	kept        kept
	resumed     resumption
	user        user

	clock    clock
	progress progress
	out      outlet
}

// kept is where a run keeps itself, and what loops of its project share.
type kept struct {
	disk    *store.Store // nil: nothing is kept
	project loop.Store
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
	now     func() time.Time
	backoff func(n int) time.Duration // before retry n, from 1
	counted time.Time                 // until when progress has the time that this process lived
}

// outlet is where the events of a run go.
type outlet struct {
	directory *directory // nil: none
	emit      func(Event)
}

// plan is what a run should do. Only its limits can change, when the run is resumed.
type plan struct {
	ID        string        `json:"id"`
	Root      string        `json:"root"`
	Home      string        `json:"home"`            // the project that lists the run
	Files     string        `json:"files,omitempty"` // where Dir is, if not in Home
	Policy    string        `json:"policy"`
	Client    string        `json:"client"`
	Args      []string      `json:"args"`
	Prompt    string        `json:"prompt,omitempty"`
	Said      string        `json:"said,omitempty"`
	Limits    Limits        `json:"limits"`
	Iteration time.Duration `json:"iteration_ns"`
	Continue  bool          `json:"continue,omitempty"`
	Started   time.Time     `json:"started"`

	Labels map[string]string `json:"labels,omitempty"`
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
		adapter: a, user: user{control: func() Control { return GoOn }}, clock: clock{backoff: backoff},
	}
	for i, o := range opts {
		if o == nil {
			return nil, fmt.Errorf("option %d of %d of the run is nil: leave it out", i+1, len(opts))
		}
		if err := o(r); err != nil {
			return nil, err
		}
	}
	if r.resumed.answer != "" && r.resumed.id == "" {
		return nil, errors.New("an answer is for a run that asked: add Resume")
	}
	r.fill(p)
	if err := r.prepare(p); err != nil {
		return nil, err
	}
	l, err := loop.New(p, append(r.loopOptions, loop.WithName(r.name), loop.WithRoot(r.plan.Root), loop.WithStore(memories{r}), loop.WithFacts(r.facts))...)
	if err != nil {
		return nil, fmt.Errorf("the loop of the run: %w", err)
	}
	r.loop = l
	return r, nil
}

// fill sets what no option has set.
func (r *Runner) fill(p *rules.Program) {
	r.name = cmp.Or(r.name, p.Name)
	if r.kept.project == nil {
		r.kept.project = loop.InMemory()
	}
	if r.clock.now == nil {
		r.clock.now = time.Now
	}
	if r.env == nil {
		r.env = os.Environ()
	}
}

// prepare completes the plan, or reads the plan of the run to resume.
func (r *Runner) prepare(p *rules.Program) error {
	if r.resumed.id != "" {
		return r.recall()
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
	if err := r.reported(Limits{Tokens: max(pl.Limits.Tokens, of.Tokens), Cost: max(pl.Limits.Cost, of.Cost)}); err != nil {
		return err
	}
	// The policy's limits replace the defaults. The loop itself enforces a lower elapsed limit.
	if pl.Limits.Iterations == 0 {
		pl.Limits.Iterations = cmp.Or(of.Iterations, DefaultIterations)
	}
	if pl.Limits.Elapsed == 0 {
		pl.Limits.Elapsed = max(of.Elapsed, DefaultElapsed)
	}
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

// ended is an error that ends a run, with the reason.
type ended struct {
	end    End
	rule   string
	limit  string
	why    string
	resets *time.Time
}

func (e *ended) Error() string { return e.why }

func endf(end End, format string, args ...any) *ended {
	return &ended{end: end, why: fmt.Sprintf(format, args...)}
}

func (r *Runner) run(ctx context.Context) {
	r.clock.counted = r.clock.now()
	release, err := r.begin(ctx)
	if release != nil {
		defer release()
	}
	for err == nil {
		err = r.step(ctx)
	}
	var e *ended
	if !errors.As(err, &e) {
		e = endf(Failed, "%s", err)
	}
	last := Event{Kind: RunEnd, Ended: e.end, Rule: e.rule, Limit: e.limit, Why: e.why, Resets: e.resets, Totals: r.totals()}
	if release == nil { // the kept run belongs to the process that holds its lock
		last.V, last.Time, last.Run = 1, r.clock.now(), r.plan.ID
		r.out.emit(last)
		return
	}
	r.progress.End = e.end
	_ = r.say(last)
	if r.out.directory != nil {
		r.out.directory.close()
	}
}

// begin takes the run's lock, opens its directory, and yields the first event. release is nil if it did not take the
// lock.
func (r *Runner) begin(ctx context.Context) (release func(), err error) {
	release = func() {}
	if r.kept.disk != nil {
		if release, err = r.hold(ctx); err != nil {
			return nil, err
		}
	}
	kind := RunStart
	if r.resumed.id != "" {
		kind = RunResume
		if err := r.recall(); err != nil {
			release()
			return nil, err
		}
		process.Leftovers(r.progress.Agent, r.mark(), grace) // a previous process of this run was killed
	}
	if r.kept.disk != nil {
		if err := r.openDirectory(); err != nil {
			return release, err
		}
		r.prune()
	}
	args, _ := escape.Secrets(r.plan.Args)
	return release, r.say(Event{Kind: kind, Policy: r.plan.Policy, Client: r.plan.Client, Args: args})
}

// step takes the next step, by the phase. Each phase ends with a checkpoint, from which a killed run continues.
func (r *Runner) step(ctx context.Context) error {
	switch r.progress.Phase {
	case first:
		if err := r.waitWhilePaused(ctx); err != nil { // a paused policy does not decide
			return err
		}
		return r.firstPrompt(ctx)
	case iterating: // killed during an iteration
		return r.lost()
	case deciding:
		if r.user.control() == Leave { // the policy may have stopped its loops too, and would report that instead
			return errStopped()
		}
		if err := r.waitWhilePaused(ctx); err != nil {
			return err
		}
		return r.decide(ctx)
	default:
		return r.iterate(ctx)
	}
}

// iterate runs one iteration.
func (r *Runner) iterate(ctx context.Context) error {
	p := &r.progress
	if err := r.ready(ctx); err != nil {
		return err
	}
	if p.Crashes > 0 || p.Limited > 0 {
		if err := r.waitAfterFailure(ctx); err != nil {
			return err
		}
		if err := r.ready(ctx); err != nil {
			return err
		}
	}
	n := p.Iterations + 1
	inv := Invocation{Args: r.plan.Args, Prompt: escape.Agent(p.Prompt), Dir: r.plan.Root}
	if r.plan.Continue {
		inv.Session = p.Session
	}
	cmd, err := r.adapter.Command(inv)
	if err != nil {
		return endf(Failed, "iteration %d is not started: %v", n, err)
	}
	p.Phase, p.Iterations = iterating, n // a start counts even if this process is killed now
	if err := r.say(Event{Kind: IterationStart, Iteration: n, Prompt: len(p.Prompt)}); err != nil {
		return err
	}
	res, exit, err := r.runAgent(ctx, n, inv, cmd)
	switch {
	case errors.Is(err, errStuck):
		return endf(Failed, "iteration %d: %v", n, err)
	case err != nil:
		p.Phase, p.Iterations = ready, n-1 // nothing was started
		return endf(Failed, "the agent cannot be started: %v", err)
	}
	p.after(res, exit.Exit)
	ev := Event{
		Kind: IterationEnd, Iteration: n, Outcome: res.Outcome, Problem: res.Problem, Session: res.Session,
		Exit: &exit.Exit, Left: exit.left, Totals: r.totals(),
	}
	if !res.ResetsAt.IsZero() {
		ev.Resets = &res.ResetsAt
	}
	if err := r.say(ev); err != nil {
		return err
	}
	return r.consequence(res)
}

// consequence ends the run if the outcome of an iteration requires it, regardless of the policy.
func (r *Runner) consequence(res Result) error {
	p := &r.progress
	switch {
	case res.Outcome == Auth || res.Outcome == Billing:
		p.Phase = ready // for a resumed run
		why := "the client cannot sign in"
		if res.Outcome == Billing {
			why = "the account cannot pay"
		}
		return endf(NoAccess, "%s: %s", why, short(res.Problem))
	case res.Outcome == Interrupted:
		return endf(Cancelled, "iteration %d was interrupted", p.Iterations)
	case p.Crashes >= maxCrashes:
		return endf(TooManyFail, "the agent failed %d times in a row: %s", p.Crashes, short(res.Problem))
	}
	return nil
}

// maxCrashes is how often in a row the client may crash.
const maxCrashes = 3

// lost records that the iteration was lost because ralph was killed.
func (r *Runner) lost() error {
	r.progress.Phase = ready
	r.progress.Agent = process.ID{}
	r.progress.count(Lost)
	return r.say(Event{Kind: IterationEnd, Iteration: r.progress.Iterations, Outcome: Lost, Totals: r.totals()})
}

// ready waits while the run is paused, and ends the run at its limits.
func (r *Runner) ready(ctx context.Context) error {
	if err := r.waitWhilePaused(ctx); err != nil {
		return err
	}
	if err := r.user.interrupted(ctx); err != nil {
		return err
	}
	t, l := r.totals(), r.plan.Limits
	switch {
	case t.Iterations >= l.Iterations:
		return reached("iterations", "%d of %d iterations were started", t.Iterations, l.Iterations)
	case t.Elapsed >= l.Elapsed:
		return reached("elapsed", "the run has taken %s of %s", t.Elapsed.Round(time.Second), l.Elapsed)
	case l.Tokens > 0 && t.Tokens >= l.Tokens:
		return reached("tokens", "the run has used %d of %d tokens", t.Tokens, l.Tokens)
	case l.Cost > 0 && t.Cost != nil && *t.Cost >= l.Cost:
		return reached("cost", "the run has cost %.2f of %.2f US dollars", *t.Cost, l.Cost)
	}
	return nil
}

// reached returns an error for a limit of the run.
func reached(limit, format string, args ...any) *ended {
	e := endf(AtLimit, format, args...)
	e.limit = limit
	return e
}

func errStopped() error { return endf(Cancelled, "the run was stopped") }

// interrupted returns an error if the user wants the run to end.
func (u *user) interrupted(ctx context.Context) error {
	select {
	case <-u.interrupt:
		return endf(Cancelled, "the run was interrupted")
	default:
	}
	switch cause := context.Cause(ctx); {
	case cause == context.Canceled:
		return endf(Cancelled, "the run was interrupted")
	case cause != nil:
		return endf(Cancelled, "the run was interrupted: %v", cause)
	case u.control() == Leave:
		return errStopped()
	}
	return nil
}

func (r *Runner) totals() Totals {
	p := r.progress
	return Totals{Iterations: p.Iterations, Tokens: p.Tokens, Cost: p.Cost, Elapsed: p.Elapsed + max(0, r.clock.now().Sub(r.clock.counted)), Outcomes: p.Outcomes}
}

// over returns when the time of the run is over, if this process lives until then.
func (r *Runner) over() time.Time {
	return r.clock.now().Add(r.plan.Limits.Elapsed - r.totals().Elapsed)
}
