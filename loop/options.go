package loop

import (
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
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

// Local is for hooks on a user's machine. Unless [WithRoot] sets the root, it is
// CLAUDE_PROJECT_DIR where that is a directory, else the nearest directory, from that of the
// event upwards, that has .ralph or one of the policy's [rules.Program.HeadFiles], else the
// nearest with .git, else the directory of the event. Local is [WithState] in RALPH_STATE_DIR, else in the user's state directory, unless that names another.
func Local() Option {
	return func(l *Loop) error {
		l.local = true
		return nil
	}
}

// WithState keeps memory, locks and decision log in a directory of ralph's own, and
// takes the approvals from there. [WithStore] and [WithRecorder] go before it.
func WithState(dir string) Option {
	return func(l *Loop) error {
		l.disk = store.Open(dir)
		return nil
	}
}

// WithStore sets where memories are kept. Without it they are kept in the process.
func WithStore(s Store) Option {
	return func(l *Loop) error {
		if s == nil {
			return errors.New("there is no store")
		}
		l.store = s
		return nil
	}
}

// WithRecorder sets what takes the record of each decision; nil keeps none. Without it
// records go to the log of [WithState] or [Local], if there is one.
func WithRecorder(r Recorder) Option {
	return func(l *Loop) error {
		l.recorder, l.ownLog = r, true
		return nil
	}
}

// WithVerb sets who carries out an effect of your own, see [rules.EffectDecl]. Each is
// handed over by itself, after the memory was saved and the facts were written, in the
// order of the rules, once. An error is reported and changes no verdict. A Writer for
// "run" gets the programs that effects run, in [rules.Effect.Args], and none is started.
func WithVerb(name string, w Writer) Option {
	return func(l *Loop) error {
		if w == nil {
			return fmt.Errorf("there is no Writer for %s", name)
		}
		if l.verbs == nil {
			l.verbs = map[string]Writer{}
		}
		l.verbs[name] = w
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

// WithClock sets the clock. Without it time.Now is used. It is read once a decision.
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

// WithPrivate lets what is private into trace and log, such as prompts, texts of the
// session and environment values, and the texts for the agent. Without it their sizes
// stand there.
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
// asked instead. Tests and replays give facts and names with it;
// what it answers itself is not gathered, so the program may use sources that the loop
// does not have, and [New] checks neither sources nor writers.
func WithFacts(around func(ev host.Event, world rules.Facts) rules.Facts) Option {
	return func(l *Loop) error {
		l.around = around
		return nil
	}
}

// defaults fills in what no option set.
func (l *Loop) defaults() {
	l.writing = make(chan struct{}, 1)
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
	if l.store == nil && l.disk != nil {
		l.store = localStore{dir: l.disk}
	} else if l.store == nil {
		l.store = InMemory()
	}
	if !l.ownLog && l.disk != nil {
		l.recorder = localLog{l.disk}
	}
}
