package loop

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

// Loop runs one policy. It is safe for concurrent use. Make one with [Load] or [New].
type Loop struct {
	program    atomic.Pointer[rules.Program] // nil: broken says why
	broken     error                         // why there is no program
	name       string
	project    string // the root that was set
	local      bool   // roots are found by the event
	now        func() time.Time
	getenv     func(string) string
	disk       *store.Store // nil: nothing is kept on disk
	store      Store
	comparable bool          // the store can be a key
	recorder   Recorder      // nil keeps none
	ownLog     bool          // recorder was set
	writing    chan struct{} // holds one: files are written by this loop
	private    bool
	deadline   time.Duration
	budget     rules.Budget
	config     rules.Config // of the program, without sources and verbs
	verbs      map[string]verb
	sources    map[string]Source                         // that were added
	values     map[string]any                            // of facts and names
	around     func(host.Event, rules.Facts) rules.Facts // nil: nothing is between rules and world
	begin      observer                                  // nil: no call is observed

	trusts  func(*rules.Fact, []rules.File) error // nil: what ships with ralph, and what was approved
	trusted func(root string) error               // nil: what every project brings counts
}

// verb is an effect of the embedding program, and what carries it out.
type verb struct {
	decl rules.EffectDecl
	do   func(context.Context, rules.Effect) error
}

// Load makes a loop of a policy in a file system. The loop is nil if and only if the error
// of the diagnostics is not. What [New] refuses is the finding "config". Several policies
// may be loaded with the same options: a verb that a policy does not use is not refused.
func Load(ctx context.Context, fsys fs.FS, name string, opts ...Option) (*Loop, rules.Diagnostics) {
	refused := func(found rules.Diagnostics, err error) (*Loop, rules.Diagnostics) {
		return nil, append(found, rules.Diagnostic{Pos: rules.Pos{File: name}, Check: "config", Message: err.Error(), Help: "change the arguments of loop.Load"})
	}
	switch {
	case ctx == nil:
		return refused(nil, errNoContext)
	case fsys == nil:
		return refused(nil, errors.New("the file system is nil"))
	}
	l, err := configured(opts)
	if err != nil {
		return refused(nil, err)
	}
	p, found := rules.Load(ctx, fsys, name, l.language())
	if p == nil {
		return nil, found
	}
	if err = l.take(p); err == nil {
		err = given{values: l.values}.stray(p)
	}
	if err != nil {
		return refused(found, err)
	}
	l.name = cmp.Or(l.name, p.Name)
	return l, found
}

// New makes a loop of a program. Without options it takes clock and environment from
// the process and touches no disk: it has no project, keeps its memory in the process
// and no log, and trusts only policies that ship with ralph. [Local] is for hooks.
//
// The error names an option that cannot be used, a fact whose source the loop does not
// have, a rule whose effects nothing carries out, and a value or verb that the policy does
// not use. Of a lazy program that is known later: such a fact is missing then, and such
// an effect is reported.
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

// Broken makes a loop of a policy that could not be loaded, so that it is one of
// several: at every event it lets the agent stop and says why, also in
// the decision log. Options are those of [New].
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

// Replace makes the loop run another program, such as a new version of its policy.
// Decisions that have begun finish on the old program. Memory is kept, under the name that
// the loop has; a value whose type changed starts at its default and is reported. Replace
// returns the errors of [New], and then changes nothing.
func (l *Loop) Replace(p *rules.Program) error {
	if err := l.usable(); err != nil {
		return err
	}
	return l.take(p)
}

// configured makes a loop without a program. Of several errors it returns the first, with
// a loop as the other options say.
func configured(opts []Option) (l *Loop, err error) {
	l = &Loop{writing: make(chan struct{}, 1)}
	for _, o := range opts {
		if o == nil {
			continue
		}
		if failed := o(l); err == nil {
			err = failed
		}
	}
	l.defaults()
	return l, err
}

// take makes the loop run a program that it can run.
func (l *Loop) take(p *rules.Program) error {
	if p == nil || len(p.Events) == 0 {
		return errors.New("there is no program: rules.Load returns none when a diagnostic is an error")
	}
	if err := l.fits(p); err != nil {
		return err
	}
	l.program.Store(p)
	return nil
}

var (
	errNoContext = errors.New("the context is nil")
	errNoLoop    = errors.New("there is no loop: loop.Load and loop.New make one")
)

// usable returns why the loop is none.
func (l *Loop) usable() error {
	if l == nil || l.program.Load() == nil && l.broken == nil {
		return errNoLoop
	}
	return nil
}
