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

// defaultDeadline bounds one decision including what it gathers and writes. It is below the shortest timeout of a
// host's hooks.
const defaultDeadline = 25 * time.Second

// Option configures a [Loop].
type Option func(*Loop) error

// set returns an option that cannot fail.
func set(to func(*Loop)) Option {
	return func(l *Loop) error {
		to(l)
		return nil
	}
}

// WithRoot sets the project root, the directory with the files of facts.
func WithRoot(dir string) Option {
	return func(l *Loop) error {
		if info, err := os.Stat(dir); err != nil {
			return fmt.Errorf("the project root cannot be used: %w", err)
		} else if !info.IsDir() {
			return fmt.Errorf("the project root %s is not a directory", dir)
		}
		l.project.root = dir
		return nil
	}
}

// Local configures a loop for hooks on a user's machine. Unless [WithRoot] sets the root, it is CLAUDE_PROJECT_DIR if
// that is a directory, otherwise the nearest directory, from that of the event upwards, with .ralph or one of the
// policy's [rules.Program.HeadFiles], otherwise the nearest with .git, otherwise the directory of the event. Unless
// [WithState] sets the state directory, it is RALPH_STATE_DIR, otherwise the user's state directory.
func Local() Option {
	return set(func(l *Loop) { l.project.local = true })
}

// WithState sets the directory for memory, locks, approvals and the decision log. [WithStore] and [WithRecorder]
// override it.
func WithState(dir string) Option {
	return func(l *Loop) error {
		if dir == "" {
			return errors.New("the state directory is empty")
		}
		l.kept.disk = store.Open(dir)
		return nil
	}
}

// WithStore sets where memories are kept. The default is in the process.
func WithStore(s Store) Option {
	return func(l *Loop) error {
		if local, ok := s.(localStore); s == nil || ok && local.dir.Dir() == "" {
			return errors.New("there is no store, or it has no directory")
		}
		l.kept.store = s
		return nil
	}
}

// WithRecorder sets what receives the record of each decision; nil keeps none. The default is the log of [WithState] or
// [Local], if either is used.
func WithRecorder(r Recorder) Option {
	return set(func(l *Loop) { l.kept.recorder, l.kept.ownLog = r, true })
}

// WithEffect adds an effect to the policy language and a function that carries it out. The loop calls do once for each
// effect, after it saved the memory and wrote the facts, in the order of the rules; do must be safe for concurrent use.
// An error is reported and does not change the verdict. If its name is "run", do receives the programs that effects
// run, in [rules.Effect.Args], and none is started.
func WithEffect(d rules.EffectDecl, do func(ctx context.Context, c Call) error) Option {
	return func(l *Loop) error {
		if d.Name == "" || do == nil {
			return fmt.Errorf("the effect %q needs a name and a function", d.Name)
		}
		if _, twice := l.extensions.effects[d.Name]; twice {
			return fmt.Errorf("the effect %s is declared twice", d.Name)
		}
		if l.extensions.effects == nil {
			l.extensions.effects = map[string]ownEffect{}
		}
		l.extensions.effects[d.Name] = ownEffect{d, do}
		return nil
	}
}

// WithConfig sets the rest of the configuration for [Load] and [Config]: functions, events, params, capabilities and
// size limits. Sources and effects of other options are added to it. A second WithConfig is an error, so that none replaces
// what another allows.
func WithConfig(base rules.Config) Option {
	return func(l *Loop) error {
		if l.extensions.configured {
			return errors.New("WithConfig is used twice: write one configuration")
		}
		l.extensions.config, l.extensions.configured = base, true
		return nil
	}
}

// WithBudget bounds one evaluation. Zero fields mean the defaults of [rules.Budget].
func WithBudget(b rules.Budget) Option {
	return func(l *Loop) error {
		if b.Steps < 0 {
			return errors.New("the budget must not be negative")
		}
		l.bounds.budget = b
		return nil
	}
}

// observer is the function of [WithObserver].
type observer func(context.Context, host.Event) (context.Context, func(*Decision))

// WithObserver calls begin at the start of each Run, Preview, Apply, and of each policy that [Loop.Hook] evaluates.
// Sources, stores, effects and the [Recorder] receive the context that begin returns, such as that of a span. At the end
// the loop calls the function that begin returns, which may be nil, with the decision. If either panics, the agent may
// stop.
func WithObserver(begin func(context.Context, host.Event) (context.Context, func(*Decision))) Option {
	return set(func(l *Loop) { l.extensions.begin = begin })
}

// WithName sets the name of the policy: in the decision log, before its reasons if several policies answer, and in the
// key of its memory. The default is the program's file name.
func WithName(name string) Option {
	return set(func(l *Loop) { l.name = name })
}

// WithScope separates loops that share a [Store]: nothing that is counted or remembered in one scope counts in another,
// whatever their policies, sessions and directories are called. It is part of each [Key] and record, and for a service that
// decides for several tenants it is the tenant, which no event names. Without it a loop has the scope of ralph's own loops;
// an empty tenant is refused.
func WithScope(tenant string) Option {
	return func(l *Loop) error {
		if l.scope = tenant; tenant == "" {
			return errors.New("the scope is empty")
		}
		return nil
	}
}

// WithUserScope is for a hook that a user installed for all projects. A project counts only if trusted returns nil for
// its root. Otherwise a loop in it is reported once a session and not continued, no program runs, and a policy that
// names no loop finds no files of the project. The error must say why, and what to do. A nil function trusts the
// projects that the user trusted, see [Local] and [WithState].
func WithUserScope(trusted func(root string) error) Option {
	return func(l *Loop) error {
		if l.trust.project = trusted; trusted == nil {
			l.trust.project = func(root string) error { return approval.Project(l.kept.disk, root) }
		}
		return nil
	}
}

// WithClock sets the clock. The default is time.Now. The loop reads it once a decision.
func WithClock(now func() time.Time) Option {
	return set(func(l *Loop) { l.now = now })
}

// WithEnv sets how to read environment variables. The default is os.Getenv.
func WithEnv(getenv func(string) string) Option {
	return set(func(l *Loop) { l.getenv = getenv })
}

// WithPrivate includes the words of the user and the agent in traces and logs: prompts, the session's text, hints, and what
// is made from them. By default only their sizes are included. Of secrets, such as values of the environment, logs
// always have only the sizes.
func WithPrivate() Option {
	return set(func(l *Loop) { l.kept.private = true })
}

// WithDeadline bounds each Run, Preview, Apply and Hook. The default is 25 seconds, which is below the shortest timeout
// of a host's hooks.
func WithDeadline(d time.Duration) Option {
	return func(l *Loop) error {
		if d <= 0 {
			return errors.New("the deadline must be positive")
		}
		l.bounds.deadline = d
		return nil
	}
}

// WithSource adds a fact source to the policy language, or replaces one of ralph's own. A program for [New] must have
// been loaded with its kind, see [Config]. A source whose kind is Editable must be a [Writer].
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
			return fmt.Errorf("the source %s is Editable but not a loop.Writer", kind.Name)
		}
		if l.extensions.sources == nil {
			l.extensions.sources = map[string]Source{}
		}
		l.extensions.sources[kind.Name] = s
		return nil
	}
}

// WithFacts wraps the facts of each evaluation: around receives the event and the facts that the loop gathers, and
// returns those that the rules read. Tests and replays supply facts and names with it. What around answers itself is
// not gathered, so the program may use sources that the loop lacks, and [New] checks neither sources nor writers. Facts
// are gathered at the same time only if what around returns is [rules.ConcurrentFacts].
func WithFacts(around func(ev host.Event, world rules.Facts) rules.Facts) Option {
	return set(func(l *Loop) { l.extensions.around = around })
}

// Config returns the configuration with which [Load] loads a policy: what ships with ralph, and the options' sources
// and effects. It ignores options that [New] rejects.
func Config(opts ...Option) rules.Config {
	l, _ := configured(opts) // New returns the error
	return l.language()
}

// language returns the configuration of programs that the loop can run.
func (l *Loop) language() rules.Config {
	c := l.extensions.added()
	c.Deadline = cmp.Or(c.Deadline, l.bounds.deadline, defaultDeadline)
	return c
}

// added returns the configuration with what ships with ralph, and with the sources and effects.
func (e *extensions) added() rules.Config {
	c := e.config
	if c.Shipped == nil {
		c.Shipped = examples.FS
	}
	if c.Hosts == nil {
		c.Hosts = host.Names()
	}
	c.Sources, c.Effects = slices.Clip(c.Sources), slices.Clip(c.Effects)
	known := c.Sources
	if len(e.sources) > 0 {
		known = slices.Concat(known, rules.SourceKinds())
	}
	for _, name := range slices.Sorted(maps.Keys(e.sources)) {
		if !slices.ContainsFunc(known, func(k rules.SourceKind) bool { return k.Name == name }) {
			c.Sources = append(c.Sources, e.sources[name].Kind())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.effects)) {
		if !slices.ContainsFunc(c.Effects, func(d rules.EffectDecl) bool { return d.Name == name }) && name != string(rules.RunEffect) {
			c.Effects = append(c.Effects, e.effects[name].decl)
		}
	}
	return c
}

// checkConfig returns the language's errors about sources, effects, events and functions.
func (l *Loop) checkConfig() error {
	c := l.language()
	if len(c.Sources)+len(c.Effects)+len(c.Events)+len(c.Functions) == 0 {
		return nil
	}
	c.Set, c.Allow, c.Limits, c.Lazy = nil, nil, rules.LoadLimits{}, false // for policies, not the language
	_, found := rules.LoadBytes(context.Background(), "config", []byte("ralph: 1\nrules: [{name: none, stop: none}]\n"), c)
	return found.Err()
}

// keepLog sets the size of the decision log. Without a getenv that works, the log has its default size, and the first
// decision reports the panic.
func (k *kept) keepLog(getenv func(string) string) {
	defer func() { _ = recover() }()
	_ = k.disk.KeepLog(getenv("RALPH_LOG_KEEP")) // ralph doctor reports a value that cannot be used
}

// defaults sets what no option has set.
func (l *Loop) defaults() {
	if l.now == nil {
		l.now = time.Now
	}
	if l.getenv == nil {
		l.getenv = os.Getenv
	}
	l.bounds.deadline = cmp.Or(l.bounds.deadline, defaultDeadline)
	l.kept.defaults(l.getenv, l.project.local)
}

// defaults sets what no option has set, on the user's disk if the loop is local.
func (k *kept) defaults(getenv func(string) string, local bool) {
	if k.disk == nil && local {
		dir, err := store.DefaultDir(getenv)
		if err != nil {
			dir = "" // every write then reports the error
		}
		k.disk = store.Open(dir)
	}
	if k.disk != nil {
		k.keepLog(getenv)
	}
	if k.store == nil && k.disk != nil {
		k.store = localStore{dir: k.disk}
	} else if k.store == nil {
		k.store = InMemory()
	}
	k.comparable = reflect.ValueOf(k.store).Comparable()
	if !k.ownLog && k.disk != nil {
		k.recorder = localLog{k.disk}
	}
}
