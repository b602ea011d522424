package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

// Loop runs one policy. It is safe for concurrent use. Use [Load] or [New] to make one; the zero Loop lets every agent
// stop.
type Loop struct {
	program atomic.Pointer[rules.Program] // nil: see broken
	broken  error                         // why program is nil
	digest  atomic.Pointer[digest]        // of the program that was recorded last
	name    string
	scope   string // of WithScope
	now     func() time.Time
	getenv  func(string) string
	offEnv  func(string) string // has RALPH_OFF

	project    project
	kept       kept
	trust      trust
	bounds     bounds
	extensions extensions
}

// project is where a loop works.
type project struct {
	root  string // set by an option
	local bool   // the event determines the root
}

// kept is what a loop keeps, and where.
type kept struct {
	disk       *store.Store // nil: nothing is on disk
	store      Store
	orders     Store         // has what persons order, approve and add, and the live runs; nil: nothing does
	apart      bool          // that is not the store
	keeper     Recorder      // the store, if it saves records with what it saves
	comparable bool          // the store can be a map key
	writing    chan struct{} // has one element: the lock of files that this loop writes
	recorders  []Recorder
	private    bool // records have private values
}

// trust has functions that return why something may not be used, or nil. All must return nil.
type trust struct {
	facts    []func(*rules.Fact, []rules.File) error // none: trust what ships with ralph or is approved
	projects []func(root string) error               // none: trust every project
}

// bounds are the limits of one decision.
type bounds struct {
	deadline time.Duration
	budget   rules.Budget
}

// extensions are what the embedding program adds.
type extensions struct {
	config    rules.Config // of programs, without what has a name
	functions map[string]rules.Function
	events    map[string]bool
	effects   map[string]ownEffect
	sources   map[string]Source
	values    map[string]any                              // of facts and names
	around    []func(host.Event, rules.Facts) rules.Facts // wrap the facts, the first one outermost
	observers []observer                                  // the first one outermost
}

// ownEffect is an effect that the embedding program adds.
type ownEffect struct {
	decl rules.EffectDecl
	do   func(context.Context, Call) error
}

// Load returns a loop for the policy name in fsys. The loop is nil if and only if the diagnostics have an error. An
// error of [New] is the finding "config", but an effect that the policy does not use is no error: several policies may
// share their options.
func Load(ctx context.Context, fsys fs.FS, name string, opts ...Option) (*Loop, rules.Diagnostics) {
	l, err := configured(opts)
	if err != nil {
		return nil, refused(nil, name, err)
	}
	p, found := l.read(ctx, fsys, name)
	if p == nil {
		return nil, found
	}
	if err = l.take(p); err == nil {
		err = given{values: l.extensions.values}.stray(p)
	}
	if err != nil {
		return nil, refused(found, name, err)
	}
	l.name = cmp.Or(l.name, p.Name)
	return l, found
}

// New returns a loop for a program. Without options it uses the clock and environment of the process and touches no
// disk: it has no project and no log, keeps its memory in the process, and trusts only policies that ship with ralph.
// [Local] is for hooks.
//
// The error names an option that is invalid, a fact whose source the loop lacks, a rule whose effects nothing carries
// out, or a value or effect that the policy does not use. A lazy program is checked later: such a fact is then missing,
// and such an effect is reported.
func New(p *rules.Program, opts ...Option) (*Loop, error) {
	l, err := configured(opts)
	if err == nil {
		err = l.checkConfig()
	}
	if err == nil {
		err = l.take(p)
	}
	if err == nil {
		err = l.unused(p)
	}
	if err != nil {
		return nil, err
	}
	l.name = cmp.Or(l.name, p.Name)
	return l, nil
}

// Broken returns a loop for a policy that could not be loaded, to run beside others: at every event it lets the agent
// stop and reports why, also in the decision log. Options are those of [New].
func Broken(name string, why error, opts ...Option) (*Loop, error) {
	if why == nil {
		return nil, errors.New("a broken policy needs a reason")
	}
	l, err := configured(opts)
	if err != nil {
		return nil, err
	}
	l.name, l.broken = cmp.Or(l.name, name), why
	return l, nil
}

// Replace makes the loop run p, such as a new version of its policy. Decisions under way finish on the old program. The
// loop keeps its name and memory; a value whose type changed starts at its default and is reported. Replace returns the
// errors of [New], and then changes nothing.
func (l *Loop) Replace(p *rules.Program) error {
	if err := l.usable(); err != nil {
		return err
	}
	return l.take(p)
}

// Reload makes the loop run the policy name in fsys, loaded with the loop's own configuration, see [Config]. On errors
// it returns them as [Load] does, and changes nothing; otherwise it does what [Loop.Replace] does.
func (l *Loop) Reload(ctx context.Context, fsys fs.FS, name string) rules.Diagnostics {
	if err := l.usable(); err != nil {
		return refused(nil, name, err)
	}
	p, found := l.read(ctx, fsys, name)
	if p != nil {
		if err := l.take(p); err != nil {
			return refused(found, name, err)
		}
	}
	return found
}

// read loads a policy with the loop's own configuration.
func (l *Loop) read(ctx context.Context, fsys fs.FS, name string) (*rules.Program, rules.Diagnostics) {
	switch {
	case ctx == nil:
		return nil, refused(nil, name, errNoContext)
	case fsys == nil:
		return nil, refused(nil, name, errors.New("the file system is nil"))
	}
	return rules.Load(ctx, fsys, name, l.language())
}

// refused adds an error about the arguments of Load or Reload.
func refused(found rules.Diagnostics, name string, err error) rules.Diagnostics {
	return append(found, rules.Diagnostic{Pos: rules.Pos{File: name}, Check: "config", Message: err.Error(), Help: "change the options or the arguments"})
}

// configured returns a loop without a program. Of several errors it returns the first, with a loop from the other
// options.
func configured(opts []Option) (l *Loop, err error) {
	l = &Loop{kept: kept{writing: make(chan struct{}, 1)}}
	for i, o := range opts {
		failed := fmt.Errorf("option %d of %d is nil: leave it out", i+1, len(opts))
		if o != nil {
			failed = o(l)
		}
		err = cmp.Or(err, failed)
	}
	l.defaults()
	return l, err
}

// take checks a program and makes the loop run it.
func (l *Loop) take(p *rules.Program) error {
	if p == nil || len(p.Events) == 0 {
		return errors.New("there is no program: rules.Load returns none when a diagnostic is an error")
	}
	if err := cmp.Or(p.Allowed(l.extensions.config.Allow...).Err(), l.fits(p)); err != nil {
		return err
	}
	l.program.Store(p)
	return nil
}

var (
	errNoContext = errors.New("the context is nil")
	errNoLoop    = errors.New("there is no loop: loop.Load and loop.New make one")
)

// usable returns why the loop cannot run, or nil.
func (l *Loop) usable() error {
	if l == nil || l.program.Load() == nil && l.broken == nil {
		return errNoLoop
	}
	return nil
}
