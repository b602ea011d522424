package main

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

// maxInput bounds the bytes read from stdin.
const maxInput = 16 << 20

// evalFlags are the flags of eval; explain has some of them.
type evalFlags struct {
	policies []string
	input    string
	project  string
	host     string
	set      []string
	answer   string
	dryRun   bool
	private  bool
	deadline time.Duration
	scope    string
	once     bool
}

func (a *app) evalCommand() *cobra.Command {
	var f evalFlags
	cmd := &cobra.Command{
		Annotations: exits("the event was answered; on any error the agent may stop, and stderr has the reason", exit{2, "with --answer exit-code: the agent continues"}),
		Use:         "eval",
		Short:       "Answer a hook: the event as JSON on stdin, the answer on stdout",
		Args:        noArgs("--policy"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			a.eval(cmd.Context(), f)
			return nil
		},
	}
	fl := cmd.Flags()
	policiesFlag(fl, &f.policies)
	fl.StringVar(&f.project, "project", "", "use this project root `dir` (default: CLAUDE_PROJECT_DIR, else the project of the event's cwd)")
	fl.StringVar(&f.host, "host", "", "read the input of this host `name` (default: detected): "+strings.Join(host.Names(), ", "))
	setFlag(fl, &f.set)
	fl.StringVarP(&f.input, "input", "i", "-", "read the event from this `file`; - is stdin")
	fl.StringVar(&f.answer, "answer", answerJSON, "answer as json, or by exit-code (status 2 with the reason on stderr means continue; a note is on stdout)")
	fl.BoolVar(&f.dryRun, "dry-run", false, "decide and answer, but change nothing and log nothing")
	fl.BoolVar(&f.private, "log-private", false, "also keep the words of the user and the agent in the log: prompts, transcript texts, hints")
	fl.StringVar(&f.scope, "scope", setup.ScopeProject, "`scope` of the settings that run this hook: project, or user, where loops, settings and policies of a project need your trust")
	fl.BoolVar(&f.once, "once", false, "answer for one loop of the policy, with --project only there, and take this entry out of the settings when the loop ends")
	durationVar(fl, &f.deadline, "deadline", defaultDeadline(), "let the agent stop after this time limit")
	return cmd
}

// eval never fails: it answers errors.
func (a *app) eval(ctx context.Context, f evalFlags) {
	a.hook = true
	surviveFullFiles()
	if f.answer != answerExitCode { // with exit-code, stderr is for the agent
		a.stderr = &screen{to: a.stderr}
	}
	out := newAnswerer(a.stdout, a.stderr, f.answer)
	defer func() {
		if r := recover(); r != nil {
			a.status = out.write(host.Trouble("ralph", "", &rules.PanicError{Value: r, Stack: debug.Stack()}))
		}
	}()
	if _, off := workspace.Off("", a.getenv); off {
		return
	}
	if err := f.validate(); err != nil {
		a.status = out.write(host.Trouble("ralph", "", err))
		return
	}
	late := fmt.Errorf("no decision within %s, the agent may stop; install the hook again with --deadline %s to allow more time", f.deadline, 2*f.deadline)
	ctx, cancel := context.WithTimeoutCause(ctx, f.deadline, late)
	defer cancel()
	// What ignores its context is caught a little later.
	stop := out.watch(f.deadline+time.Second, late)
	defer stop()
	a.status = out.write(a.answer(ctx, f, out))
}

func (f *evalFlags) validate() error {
	wrong := errors.Join(oneOf("answer", f.answer, answerJSON, answerExitCode), oneOf("scope", f.scope, setup.ScopeProject, setup.ScopeUser),
		wrongIf(f.deadline <= 0, "--deadline must be a duration such as 25s; got %s", f.deadline))
	if f.host != "" {
		wrong = errors.Join(wrong, oneOf("host", f.host, host.Names()...))
	}
	return wrong
}

// answer returns the reply to the event on stdin.
func (a *app) answer(ctx context.Context, f evalFlags, out *answerer) host.Reply {
	if _, ok := terminalOf(a.stdin); ok && f.input == "-" {
		return host.Trouble("ralph", "", errors.New("a host sends the event on stdin, and this is a terminal; run `ralph explain --now` for a decision now"))
	}
	k := a.hookOf(f)
	if k.Host != nil {
		out.speak(k.Host)
	}
	input, err := a.read("the event", "", f.input, maxInput)
	if err != nil {
		return host.Trouble("ralph", "", err)
	}
	h, r := k.Reply(ctx, input)
	out.speak(h)
	return r
}

// hookOf returns the hook that the flags describe.
func (a *app) hookOf(f evalFlags) loop.Hook {
	var opts []loop.Option
	if f.deadline > 0 {
		opts = append(opts, loop.WithDeadline(f.deadline))
	}
	if f.private {
		opts = append(opts, loop.WithPrivate())
	}
	find := project.Hook{Config: a.in(f.project), Policies: f.policies, Set: f.set, User: f.scope == setup.ScopeUser, Once: f.once, Options: opts, Again: f.dryRun}
	k := loop.Hook{Loops: find.Loops, Session: a.getenv("CLAUDE_SESSION_ID"), Preview: f.dryRun}
	if f.host != "" {
		k.Host, _ = host.Lookup(f.host)
	}
	return k
}
