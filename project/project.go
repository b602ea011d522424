// Package project, which may change in any version, shows and changes what a project has: the loops of its policies, as they
// run, as they ended, and how they start and stop. It is what commands, pages and other programs share, and prints nothing.
//
// A loop is what a policy names under loop:, see [rules.Loop]; a policy without it has none here. What is marked with JSON
// names is what commands print in JSON; ralph help schema has the forms.
//
// Start with [Open]. [Project.Policies] lists the policies, [Project.Status] the loops, [Project.History] the decisions.
// [Project.Start], [Project.Stop], [Project.Pause], [Project.Resume] and [Project.Hint] change what runs, and
// [Project.Approve] and [Project.Trust] what may run.
package project

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// Config says where a project is, and what a program adds to it.
type Config struct {
	Dir      string              // root of the project, absolute and without links; "" is none: only what is kept of all projects can be read
	State    string              // directory of ralph's own files, as in [loop.WithState]; default: that of Env
	Options  []loop.Option       // of every loop and policy: sources and verbs of the program
	Policies []Policy            // that the program makes; default: those of .ralph and those that ship with ralph
	Env      func(string) string // os.Getenv by default
	Now      func() time.Time    // time.Now by default
}

// Project is an open project. It is safe for concurrent use.
type Project struct {
	dir     string
	root    *state.Root // nil without a directory
	own     *store.Store
	options []loop.Option
	made    []Policy // by the program
	env     func(string) string
	now     func() time.Time
	logged  logged
}

// Open opens a project. Close it.
func Open(c Config) (*Project, error) {
	p := &Project{dir: c.Dir, options: c.Options, made: c.Policies, env: c.Env, now: c.Now}
	if p.env == nil {
		p.env = os.Getenv
	}
	if p.now == nil {
		p.now = time.Now
	}
	if c.State == "" {
		c.State, _ = store.DefaultDir(p.env) // without a place for them nothing is kept, and what writes fails
	}
	p.own = store.Open(c.State)
	if c.Dir == "" {
		return p, nil
	}
	var err error
	p.root, err = state.OpenRoot(c.Dir)
	return p, err
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

// loops are the policies that name a loop.
func loops(all []Policy) []Policy {
	return slices.DeleteFunc(slices.Clone(all), func(o Policy) bool { return o.Program == nil || o.Program.Loop() == nil })
}

// loop makes the loop of a policy.
func (p *Project) loop(policy Policy, opts ...loop.Option) (*loop.Loop, error) {
	return loop.New(policy.Program, slices.Concat(policy.Options, []loop.Option{
		loop.WithRoot(p.dir), loop.WithState(p.own.Dir()), loop.WithName(policy.Name),
		loop.WithEnv(p.env), loop.WithClock(p.now), loop.WithRecorder(nil),
	}, opts)...)
}

// event is what a command makes of itself for the head of a policy: a session that ends its turn.
func (p *Project) event(session string) host.Event {
	return host.Event{Host: host.ClaudeCode, Name: host.Stop, SessionID: session, Cwd: p.dir}
}

// A found loop is what the head of a policy says of its loop. Nothing is run to find it, and no model asked.
type found struct {
	policy  Policy
	verdict *rules.Verdict
	file    string       // of its state, "" if the head did not get there
	status  rules.Status // of its state
}

var errNotRun = errors.New("which is not gathered to show a loop")

// look finds the loop of a policy, as a session sees it.
func (p *Project) look(ctx context.Context, policy Policy, session string) (found, error) {
	f := found{policy: policy}
	l, err := p.loop(policy, loop.WithTrust(func(*rules.Fact, []rules.File) error { return errNotRun }))
	if err != nil {
		return f, err
	}
	if f.verdict, err = l.Look(ctx, p.event(session)); err != nil {
		return f, err
	}
	if f.verdict.Fault != "" && !f.verdict.Idle {
		return f, errors.New(f.verdict.Reason)
	}
	for _, read := range f.verdict.Trace.Facts {
		if read.Name == policy.Program.Loop().State.Name {
			f.file, f.status = read.Path, read.Status
		}
	}
	if f.verdict.Loop != nil {
		f.file = f.verdict.Loop.State
	}
	return f, nil
}

// exists reports whether there is a loop.
func (f found) exists() bool { return f.verdict.Loop != nil }

// problems are the texts of what could not be used. Problems of other facts than the state count only where there is a loop.
func (f found) problems() (texts []string) {
	for _, problem := range f.verdict.Problems {
		if f.exists() || problem.Fact == f.policy.Program.Loop().State.Name {
			texts = append(texts, problem.Text)
		}
	}
	return texts
}

// format is how the file of a fact is read and written.
func format(f *rules.Fact) state.Format {
	switch {
	case f.Source.Name == "text":
		return state.Text
	case !f.Source.Body:
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

// off says why no session is continued by a policy, whatever its loop says; "" if nothing keeps it.
func (p *Project) off(policy string, session string) (string, error) {
	if why, off := workspace.Off(p.dir, p.env); off {
		return "all loops are off: " + why, nil
	}
	pauses, err := p.own.Pauses(p.dir)
	for _, pause := range pauses {
		if pause.Covers(policy, session) {
			return "it is paused", nil
		}
	}
	return "", err
}

// locked runs a change while no other command changes the loops of the project.
func (p *Project) locked(ctx context.Context, change func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
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

// apply makes one change to a file, under the lock that hooks take.
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

// changed says of a conflict what to do.
func changed(file string, err error) error {
	if errors.Is(err, state.ErrChanged) {
		return &ChangedError{File: file}
	}
	return err
}

// ChangedError says that a file changed while it was to be written: another command or a hook was first.
type ChangedError struct{ File string }

// Error returns a sentence.
func (e *ChangedError) Error() string { return e.File + " changed just now; run the command again" }

// mark changes what all sessions of the project know of a policy's loop.
func (p *Project) mark(ctx context.Context, policy string, stopped bool) error {
	memories, key := loop.LocalStore(p.own.Dir()), loop.Key{Root: p.dir, Policy: policy, Project: true}
	for {
		entries, err := memories.Load(ctx, key)
		if len(entries) != 1 { // one that is damaged is replaced
			return err
		}
		e := entries[0]
		e.Memory = rules.Memory{Said: e.Memory.Said, Reset: p.now(), Stopped: stopped}
		if err := memories.Save(ctx, e); !errors.Is(err, loop.ErrConflict) {
			return err
		}
	}
}
