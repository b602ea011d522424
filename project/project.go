// Package project shows and changes the loops, runs and policies of a project: their status and history, starting and
// stopping them, and what the user approved. It may change in any version. Commands, pages and other programs share it;
// it prints nothing.
//
// A loop is what a policy declares under loop:, see [rules.Loop]; a policy without it has none here. Types with JSON
// names are the JSON output of commands.
//
// Start with [Open]. [Project.Policies] returns the policies, [Project.Status] the loops, [Project.History] the
// decisions. [Project.Start], [Project.Stop], [Project.Pause], [Project.Resume] and [Project.Hint] change what runs,
// and [Project.Approve] and [Project.Trust] what may run.
package project

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// Config configures a project, and what a program adds to it.
type Config struct {
	Dir      string              // project root, absolute and without links; "" is none: only data about all projects can be read
	State    string              // directory of ralph's own files, as in [loop.WithState]; default: from Env
	Store    loop.Store          // of the loops, as in [loop.WithStore]; default: that of State. It must have [loop.Documents], and [loop.Leases] to start or stop loops, and for runs
	Scope    string              // of the loops, as in [loop.WithScope]
	Options  []loop.Option       // for every loop and policy: the program's sources and effects, not what Config has fields for
	Policies []Policy            // the program's; default: those in .ralph and those that ship with ralph
	Env      func(string) string // default: os.Getenv
	Now      func() time.Time    // default: time.Now
}

// Project is an open project. It is safe for concurrent use.
type Project struct {
	dir     string
	root    *state.Root // nil without a directory
	own     *store.Store
	kept    loop.Store   // memories and runs
	orders  store.Orders // what persons ordered, hinted, approved and trusted
	scope   string
	foreign bool // kept is not in the directory of own
	options []loop.Option
	made    []Policy // by the program
	env     func(string) string
	now     func() time.Time
	logged  logged
}

// Open opens a project. The caller must close it.
func Open(c Config) (*Project, error) {
	p := &Project{dir: c.Dir, options: c.Options, made: c.Policies, env: c.Env, now: c.Now}
	if p.env == nil {
		p.env = os.Getenv
	}
	if p.now == nil {
		p.now = time.Now
	}
	if c.State == "" {
		c.State, _ = store.DefaultDir(p.env) // without it nothing is kept, and writing fails
	}
	p.own = store.Open(c.State)
	_ = p.own.KeepLog(p.env("RALPH_LOG_KEEP")) // as in a hook
	p.kept, p.orders, p.scope, p.foreign = loop.LocalStore(c.State), store.OrdersIn(p.own, c.Scope), c.Scope, c.Store != nil
	if p.foreign {
		docs, ok := c.Store.(loop.Documents)
		if !ok {
			return nil, store.ErrNoDocuments
		}
		p.kept, p.orders = c.Store, store.OrdersAt(context.Background(), docs, loop.ErrConflict, c.Scope)
	}
	if c.Dir == "" {
		return p, nil
	}
	var err error
	p.root, err = state.OpenRoot(c.Dir)
	return p, err
}

// at opens the project in another directory, in which one of its runs works. The caller must close it.
func (p *Project) at(dir string) (*Project, error) {
	c := Config{Dir: dir, State: p.own.Dir(), Scope: p.scope, Options: p.options, Env: p.env, Now: p.now}
	if p.foreign {
		c.Store = p.kept
	}
	return Open(c)
}

// Close closes the project.
func (p *Project) Close() error {
	if p.root == nil {
		return nil
	}
	return p.root.Close()
}

// Dir returns the root of the project.
func (p *Project) Dir() string { return p.dir }

// Trees returns the directory for work trees of the project in which agents work: what the person approved in the project
// counts there, too.
func (p *Project) Trees() string { return filepath.Join(p.own.Dir(), worktreesDir) }

// loops returns the policies with a loop.
func loops(all []Policy) []Policy {
	return slices.DeleteFunc(slices.Clone(all), func(o Policy) bool { return o.Program == nil || o.Program.Loop() == nil })
}

// loop returns the loop of a policy.
func (p *Project) loop(policy Policy, opts ...loop.Option) (*loop.Loop, error) {
	opts = slices.Concat(opts, p.options, policy.Options, p.where(), []loop.Option{loop.WithRoot(p.dir), loop.WithName(policy.Name), loop.WithEnv(p.env), loop.WithClock(p.now)})
	if !p.foreign {
		opts = append(opts, loop.WithState(p.own.Dir()))
	}
	return loop.New(policy.Program, opts...)
}

// where returns the options for the store and the scope of a project's loops.
func (p *Project) where() (opts []loop.Option) {
	if p.scope != "" {
		opts = append(opts, loop.WithScope(p.scope))
	}
	if p.foreign {
		opts = append(opts, loop.WithStore(p.kept))
	}
	return opts
}

// event returns the event that a command uses for the head of a policy: a session that ends its turn.
func (p *Project) event(session string) host.Event {
	return host.Event{Host: host.ClaudeCode, Name: host.Stop, SessionID: session, Cwd: p.dir}
}

// A found loop is a policy's loop as its head finds it, which runs no program and calls no model.
type found struct {
	policy  Policy
	verdict *rules.Verdict
	file    string       // of its state, "" if the head did not read it
	status  rules.Status // of its state
}

var errNotRun = errors.New("which is not gathered to show a loop")

// look returns the loop of a policy, as a session sees it.
func (p *Project) look(ctx context.Context, policy Policy, session string) (found, error) {
	f := found{policy: policy}
	l, err := p.loop(policy, loop.WithTrust(func(*rules.Fact, []rules.File) error { return errNotRun }))
	if err != nil {
		return f, err
	}
	if f.verdict, err = l.Look(ctx, p.event(session)); err != nil {
		return f, err
	}
	if c := f.verdict.Cause; c.Failed() && c != rules.FaultMemory && !f.exists() {
		return f, errors.New(f.verdict.Reason)
	}
	declared := policy.Program.Loop()
	if declared == nil {
		return f, nil
	}
	for _, read := range f.verdict.Trace.Facts {
		if read.Name == declared.State.Name {
			f.file, f.status = read.Path, read.Status
		}
	}
	if f.verdict.Loop != nil {
		f.file = f.verdict.Loop.State
	}
	return f, nil
}

// exists reports whether the loop exists.
func (f found) exists() bool { return f.verdict.Loop != nil }

// problems returns what could not be used. Problems of facts other than the state count only if the loop exists.
func (f found) problems() (texts []string) {
	for _, problem := range f.verdict.Problems {
		if declared := f.policy.Program.Loop(); f.exists() || declared == nil || problem.Fact == declared.State.Name {
			texts = append(texts, problem.Text)
		}
	}
	return texts
}

// format returns the file format of a fact.
func format(f *rules.Fact) state.Format {
	switch {
	case f.Source.Name == "text":
		return state.Text
	case !f.Source.Value.Body:
		return state.JSON
	case f.Options["lenient"] == true:
		return state.LenientFrontMatter
	}
	return state.FrontMatter
}

// read reads the file of a fact.
func (p *Project) read(ctx context.Context, f *rules.Fact, file string) state.Doc {
	return p.root.Read(ctx, state.File{Path: file, Format: format(f), Schema: f.Schema})
}

// locked runs change while no other command changes loops of the project.
func (p *Project) locked(ctx context.Context, change func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if p.foreign {
		leases, ok := p.kept.(loop.Leases)
		if !ok {
			return store.ErrNoLeases
		}
		release, holder, err := leases.Hold(ctx, p.orders.ChangeLease(p.dir), "a command")
		if holder != "" {
			err = errors.New("another command changes the loops of this project; run it again")
		}
		if err != nil {
			return err
		}
		defer release()
		return change(ctx)
	}
	if err := p.own.Refused(p.dir); err != nil {
		return err
	}
	unlock, err := p.own.Lock(ctx, []string{"loops\x00" + p.dir})
	if err != nil {
		return err
	}
	defer unlock()
	return change(ctx)
}

// apply makes one change to a file, with the lock that hooks take.
func (p *Project) apply(ctx context.Context, c *state.Change) error {
	target, err := p.root.Target(c.Path)
	if err != nil {
		return err
	}
	unlock, err := p.own.Lock(ctx, []string{target})
	if err != nil {
		return err
	}
	defer unlock()
	changes := []state.Change{*c}
	err = p.root.Apply(ctx, changes)
	c.Archived = changes[0].Archived
	return changed(c.Path, err)
}

// changed returns the error for a conflict.
func changed(file string, err error) error {
	if errors.Is(err, state.ErrChanged) {
		return &ChangedError{File: file}
	}
	return err
}

// ChangedError reports that a file changed before it was written: another command or a hook was first.
type ChangedError struct{ File string }

// Error returns the message.
func (e *ChangedError) Error() string { return e.File + " changed just now; run the command again" }

// begin makes the streaks of a policy's loop in all sessions of the project begin again.
func (p *Project) begin(ctx context.Context, policy string) error {
	memories, key := p.kept, loop.Key{Scope: p.scope, Root: p.dir, Policy: policy, Project: true}
	for {
		entries, err := memories.Load(ctx, key)
		if err != nil {
			return err
		}
		e := entries[0]
		e.Memory = rules.Memory{Said: e.Memory.Said, Reset: p.now()}
		if err := memories.Save(ctx, loop.Write{Entries: []loop.Entry{e}}); !errors.Is(err, loop.ErrConflict) {
			return err
		}
	}
}
