package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
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
	fl.BoolVar(&f.private, "log-private", false, "also keep prompts, transcript texts and environment values in the log")
	fl.StringVar(&f.scope, "scope", setup.ScopeProject, "`scope` of the settings that run this hook: project, or user, where loops, settings and policies of a project need your trust")
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
			a.status = out.write(host.Trouble("ralph", "", fmt.Errorf("internal error: %v\n%s", r, debug.Stack())))
		}
	}()
	if _, off := workspace.Off("", a.getenv); off {
		return
	}
	if err := f.validate(); err != nil {
		a.status = out.write(host.Trouble("ralph", "", err))
		return
	}
	late := fmt.Errorf("no decision within %s, the agent may stop; run `ralph install HOST --deadline %s` to allow more time", f.deadline, 2*f.deadline)
	ctx, cancel := context.WithTimeoutCause(ctx, f.deadline, late)
	defer cancel()
	// What ignores its context is caught a little later.
	stop := out.watch(f.deadline+time.Second, late)
	defer stop()
	a.status = out.write(a.answer(ctx, f, out))
}

func (f *evalFlags) validate() error {
	if err := oneOf("answer", f.answer, answerJSON, answerExitCode); err != nil {
		return err
	}
	if err := oneOf("scope", f.scope, setup.ScopeProject, setup.ScopeUser); err != nil {
		return err
	}
	if f.deadline <= 0 {
		return fmt.Errorf("--deadline must be a duration such as 25s; got %s", f.deadline)
	}
	return nil
}

// answer returns the reply to the event on stdin.
func (a *app) answer(ctx context.Context, f evalFlags, out *answerer) host.Reply {
	if _, ok := terminalOf(a.stdin); ok && f.input == "-" {
		return host.Trouble("ralph", "", errors.New("a host sends the event on stdin, and this is a terminal; run `ralph explain --now` for a decision now"))
	}
	input, err := a.read("the event", "", f.input, maxInput)
	if err != nil {
		return host.Trouble("ralph", "", err)
	}
	h, ev, err := a.decode(input, f.host)
	out.speak(h)
	if err != nil {
		if workspace.OffEarly(f.project, a.getenv) {
			return host.Reply{}
		}
		return host.Trouble("ralph", "", err)
	}
	loops, notices, err := a.loops(ctx, ev, f)
	if err != nil {
		return host.Trouble("ralph", ev.Name, err)
	}
	r := loop.Reply(ev, decide(ctx, ev, loops, f.dryRun))
	if len(notices) > 0 {
		r.Notice = strings.TrimSuffix(strings.Join(append(notices, r.Notice), "\n"), "\n")
		r.Log = append(notices, r.Log...)
	}
	return r
}

// decode reads the event. An empty input, or one that names neither a session nor a directory, is for the session in
// CLAUDE_SESSION_ID, in the working directory: what a policy reads from files still counts.
func (a *app) decode(input []byte, name string) (*host.Host, host.Event, error) {
	h := host.Detect(input)
	if name != "" {
		named, ok := host.Lookup(name)
		if !ok {
			return h, host.Event{}, fmt.Errorf("unknown host %q; expected one of %s", name, strings.Join(host.Names(), ", "))
		}
		h = named
	}
	ev, err := h.Decode(input)
	switch session := a.getenv("CLAUDE_SESSION_ID"); {
	case session == "":
	case err != nil && len(bytes.TrimSpace(input)) == 0:
		return h, host.Event{Host: h.Name, Name: host.Stop, SessionID: session, Cwd: ".", LoopCount: -1}, nil
	case err == nil && ev.SessionID == "" && ev.Cwd == "":
		ev.SessionID, ev.Cwd = session, "."
	}
	return h, ev, err
}

// loops returns the loops of all policies for an event, none if loops are switched off. The notices are about policies
// that do not decide.
func (a *app) loops(ctx context.Context, ev host.Event, f evalFlags) ([]*loop.Loop, []string, error) {
	root, err := workspace.Find(ev.Cwd, f.project, nil, a.getenv)
	if err != nil {
		return nil, nil, err
	}
	named := workspace.Named(f.project, a.getenv) != ""
	if _, off := workspace.Off(root, a.getenv); off && named {
		return nil, nil, nil
	}
	all, err := a.loopsIn(ctx, root, f)
	if err == nil && !named { // a file in a policy's head may make a nearer directory the project
		var nearer string
		if nearer, err = workspace.Find(ev.Cwd, "", all.files, a.getenv); err == nil && nearer != root {
			root = nearer
			all, err = a.loopsIn(ctx, root, f)
		}
	}
	if err != nil {
		return nil, nil, err
	}
	if _, off := workspace.Off(root, a.getenv); off {
		return nil, nil, nil
	}
	shown := []string{}
	for _, notice := range all.notices {
		if f.dryRun || all.project.Once(ctx, ev.Host, ev.SessionID, root+notice) {
			shown = append(shown, "[ralph] "+notice)
		}
	}
	return all.loops, shown, nil
}

// hookLoops are the loops of a hook's policies in a project.
type hookLoops struct {
	project *project.Project
	loops   []*loop.Loop
	files   []string // the HeadFiles that identify projects; .ralph identifies the project of a policy file
	notices []string // about policies that are not used
}

func (a *app) loopsIn(ctx context.Context, root string, f evalFlags) (all hookLoops, err error) {
	if all.project, err = project.Open(a.in(root)); err != nil {
		return all, err
	}
	for _, name := range workspace.OrDefault(f.policies) {
		if err := a.loop(ctx, &all, name, f); err != nil {
			return all, err
		}
	}
	return all, nil
}

// decide decides an event with every policy and applies the decisions, unless it is a rehearsal. It uses this
// goroutine, whose stack is already large enough. out.watch answers for a policy that hangs.
func decide(ctx context.Context, ev host.Event, loops []*loop.Loop, rehearse bool) []*loop.Decision {
	var decisions []*loop.Decision
	for _, l := range loops {
		if rehearse {
			decisions = append(decisions, l.Preview(ctx, ev))
			continue
		}
		d, _ := l.Run(ctx, ev) // the error is in the decision
		decisions = append(decisions, d)
	}
	return decisions
}

// loop adds the loop of one policy. An unusable policy stops only itself: its loop lets the agent stop and reports why.
// A missing policy that no other replaces has no loop.
func (a *app) loop(ctx context.Context, all *hookLoops, name string, f evalFlags) error {
	p := all.project
	opts := append(a.in("").Options, loop.Local(), loop.WithEnv(a.getenv), loop.WithRoot(p.Dir()))
	if f.deadline > 0 {
		opts = append(opts, loop.WithDeadline(f.deadline))
	}
	if f.private {
		opts = append(opts, loop.WithPrivate())
	}
	add := func(l *loop.Loop, err error) error {
		if err == nil {
			all.loops = append(all.loops, l)
		}
		return err
	}
	policy, err := p.Find(name)
	switch {
	case err != nil && f.scope == setup.ScopeUser && p.Lacks(name):
		return nil
	case err != nil:
		return add(loop.Broken(name, err, opts...))
	}
	load := project.Load{Set: f.set, Lazy: true}
	if f.scope == setup.ScopeUser && policy.Beneath() {
		approved, err := p.OpenApproved(ctx, policy, project.Load{Set: f.set})
		if err != nil {
			all.notices = append(all.notices, fmt.Sprintf("%s is not used, since it %s", policy.Name, strings.TrimPrefix(err.Error(), "which ")))
			var ok bool
			if approved, ok = project.ShippedPolicy(name); !ok {
				return nil
			}
		}
		policy = approved
	}
	if policy.Program == nil {
		if f.scope == setup.ScopeUser {
			why := p.Distrusted()
			if why != nil && p.Configured(policy) {
				all.notices = append(all.notices, fmt.Sprintf("%s is not used: %v", project.ConfigFile, why))
			}
			load.Untrusted = why != nil
			opts = append(opts, loop.WithUserScope(func(string) error { return why }))
		}
		if policy, err = p.Load(ctx, policy, load); err != nil {
			if policy.Findings != nil {
				err = fmt.Errorf("the policy cannot be used; run `ralph check %s`\n%s", name, policy.Problem)
			}
			return add(loop.Broken(policy.Name, err, opts...))
		}
	}
	if !policy.Beneath() {
		all.files = append(all.files, policy.Program.HeadFiles()...)
	}
	return add(loop.New(policy.Program, slices.Concat(policy.Options, opts, []loop.Option{loop.WithName(policy.Name)})...))
}
