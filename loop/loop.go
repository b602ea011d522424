package loop

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// Loop runs one policy. It is safe for concurrent use.
type Loop struct {
	program  *rules.Program
	broken   error // why there is no program
	name     string
	project  string // the root that was set
	local    bool   // roots are found by the event
	now      func() time.Time
	getenv   func(string) string
	disk     *store.Store // nil: nothing is kept on disk
	store    Store
	recorder Recorder      // nil keeps none
	ownLog   bool          // recorder was set
	writing  chan struct{} // holds one: files are written by this loop
	private  bool
	deadline time.Duration
	verbs    map[string]Writer
	sources  map[string]Source                         // that were added
	values   map[string]any                            // of facts and names
	around   func(host.Event, rules.Facts) rules.Facts // nil: nothing stands between rules and world
	open     *schema.Schema                            // of facts without a schema: it only normalises numbers

	namesOnce sync.Once
	notNames  []string // of values, that must be those of facts

	trusts func(*rules.Fact, []rules.File) error // nil: what ships with ralph, and what was approved
}

// New makes a loop of a program. Without options it takes clock and environment from
// the process and touches no disk: it has no project, keeps its memory in the process
// and no log, and trusts only policies that ship with ralph. [Local] is for hooks.
//
// The error names a fact whose source the loop does not have, and a rule whose effects
// nothing carries out. Of a lazy program that is known later: such a fact is missing
// then, and such an effect is reported.
func New(p *rules.Program, opts ...Option) (*Loop, error) {
	if p == nil {
		return nil, errors.New("there is no program: rules.Load gives none when a diagnostic is an error")
	}
	l, err := (&Loop{program: p, name: p.Name}).with(opts)
	if err != nil {
		return nil, err
	}
	if err := l.fits(p); err != nil {
		return nil, err
	}
	return l, nil
}

// Broken makes a loop of a policy that could not be loaded, so that it takes its
// place among others: at every event it lets the agent stop and says why, also in
// the decision log. Options are those of [New].
func Broken(name string, why error, opts ...Option) (*Loop, error) {
	if why == nil {
		return nil, errors.New("a broken policy needs a reason")
	}
	return (&Loop{broken: why, name: name}).with(opts)
}

func (l *Loop) with(opts []Option) (*Loop, error) {
	for _, o := range opts {
		if o == nil {
			continue
		}
		if err := o(l); err != nil {
			return nil, err
		}
	}
	var err error
	if l.open, err = schema.FromValue("open", true); err != nil {
		return nil, err
	}
	l.defaults()
	return l, nil
}

// Hook answers one call of a hook: it decodes stdin, decides, applies, and encodes
// the answer in the host's dialect. h may be nil; the input then shows which host it is. Hook never panics and never continues on an error. It answers at its
// deadline at the latest, and up to a second later where a [Recorder] takes its
// time; a source that ignores its context then goes on in a
// goroutine that ends when the source returns.
func (l *Loop) Hook(ctx context.Context, h *host.Host, stdin []byte) host.Answer {
	return NewGate(l).Hook(ctx, h, stdin)
}
