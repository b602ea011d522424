package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

// defaultDeadline bounds one decision with all that it gathers and writes. It
// is below the shortest time that a host gives its hooks.
const defaultDeadline = 25 * time.Second

// Option changes how a [Loop] meets the world.
type Option func(*Loop) error

// set is an option that is never refused.
func set(to func(*Loop)) Option {
	return func(l *Loop) error {
		to(l)
		return nil
	}
}

// WithRoot sets the project root, the directory that files of facts lie beneath.
func WithRoot(dir string) Option {
	return func(l *Loop) error {
		if info, err := os.Stat(dir); err != nil {
			return fmt.Errorf("the project root cannot be used: %w", err)
		} else if !info.IsDir() {
			return fmt.Errorf("the project root %s is not a directory", dir)
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
	return set(func(l *Loop) { l.local = true })
}

// WithState keeps memory, locks and decision log in a directory of ralph's own, and
// takes the approvals from there. [WithStore] and [WithRecorder] go before it.
func WithState(dir string) Option {
	return func(l *Loop) error {
		if dir == "" {
			return errors.New("the state directory is empty")
		}
		l.disk = store.Open(dir)
		return nil
	}
}

// WithStore sets where memories are kept. Without it they are kept in the process.
func WithStore(s Store) Option {
	return func(l *Loop) error {
		if local, ok := s.(localStore); s == nil || ok && local.dir.Dir() == "" {
			return errors.New("there is no store, or it has no directory")
		}
		l.store = s
		return nil
	}
}

// WithRecorder sets what takes the record of each decision; nil keeps none. Without it
// records go to the log of [WithState] or [Local], if there is one.
func WithRecorder(r Recorder) Option {
	return set(func(l *Loop) { l.recorder, l.ownLog = r, true })
}

// WithVerb adds an effect of your own to the policy language, and what carries it out.
// do is called once for each effect, after the memory was saved and the facts were
// written, in the order of the rules; it must be safe for concurrent use. An error is
// reported and changes no verdict. do for the verb "run" gets the programs that effects run,
// in [rules.Effect.Args], and none is started.
func WithVerb(d rules.EffectDecl, do func(ctx context.Context, e rules.Effect) error) Option {
	return func(l *Loop) error {
		if d.Name == "" || do == nil {
			return fmt.Errorf("the verb %q needs a name and a function", d.Name)
		}
		if _, twice := l.verbs[d.Name]; twice {
			return fmt.Errorf("the verb %s is given twice", d.Name)
		}
		if l.verbs == nil {
			l.verbs = map[string]verb{}
		}
		l.verbs[d.Name] = verb{d, do}
		return nil
	}
}

// WithConfig sets what else the policy language of [Load] and [Config] has: functions,
// events, params, what a policy may touch, how large it may be. It replaces the configuration of
// an earlier WithConfig; sources and verbs of other options are added to it.
func WithConfig(base rules.Config) Option {
	return set(func(l *Loop) { l.config = base })
}

// WithBudget bounds what one evaluation may spend. A zero field is the default of
// [rules.Budget].
func WithBudget(b rules.Budget) Option {
	return func(l *Loop) error {
		if b.Steps < 0 {
			return errors.New("the budget must not be negative")
		}
		l.budget = b
		return nil
	}
}

// observer begins to observe a call, see [WithObserver].
type observer func(context.Context, host.Event) (context.Context, func(*Decision))

// WithObserver calls begin at the start of each Run, Preview, Apply and of each policy that
// [Loop.Hook] evaluates. Sources, stores, verbs and the [Recorder] get its context, such as that of a span.
// The function that it returns is called with the decision at the end; it may be nil. Where
// one of them panics, the agent may stop.
func WithObserver(begin func(context.Context, host.Event) (context.Context, func(*Decision))) Option {
	return set(func(l *Loop) { l.begin = begin })
}

// WithName sets the name under which the policy is known: in the decision log,
// before its reasons where several policies answer, and as part of the key of its
// memory. Without it that is the program's file name.
func WithName(name string) Option {
	return set(func(l *Loop) { l.name = name })
}

// WithUserScope is for a hook that a user installed for all projects. What a project brings counts only
// where trusted returns nil: until then a loop there is reported once a session and not continued, no program
// runs there, and to a policy that names no loop the files of the project are missing. The error says why, and what to do.
// With nil the projects count that the user trusted, see [Local] and [WithState].
func WithUserScope(trusted func(root string) error) Option {
	return func(l *Loop) error {
		if l.trusted = trusted; trusted == nil {
			l.trusted = func(root string) error { return approval.Project(l.disk, root) }
		}
		return nil
	}
}

// WithClock sets the clock. Without it time.Now is used. It is read once a decision.
func WithClock(now func() time.Time) Option {
	return set(func(l *Loop) { l.now = now })
}

// WithEnv sets where environment variables come from. Without it os.Getenv is used.
func WithEnv(getenv func(string) string) Option {
	return set(func(l *Loop) { l.getenv = getenv })
}

// WithPrivate lets what is private into trace and log, such as prompts, texts of the
// session and environment values, and the texts for the agent. Without it their sizes
// stand there.
func WithPrivate() Option {
	return set(func(l *Loop) { l.private = true })
}

// WithDeadline bounds each Run, Preview, Apply and Hook. Without it that is 25 seconds,
// which is below the shortest time that a host gives its hooks.
func WithDeadline(d time.Duration) Option {
	return func(l *Loop) error {
		if d <= 0 {
			return errors.New("the deadline must be positive")
		}
		l.deadline = d
		return nil
	}
}

// WithSource adds a fact source to the policy language, or replaces one of ralph's own.
// A program for [New] must have been loaded with its kind, see [Config]. One whose kind is
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
	return set(func(l *Loop) { l.around = around })
}

// Config returns the configuration with which [Load] loads a policy: what ships with ralph,
// and the sources and verbs of the options. It ignores options that [New] refuses.
func Config(opts ...Option) rules.Config {
	l, _ := configured(opts) // New returns the error
	return l.language()
}

// language is the configuration of the programs that the loop can run.
func (l *Loop) language() rules.Config {
	c := l.config
	if c.Shipped == nil {
		c.Shipped = examples.FS
	}
	if c.Hosts == nil {
		c.Hosts = host.Names()
	}
	c.Deadline = cmp.Or(c.Deadline, l.deadline, defaultDeadline)
	c.Sources, c.Effects = slices.Clip(c.Sources), slices.Clip(c.Effects)
	known := c.Sources
	if len(l.sources) > 0 {
		known = slices.Concat(known, rules.Sources())
	}
	for _, name := range slices.Sorted(maps.Keys(l.sources)) {
		if !slices.ContainsFunc(known, func(k rules.SourceKind) bool { return k.Name == name }) {
			c.Sources = append(c.Sources, l.sources[name].Kind())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.verbs)) {
		if !slices.ContainsFunc(c.Effects, func(d rules.EffectDecl) bool { return d.Name == name }) && name != string(rules.RunEffect) {
			c.Effects = append(c.Effects, l.verbs[name].decl)
		}
	}
	return c
}

// checkConfig returns what the language refuses of sources, verbs, events and functions.
func (l *Loop) checkConfig() error {
	c := l.language()
	if len(c.Sources)+len(c.Effects)+len(c.Events)+len(c.Functions) == 0 {
		return nil
	}
	c.Set, c.Allow, c.Limits, c.Lazy = nil, nil, rules.LoadLimits{}, false // of the policy
	_, found := rules.LoadBytes(context.Background(), "config", []byte("ralph: 1\nrules: [{name: none, stop: none}]\n"), c)
	return found.Err()
}

// defaults fills in what no option set.
func (l *Loop) defaults() {
	if l.now == nil {
		l.now = time.Now
	}
	if l.getenv == nil {
		l.getenv = os.Getenv
	}
	l.deadline = cmp.Or(l.deadline, defaultDeadline)
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
	l.comparable = reflect.ValueOf(l.store).Comparable()
	if !l.ownLog && l.disk != nil {
		l.recorder = localLog{l.disk}
	}
}
