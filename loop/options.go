package loop

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// DefaultDeadline bounds one decision with all that it gathers and writes. It
// lies below the shortest time that a host gives its hooks.
const DefaultDeadline = 25 * time.Second

// Option changes how a [Loop] meets the world.
type Option func(*Loop) error

// WithRoot fixes the project root. Without it the root is found for each event,
// see [FindRoot].
func WithRoot(dir string) Option {
	return func(l *Loop) error {
		if dir == "" {
			return errors.New("the project root is empty")
		}
		l.project = dir
		return nil
	}
}

// WithRest says that the program is only the head of its policy, see
// [rules.LoadHead]. rest gives the policy whole; it is called once, at the first
// event that the head lets pass. If it fails the loop lets the agent stop at all
// such events and says why, like that of [Broken].
func WithRest(rest func() (*rules.Program, error)) Option {
	return func(l *Loop) error {
		if rest == nil {
			return errors.New("the rest of a policy needs a function that gives it")
		}
		l.rest = sync.OnceValues(rest)
		return nil
	}
}

// WithName sets the name under which the policy is known: in the decision log,
// before its reasons where several policies answer, and as part of the key of its
// memory. Without it that is the program's file name.
func WithName(name string) Option {
	return func(l *Loop) error {
		l.name = name
		return nil
	}
}

// WithClock sets the clock. Without it time.Now is used. It is read once an event.
func WithClock(now func() time.Time) Option {
	return func(l *Loop) error {
		l.now = now
		return nil
	}
}

// WithEnv sets where environment variables come from. Without it os.Getenv is used.
func WithEnv(getenv func(string) string) Option {
	return func(l *Loop) error {
		l.getenv = getenv
		return nil
	}
}

// WithStore sets the directory of loop memory, locks and decision log. Without it
// RALPH_STATE_DIR is used, else the user's state directory.
func WithStore(dir string) Option {
	return func(l *Loop) error {
		l.store = store.Open(dir)
		return nil
	}
}

// WithLog sets what receives each decision, as one line of JSON. Without it the
// line goes to the decision log of the store. nil keeps no log.
func WithLog(write func(line []byte) error) Option {
	return func(l *Loop) error {
		l.writeLog, l.ownLog = write, true
		return nil
	}
}

// WithPrivate lets prompts, transcripts, environment values and the texts for the
// agent into trace and log. Without it their sizes stand there.
func WithPrivate() Option {
	return func(l *Loop) error {
		l.private = true
		return nil
	}
}

// WithDeadline bounds one decision. Without it that is [DefaultDeadline].
func WithDeadline(d time.Duration) Option {
	return func(l *Loop) error {
		if d <= 0 {
			return errors.New("the deadline must be more than nothing")
		}
		l.deadline = d
		return nil
	}
}

// WithSource adds a fact source. The program must have been loaded with its kind,
// see [Config].
func WithSource(s Source) Option {
	return func(l *Loop) error {
		if s == nil || s.Kind().Name == "" {
			return errors.New("a source needs a name")
		}
		if l.sources == nil {
			l.sources = map[string]Source{}
		}
		l.sources[s.Kind().Name] = s
		return nil
	}
}

// WithFacts puts around between the rules and the world: for each evaluation it is
// handed the event and the world, which gathers as usual, and what it gives is
// asked instead. Tests and simulations stand in for facts, names and the loop
// memory with it; what it answers itself is not gathered.
func WithFacts(around func(ev host.Event, world rules.Facts) rules.Facts) Option {
	return func(l *Loop) error {
		l.around = around
		return nil
	}
}

// Source gathers the values of facts of one kind. Gather is called at most once
// for each fact of an event, with a context that ends at the fact's timeout. It
// must not panic; absent and invalid are values, not errors.
type Source interface {
	Kind() rules.SourceKind
	Gather(ctx context.Context, q Query) rules.Value
}

// Query is what a source is asked.
type Query struct {
	Fact *rules.Fact // its declaration
	Args []string    // its argument, rendered: one text, or the words of a list
	// Options are its options that have holes, rendered, by name; those without
	// holes stand in Fact.Options.
	Options map[string]string
	Event   host.Event
	Root    *state.Root // files beneath the project
	Env     func(string) string
	Now     time.Time // of the event
}

// Config is the configuration with which programs for a loop are loaded: the
// shipped guards, and the kinds of these sources beside ralph's own.
func Config(sources ...Source) rules.Config {
	c := rules.Config{Shipped: examples.FS}
	for _, s := range sources {
		c.Sources = append(c.Sources, s.Kind())
	}
	return c
}

// defaults fills in what no option set.
func (l *Loop) defaults() {
	if l.now == nil {
		l.now = time.Now
	}
	if l.getenv == nil {
		l.getenv = os.Getenv
	}
	if l.deadline == 0 {
		l.deadline = DefaultDeadline
	}
	if l.store == nil {
		dir, err := store.DefaultDir(l.getenv)
		if err != nil {
			dir = "" // every write then says so
		}
		l.store = store.Open(dir)
	}
	if !l.ownLog {
		l.writeLog = l.store.AppendLog
	}
}
