package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// Exit statuses of ralph run, beside 0 for done and 1 for another end by the policy or a limit.
const (
	exitBroken      = 3
	exitInterrupted = 130
)

const latest = "latest"

type runFlags struct {
	policy, until, promise string
	limits                 run.Limits
	resume                 string
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [flags] -- agent [argument ...]",
		Short: "Start an agent again and again until the work is done",
		Long: `Start an agent again and again, where you type this and each time with a fresh context, until a policy says that the
work is done. What the policy says goes to the agent's standard input, or replaces its argument {}.

  ralph run --until 'go test ./...' -- claude -p 'Make the tests pass.'
  ralph run --policy speckit --max 20 --budget 5 -- claude -p
  ralph run --resume

Ctrl-C ends the run after the iteration, and a second one now. The exit status is
  0    done
  1    a rule or no rule, a limit, or ralph stop ended it
  3    it failed: the policy cannot be decided, the agent cannot sign in or be started, or crashed or was lost three times in a row
  64   nothing was started: the command line is wrong, or a stop is in force
  130  Ctrl-C or a signal ended it`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.resume == latest && len(args) > 0 && cmd.ArgsLenAtDash() < 0 { // --resume ID, perhaps with flags
				id := args[0]
				if err := cmd.ParseFlags(args[1:]); err != nil {
					return err
				}
				f.resume, args = id, cmd.Flags().Args()
			}
			for _, name := range []string{"policy", "until", "promise"} {
				if f := cmd.Flags().Lookup(name); f.Changed && strings.TrimSpace(f.Value.String()) == "" {
					return fmt.Errorf("--%s is empty: %w", name, errUntilWhen)
				}
			}
			changed := cmd.Flags().Changed
			if f.limits.Max < 1 || f.limits.For <= 0 || f.limits.Budget < 0 || changed("budget") && f.limits.Budget == 0 {
				return errors.New("--max, --for and --budget are more than 0, such as --max 20 --for 8h --budget 5")
			}
			if f.resume != "" && !changed("max") {
				f.limits.Max = 0 // that of the run
			}
			if f.resume != "" && !changed("for") {
				f.limits.For = 0
			}
			return a.here(func(ctx context.Context, p project.Project, home *project.Home, args []string) (err error) {
				a.status, err = a.drive(ctx, p, home, f, args)
				return err
			})(cmd, args)
		},
	}
	fl := cmd.Flags()
	fl.SetInterspersed(false) // what follows the agent's program is its own
	fl.StringVar(&f.policy, "policy", "", "decide by the policy of this `name` or file (default "+project.Default+")")
	fl.StringVar(&f.until, "until", "", "the work is done when this `command` passes")
	fl.StringVar(&f.promise, "promise", "", "the work is done when the agent writes this `text`, alone on a line")
	fl.IntVar(&f.limits.Max, "max", run.DefaultMax, "start the agent at most this many `times`")
	fl.DurationVar(&f.limits.For, "for", run.DefaultFor, "end the run after this `duration`")
	fl.Float64Var(&f.limits.Budget, "budget", 0, "end the run when the agent has cost this many US `dollars`, if it says what it costs")
	fl.StringVar(&f.resume, "resume", "", "go on with the run of this `ID`, or the latest one that is not done")
	fl.Lookup("resume").NoOptDefVal = latest
	cmd.MarkFlagsMutuallyExclusive("policy", "until", "promise", "resume")
	return cmd
}

var errUntilWhen = errors.New("say when the work is done: --until 'go test ./...', --promise DONE, or --policy NAME")

// drive begins or resumes a run, and returns the exit status.
func (a *app) drive(ctx context.Context, p project.Project, home *project.Home, f runFlags, args []string) (_ int, err error) {
	var s run.State
	if f.resume != "" {
		if len(args) > 0 {
			return 0, errors.New("a run is resumed as it was begun: leave out the agent; only --max, --for and --budget change it")
		}
		s, err = a.pick(ctx, home, p, f.resume)
	} else {
		s, err = a.plan(p, f, args)
	}
	if err != nil {
		return 0, err
	}
	if f.limits.Budget > 0 && !run.Reports(s.Plan.Args) {
		return 0, fmt.Errorf("%s does not say what it costs, so --budget cannot be kept: use --max or --for", s.Plan.Args[0])
	}
	o, err := a.policyOf(ctx, home, p, &s.Plan)
	if err != nil {
		return 0, err
	}
	if why, undo, err := o.Off(ctx); err != nil {
		return 0, err
	} else if why != "" {
		return 0, fmt.Errorf("nothing runs here: %s; to undo that: %s", why, undo)
	}
	out, err := run.OpenOutput(filepath.Join(home.Dir, "runs"), s.Plan.ID)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	interrupt, ctx, stop := a.interrupts(ctx)
	defer stop()
	r := &run.Runner{Loop: o.Loop, Store: home.Store, Env: a.getenv, Now: a.now, Output: out, Interrupt: interrupt, Report: a.report}
	if f.resume != "" {
		s, err = r.Resume(ctx, s.Plan.ID, f.limits)
	} else {
		s, err = r.Run(ctx, s)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return 0, fmt.Errorf("another run decides by this policy in %s: see ralph status", p.Root)
	case err != nil:
		fmt.Fprintf(a.stderr, "ralph: %s\n", text.Clean(err.Error()))
		return exitBroken, nil
	}
	return runStatus(s.End.Outcome), nil
}

// report prints what happens in a run.
func (a *app) report(in run.Input, s run.State) {
	for _, line := range run.Words(in, s) {
		fmt.Fprintln(a.stdout, line)
	}
	for _, line := range in.Decision.Log {
		fmt.Fprintf(a.stderr, "ralph: %s\n", text.Line(line))
	}
}

func runStatus(o rules.Outcome) int {
	switch o {
	case rules.Done:
		return exitOK
	case rules.Failed, run.Crashed, run.Lost:
		return exitBroken
	case run.Interrupted:
		return exitInterrupted
	}
	return exitFound
}

// plan returns the state of a new run.
func (a *app) plan(p project.Project, f runFlags, args []string) (run.State, error) {
	if f.until != "" && host.InSession(a.getenv) != "" {
		return run.State{}, errPerson // the command runs without approval, also when a person resumes the run
	}
	dir, err := os.Getwd()
	if err != nil {
		return run.State{}, err
	}
	if err := run.Check(args, dir); err != nil {
		return run.State{}, err
	}
	now := a.now()
	return run.New(run.Plan{
		ID: fmt.Sprintf("%s-%d", now.UTC().Format("20060102-150405"), os.Getpid()), Root: p.Root, Dir: dir, Started: now,
		Policy: f.policy, Until: f.until, Promise: f.promise, Args: args, Limits: f.limits,
	})
}

// pick returns the run to resume.
func (a *app) pick(ctx context.Context, home *project.Home, p project.Project, id string) (run.State, error) {
	if id != latest {
		s, err := run.Load(ctx, home.Store, id)
		if errors.Is(err, run.ErrNone) {
			err = fmt.Errorf("%w; ralph run --resume goes on with the latest", err)
		}
		if err == nil && s.Plan.Root != p.Root {
			err = fmt.Errorf("the run %s began in %s: type this in that directory", id, s.Plan.Root)
		}
		return s, err
	}
	runs, err := run.List(ctx, home.Store, p.Root)
	for _, s := range runs {
		if s.End == nil || s.End.Outcome != rules.Done {
			return s, nil
		}
	}
	return run.State{}, errors.Join(err, fmt.Errorf("no run in %s can be resumed", p.Root))
}

// noLimits are those of a policy that was typed: the run has its own.
const noLimits = "limits: {continuations: 10000, total: 10000, elapsed: 8760h}"

// policyOf opens the policy of a run. What was typed becomes a policy in memory, which only this run uses and which needs no approval.
func (a *app) policyOf(ctx context.Context, home *project.Home, p project.Project, plan *run.Plan) (o project.Opened, err error) {
	s := project.Settings{Whole: true, Loop: []loop.Option{loop.WithRecorder(home.Record), loop.WithClock(a.now)}}
	switch f := &o.File; {
	case plan.Until != "":
		f.Name, s.Typed = project.Until, true
		f.Source, err = untilSource(p, plan.Dir, plan.Until, time.Hour, noLimits)
	case plan.Promise != "":
		f.Name, f.Source, s.Params = "promise", examples.Promise(), map[string]string{"promise": plan.Promise}
	default:
		if *f, err = p.Policy(cmp.Or(plan.Policy, project.Default)); errors.Is(err, fs.ErrNotExist) && plan.Policy == "" {
			err = errUntilWhen
		}
	}
	if err == nil {
		o.Name, plan.Name = o.File.Name, o.File.Name
		o.Loop, err = home.Open(ctx, p, o.File, s)
	}
	return o, err
}
