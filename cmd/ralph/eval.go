package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

const (
	slowest = 25 * time.Second // so long the host waits for a hook whose policies set no longer time
	early   = time.Second      // a decision ends so long before, and what does not end then is answered in half of it
)

// evalFlags are the flags of a hook's command line.
type evalFlags struct {
	policies     []string
	set          []string
	host         string
	answer       string
	project      string
	onlyApproved bool
	once         bool
}

func (a *app) evalCommand() *cobra.Command {
	f := evalFlags{}
	cmd := &cobra.Command{
		Use:   "eval",
		Short: "Answer a hook: the event as JSON on stdin, the answer on stdout",
		Long: `Answer a hook: the event as JSON on stdin, the answer on stdout.

The exit status is 0 whatever happens, and on any doubt the agent may stop. With --answer exit-code
the status is 2 if the agent continues, and the reason is on stderr.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.status = a.eval(cmd.Context(), f)
			return nil
		},
	}
	fl := cmd.Flags()
	fl.StringArrayVar(&f.policies, "policy", nil, "decide by the policy of this `name` or file; may be repeated (default "+project.Default+")")
	fl.StringArrayVar(&f.set, "set", nil, "set a param of the policy: `name=value`; may be repeated")
	fl.StringVar(&f.host, "host", "", "read the event as this `host` sends it, such as claude-code (default: by its form)")
	fl.StringVar(&f.answer, "answer", string(host.AsJSON), "answer as json, or by exit-code")
	fl.StringVar(&f.project, "project", "", "decide in the project of this `directory` only, for settings of all projects")
	fl.BoolVar(&f.onlyApproved, "only-approved", false, "use policies of a project only when a person approved them, for settings of all projects")
	fl.BoolVar(&f.once, "once", false, "take this entry out of the host's settings when the work is done")
	return cmd
}

// eval answers one event. It never fails: what goes wrong lets the agent stop.
func (a *app) eval(ctx context.Context, f evalFlags) (status int) {
	reportWriteErrors()
	out := &answerer{app: a, mode: host.Mode(f.answer)}
	defer func() {
		if r := recover(); r != nil {
			status = out.trouble(fmt.Errorf("ralph failed, which is a fault of ralph: %v\n%s", r, debug.Stack()))
		}
	}()
	began := time.Now()
	stop := guard(slowest-early/2, out.end)
	ds, err := a.decide(ctx, f, out, func(all time.Duration) time.Time {
		stop()
		stop = guard(all-early/2-time.Since(began), out.end)
		return began.Add(all - early)
	})
	stop()
	if err != nil {
		return out.trouble(err)
	}
	return out.write(ds)
}

// decide returns the decisions of the policies, in their order. It calls extend with the time for all of them.
func (a *app) decide(ctx context.Context, f evalFlags, out *answerer, extend func(time.Duration) (deadline time.Time)) ([]loop.Decision, error) {
	if m := host.Mode(f.answer); m != host.AsJSON && m != host.AsExitCode {
		return nil, fmt.Errorf("--answer is %q: write json or exit-code", f.answer)
	}
	h, ev, err := a.event(f.host, a.stdin)
	out.mu.Lock() // the guard may be answering
	out.host, out.event = h, ev.Name
	out.mu.Unlock()
	if err != nil {
		return nil, err
	}
	p, err := project.Find(ev.Dir, a.getenv)
	if err != nil {
		return nil, fmt.Errorf("the event's directory: %w", err)
	}
	if f.project != "" && !p.Is(f.project) {
		return nil, nil
	}
	home, err := project.OpenHome(p, a.getenv)
	if err != nil {
		return nil, err
	}
	opts := []loop.Option{loop.WithRecorder(home.Record), loop.WithClock(a.now)}
	opened := home.Hook(ctx, p, f.policies, f.set, project.Settings{OnlyApproved: f.onlyApproved, Loop: opts})
	all := time.Duration(0)
	for _, o := range opened {
		if o.Loop != nil {
			all += o.Loop.Deadline()
		}
	}
	ctx, cancel := context.WithDeadline(ctx, extend(max(all, slowest)))
	defer cancel()
	var ds []loop.Decision
	for _, o := range opened {
		ds = append(ds, decideOne(ctx, home, p, o, ev, opts))
	}
	if f.once && slices.ContainsFunc(ds, func(d loop.Decision) bool { return d.Outcome == rules.Done }) && !slices.ContainsFunc(ds, loop.Decision.Continue) {
		if _, err := a.takeOut(h, p, host.Entry{Policies: f.policies}.Names()); err != nil { // the decision stands
			ds = append(ds, loop.Decision{Notice: fmt.Sprintf("ralph: the hook stays in the settings: %v", err)})
		}
	}
	return ds, nil
}

// decideOne returns the decision of a policy, which is also that it cannot be used.
func decideOne(ctx context.Context, home *project.Home, p project.Project, o project.Opened, ev loop.Event, opts []loop.Option) (d loop.Decision) {
	l, err := o.Loop, error(nil)
	if o.Err == nil {
		d, err = l.Decide(ctx, ev)
	} else if l, err = home.Stops(p, cmp.Or(o.File.Name, o.Name), opts...); err == nil {
		d = l.Refuse(ctx, ev, o.Err)
	}
	if err != nil {
		return loop.Decision{Outcome: rules.Failed, Policy: o.Name, Notice: fmt.Sprintf("%s: the agent may stop: %v", o.Name, err)}
	}
	d.Err = nil // the notice has what is shown of it, which is once a prompt
	return d
}

// event reads an event.
func (a *app) event(name string, from io.Reader) (*host.Host, loop.Event, error) {
	if isTerminal(from) {
		return nil, loop.Event{}, errors.New("a host sends the event on stdin, and this is a terminal: run ralph explain --now for a decision now")
	}
	b, err := io.ReadAll(io.LimitReader(from, host.MaxInput+1)) // one more is an error of Decode
	if err != nil {
		return nil, loop.Event{}, fmt.Errorf("the event: %w", err)
	}
	h, ev, err := host.Decode(name, b, a.getenv)
	switch {
	case err != nil:
	case ev.Dir == "":
		err = errors.New("the event names a directory that is none")
	case ev.Dir == "." && ev.Session == "" && ev.Message == "": // one with a text only is from a host that runs its hooks in the agent's directory
		err = errors.New(`the event names no session and no directory and has no text, so it is not known whose it is: write at least {"session_id": "ID", "cwd": "DIRECTORY"}`)
	}
	return h, ev, err
}
