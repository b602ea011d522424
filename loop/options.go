package loop

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
)

// DefaultDeadline bounds one decision with all that it gathers and writes. It
// lies below the shortest time that a host gives its hooks.
const DefaultDeadline = 25 * time.Second

// Option changes how a [Loop] meets the world.
type Option func(*Loop) error

// WithRoot sets the project root, the directory that files of facts lie beneath.
func WithRoot(dir string) Option {
	return func(l *Loop) error {
		if dir == "" {
			return errors.New("the project root is empty")
		}
		l.project = dir
		return nil
	}
}

// Local makes a loop for hooks on a user's machine. It finds the root by the event, see
// [FindRoot], unless [WithRoot] sets it. It keeps memory, locks and decision log in
// RALPH_STATE_DIR, else in the user's state directory, unless [WithStore] names another
// directory, and reads the approvals there.
func Local() Option {
	return func(l *Loop) error {
		l.local = true
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
		l.rest = sync.OnceValues(func() (*rules.Program, error) {
			p, err := rest()
			if err == nil {
				err = l.fits(p)
			}
			return p, err
		})
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

// WithStore sets the directory of loop memory, locks, decision log and approvals.
func WithStore(dir string) Option {
	return func(l *Loop) error {
		l.disk = store.Open(dir)
		return nil
	}
}

// WithLog sets what receives each decision, as one line of JSON. Without it the
// line goes to the decision log of [WithStore] or [Local], if there is one. nil keeps
// no log.
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

// WithDeadline bounds each Decide, Apply and Hook. Without it that is
// [DefaultDeadline].
func WithDeadline(d time.Duration) Option {
	return func(l *Loop) error {
		if d <= 0 {
			return errors.New("the deadline must be more than nothing")
		}
		l.deadline = d
		return nil
	}
}

// WithSource adds a fact source, or puts another in the place of one of ralph's own.
// The program must have been loaded with its kind, see [Config]. One whose kind is
// Editable must be a [Writer].
func WithSource(s Source) Option {
	return func(l *Loop) error {
		if s == nil {
			return errors.New("there is no source")
		}
		kind := s.Kind()
		if kind.Name == "" {
			return errors.New("a source needs a name")
		}
		if _, ok := s.(Writer); !ok && kind.Editable {
			return fmt.Errorf("the source %s says that it is Editable, and is no loop.Writer", kind.Name)
		}
		if l.sources == nil {
			l.sources = map[string]Source{}
		}
		l.sources[kind.Name] = s
		return nil
	}
}

// WithFacts puts around between the rules and the world: for each evaluation it is
// handed the event and the world, which gathers as usual, and what it gives is
// asked instead. Tests and simulations stand in for facts, names and the loop
// memory with it; what it answers itself is not gathered, so the program may use
// sources that nobody else gathers.
func WithFacts(around func(ev host.Event, world rules.Facts) rules.Facts) Option {
	return func(l *Loop) error {
		l.around = around
		return nil
	}
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
	if l.disk == nil && l.local {
		dir, err := store.DefaultDir(l.getenv)
		if err != nil {
			dir = "" // every write then says so
		}
		l.disk = store.Open(dir)
	}
	if l.disk == nil {
		l.store = &inProcess{}
		return
	}
	l.store = l.disk
	if !l.ownLog {
		l.writeLog = l.disk.AppendLog
	}
}
