package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/run/step"
)

// Env is the variable that names the run in the environment of the agent. Hooks of the run's policy leave the decision
// to the run if it is set.
const Env = "RALPH_RUN"

// grace is how long an agent may take to end after a signal. The processes that it left have as long again, so a run
// ends within ten seconds.
const grace = 3 * time.Second

// maxStderr is how many bytes of the end of stderr an adapter sees.
const maxStderr = 64 << 10

// mark returns the variable that all processes of the run have in their environment.
func (r *Runner) mark() string { return Env + "=" + r.plan.ID }

// exit is how the process of an iteration ended.
type exit struct {
	Process
	left int
}

var (
	errTime = errors.New("the iteration took too long")
	errEnd  = errors.New("the client cannot continue")
)

// Iterate carries out [step.Iterate] of a run, and returns its answer. It never fails: a failure is an input.
func (r *Runner) Iterate(ctx context.Context, s step.State) step.Input {
	in, n := step.Input{Kind: step.NotStarted, Key: s.Due.Key}, s.Iterations
	inv, cmd, err := r.invocation(s)
	if err != nil {
		in.Why = err.Error()
		return in
	}
	res, e, err := r.runAgent(ctx, s, inv, cmd)
	r.saved.Agent = process.ID{}
	switch {
	case errors.Is(err, errStuck):
		in.Kind, in.Why = step.Broken, fmt.Sprintf("iteration %d: %v", n, err)
		return in
	case err != nil:
		in.Why = fmt.Sprintf("the agent cannot be started: %v", err)
		return in
	case res.Outcome == Lost: // the process of the run was frozen
		in.Kind = step.Lost
		return in
	}
	if len(res.Text) > maxText {
		res.Text = res.Text[len(res.Text)-maxText:]
	}
	said := s.Plan.Said
	in.Kind, in.Iteration = step.Iterated, &step.Iteration{
		Outcome: res.Outcome, Text: r.put(res.Text), Promised: said != "" && res.Outcome == OK && host.Said.In([]string{res.Text}, said, r.shown(s)...),
		Problem: res.Problem, Session: res.Session, Transcript: res.Transcript, Tokens: res.Tokens, Used: res.Used, Cost: res.Cost, Window: res.Window,
		ResetsAt: res.ResetsAt, Exit: e.Exit, Left: e.left, Denied: res.Denied,
	}
	return in
}

// invocation returns the command line of the iteration that is due.
func (r *Runner) invocation(s step.State) (Invocation, Command, error) {
	inv := Invocation{Args: s.Plan.Args, Prompt: escape.Agent(r.saved.text(s.Prompt)), Dir: s.Plan.Root}
	if s.Plan.Continue {
		inv.Session = s.Latest.Session
	}
	cmd, err := r.adapter.Command(inv)
	if err != nil {
		err = fmt.Errorf("iteration %d is not started: %w", s.Iterations, err)
	}
	return inv, cmd, err
}

// admit returns an input with the reason for which the client refuses the iteration that it would start.
func (r *Runner) admit(s step.State, in step.Input) step.Input {
	if next, _, cmd := s.Step(in); cmd.Kind == step.Iterate && cmd.Key != s.Due.Key {
		if _, _, err := r.invocation(next); err != nil {
			in.Refused = err.Error()
		}
	}
	return in
}

// runAgent runs an iteration. The error is errStuck, or that the agent could not be started.
func (r *Runner) runAgent(ctx context.Context, s step.State, inv Invocation, cmd Command) (res Result, e exit, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	most := s.Due.Timeout
	timed, stop := context.WithTimeoutCause(ctx, most, errTime)
	defer stop()

	var fatal Outcome
	if f, ok := r.adapter.(function); ok {
		res, err = f.call(timed, inv)
	} else {
		res, e, fatal, err = r.runProgram(timed, cancel, s.Iterations, cmd)
	}
	if err != nil {
		return Result{}, exit{}, err
	}
	res = res.within(r.clock.now())
	switch cause := context.Cause(timed); {
	case fatal != "":
		res.Outcome = fatal
	case errors.Is(cause, errTime):
		res.Outcome, res.Problem = Timeout, "it took longer than "+most.String()
	case timed.Err() != nil:
		res.Outcome = Interrupted
	case res.Outcome == "" && (e.Exit != 0 || e.Signal != ""):
		res.Outcome = Crashed
	case res.Outcome == "":
		res.Outcome = OK
	}
	if res.Outcome != OK && res.Problem == "" {
		res.Problem = problem(e.Process)
	}
	return res, e, nil
}

// runProgram runs a client until it exits, or until it reports an outcome that ends the iteration, which it returns.
func (r *Runner) runProgram(ctx context.Context, cancel context.CancelCauseFunc, n int, cmd Command) (_ Result, _ exit, fatal Outcome, err error) {
	out, doing := r.adapter.Output(), make(chan string, 16)
	read := &lines{max: MaxLine, take: func(line []byte) {
		shown, end := out.Line(line)
		if len(doing) < cap(doing) { // otherwise dropped: output is faster than the reader
			if shown = escape.Brief(shown); shown != "" {
				doing <- shown
			}
		}
		if end != "" && fatal == "" {
			fatal = end
			cancel(errEnd)
		}
	}}
	stderr := &tail{max: maxStderr}
	spools := [2]*spool{r.out.directory.output(n, "out"), r.out.directory.output(n, "err")}
	start := r.clock.now()
	env := slices.Concat(r.env, cmd.Env) // if a name occurs twice, the last value counts
	c := process.Command{
		Args: cmd.Args, Dir: r.plan.Root, Env: env, Stdin: strings.NewReader(cmd.Stdin), Mark: r.mark(), Grace: grace, Watch: r.watch.within, Alive: r.watch.alive,
		Stdout: io.MultiWriter(spools[0], read), Stderr: io.MultiWriter(spools[1], stderr),
		Started: func(id process.ID) {
			r.saved.Agent = id
			_ = r.keep() // without it, only the mark finds leftover processes
		},
	}
	var ended process.Exit
	go func() {
		defer close(doing)
		ended, err = c.Run(ctx)
		read.end()
	}()
	for shown := range doing {
		r.out.emit(Event{V: 1, Kind: AgentOutput, Time: r.clock.now(), Run: r.plan.ID, Iteration: n, Shown: shown})
	}
	for _, s := range spools {
		s.close()
	}
	if err != nil && ctx.Err() == nil {
		return Result{}, exit{}, "", err
	}
	if ended.Late && fatal == "" {
		fatal = Lost
	}
	e := exit{Process{Exit: ended.Code, Signal: ended.Signal, Stderr: stderr.end(), Dir: r.plan.Root, Env: env, Start: start}, ended.Left}
	return out.Result(e.Process), e, fatal, nil
}

// problem returns how a process ended, with the last line of its stderr.
func problem(p Process) string {
	how := process.Exit{Code: p.Exit, Signal: p.Signal}.String()
	said := strings.TrimSpace(strings.ToValidUTF8(string(p.Stderr), "\ufffd"))
	if last := escape.Brief(said[strings.LastIndexByte(said, '\n')+1:]); last != "" {
		how += ": " + last
	}
	return how
}
