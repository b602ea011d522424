package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/option"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

// defaultDeadline bounds one decision including what it gathers and writes. It is below the shortest timeout of a
// host's hooks.
const defaultDeadline = 25 * time.Second

// Option configures a [Loop]. No option replaces another, so you can pass those of several libraries together:
//
//   - Sources, effects, functions, events, params and values add up. A second one of the same name is an error.
//   - Limits and checks only narrow: the smallest of each limit counts, and every [WithAllow], [WithTrust] and
//     [WithUserScope] must allow.
//   - Recorders add up. [WithObserver] and [WithFacts] nest, the first one outermost.
//   - What a loop has one of, such as its [Store], is given once. A second one is an error.
//
// Nil is an error, too: to get a default, leave the option out. [New] and [Load] return these errors, which name the option.
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
		if err := option.Fill("loop.WithRoot", &l.project.root, dir, "name a directory, or leave it out for a loop without files"); err != nil {
			return err
		}
		if info, err := os.Stat(dir); err != nil {
			return fmt.Errorf("the project root cannot be used: %w", err)
		} else if !info.IsDir() {
			return fmt.Errorf("the project root %s is not a directory", dir)
		}
		return nil
	}
}

// Local configures a loop for hooks on a user's machine. Unless [WithRoot] sets the root, it is CLAUDE_PROJECT_DIR if
// that is a directory, otherwise the nearest directory, from that of the event upwards, with .ralph or one of the
// policy's [rules.Program.HeadFiles], otherwise the nearest with .git, otherwise the directory of the event. Unless
// [WithState] sets the state directory, it is RALPH_STATE_DIR, otherwise the user's state directory, or with [WithStore]
// and an environment that names none, no directory. RALPH_OFF of the process switches the loop off, as it does for the
// command.
func Local() Option {
	return set(func(l *Loop) { l.project.local = true })
}

// WithState sets the directory for memory, locks, what persons order and approve, and the decision log. [WithStore]
// overrides it for the memory.
func WithState(dir string) Option {
	return func(l *Loop) error {
		const instead = "name a directory, or leave it out to keep nothing on disk"
		if err := option.Given("loop.WithState", dir, instead); err != nil {
			return err
		}
		return option.Fill("loop.WithState", &l.kept.disk, store.Open(dir), instead)
	}
}

// WithStore sets where memories are kept, and without [WithState], with or without [Local], also what the store can keep besides: what persons order
// and approve in [Documents], live runs in [Leases], records if it is a [Recorder]. The default is in the process.
func WithStore(s Store) Option {
	return func(l *Loop) error {
		if local, ok := s.(localStore); ok && local.dir.Dir() == "" {
			return errors.New("the store of loop.WithStore has no directory: name one in loop.LocalStore")
		}
		return option.Fill("loop.WithStore", &l.kept.store, s, "leave it out to keep memories in the process, or give loop.InMemory()")
	}
}

// WithRecorder adds recorders. Each receives the record of each decision, even if another one fails or panics. The decision
// log of [WithState] or [Local] has it, too.
func WithRecorder(rs ...Recorder) Option {
	return func(l *Loop) error {
		for _, r := range rs {
			if err := option.Given("loop.WithRecorder", r, "leave it out to record nothing"); err != nil {
				return err
			}
			if s, ok := r.(slogRecorder); ok && s.logger == nil {
				return errors.New("the recorder of loop.WithRecorder has no logger: give one to loop.SlogRecorder, such as slog.Default()")
			}
		}
		l.kept.recorders = append(l.kept.recorders, rs...)
		return nil
	}
}

// WithEffect adds an effect to the policy language and a function that carries it out. The loop calls do once for each
// effect, after it saved the memory and wrote the facts, in the order of the rules; do must be safe for concurrent use.
// An error is reported and does not change the verdict. If its name is "run", do receives the programs that effects
// run, in [rules.Effect.Args], and none is started.
func WithEffect(d rules.EffectDecl, do func(ctx context.Context, c Call) error) Option {
	return func(l *Loop) error {
		if d.Name == "" || do == nil {
			return fmt.Errorf("the effect %q of loop.WithEffect needs a name, and a function that carries it out", d.Name)
		}
		return option.Add("loop.WithEffect", d.Name, &l.extensions.effects, ownEffect{d, do})
	}
}

// WithFunctions adds functions to the expressions of policies. A program for [New] must have been loaded with them, see
// [Config].
func WithFunctions(fs ...rules.Function) Option {
	return func(l *Loop) error {
		for _, f := range fs {
			if err := option.Add("loop.WithFunctions", f.Name, &l.extensions.functions, f); err != nil {
				return err
			}
		}
		return nil
	}
}

// WithEvents adds events to those that a policy can list. Rules decide them like a Stop.
func WithEvents(names ...string) Option {
	return func(l *Loop) error {
		for _, name := range names {
			if err := option.Add("loop.WithEvents", name, &l.extensions.events, true); err != nil {
				return err
			}
		}
		return nil
	}
}

// WithParams sets the values of params, by name. [Load] rejects a name that the policy does not have.
func WithParams(values map[string]string) Option {
	return func(l *Loop) error {
		return option.AddAll("loop.WithParams", &l.extensions.config.Set, values)
	}
}

// WithShipped sets the files that policies name with ralph:. The default is ralph's own policies and guards.
func WithShipped(files fs.FS) Option {
	return func(l *Loop) error {
		return option.Fill("loop.WithShipped", &l.extensions.config.Shipped, files, "leave it out for ralph's own files, or give an embed.FS{} for none")
	}
}

// WithLazy is for processes that decide one event and exit: [Load] compiles the rest of a policy only if its top-level when
// holds, see the field Lazy of [rules.Config].
func WithLazy() Option {
	return set(func(l *Loop) { l.extensions.config.Lazy = true })
}

// WithAllow restricts what policies may touch, in each evaluation and however a program was loaded. Without WithAllow they
// may touch everything, and with the zero Capabilities nothing. Of several, each must allow it.
func WithAllow(c rules.Capabilities) Option {
	return set(func(l *Loop) { l.extensions.config.Allow = append(l.extensions.config.Allow, c) })
}

// WithLimits bounds the size of policies that [Load] and [Loop.Reload] load. Zero fields mean the defaults of
// [rules.LoadLimits].
func WithLimits(m rules.LoadLimits) Option {
	return func(l *Loop) error {
		if min(m.Bytes, m.Nodes, m.Includes, m.Patterns) < 0 {
			return errors.New("a limit of loop.WithLimits must not be negative: leave it out for the default")
		}
		own := &l.extensions.config.Limits
		*own = rules.LoadLimits{
			Bytes: option.Least(own.Bytes, m.Bytes), Nodes: option.Least(own.Nodes, m.Nodes),
			Includes: option.Least(own.Includes, m.Includes), Patterns: option.Least(own.Patterns, m.Patterns),
		}
		return nil
	}
}

// WithBudget bounds one evaluation. Zero fields mean the defaults of [rules.Budget].
func WithBudget(b rules.Budget) Option {
	return func(l *Loop) error {
		if b.Steps < 0 {
			return errors.New("the steps of loop.WithBudget must not be negative: leave them out for the default")
		}
		l.bounds.budget.Steps = option.Least(l.bounds.budget.Steps, b.Steps)
		return nil
	}
}

// observer is the function of [WithObserver].
type observer = func(context.Context, host.Event) (context.Context, func(*Decision))

// WithObserver calls begin at the start of each Run, Preview, Apply, and of each policy that [Loop.Hook] evaluates.
// Sources, stores, effects and the [Recorder] receive the context that begin returns, such as that of a span. At the end
// the loop calls the function that begin returns, which may be nil, with the decision. If either panics, the agent may
// stop. Of several observers the first one begins first and ends last.
func WithObserver(begin func(context.Context, host.Event) (context.Context, func(*Decision))) Option {
	return func(l *Loop) error {
		l.extensions.observers = append(l.extensions.observers, begin)
		return option.Given("loop.WithObserver", begin, "leave it out")
	}
}

// WithName sets the name of the policy: in the decision log, before its reasons if several policies answer, and in the
// key of its memory. The default is the program's file name.
func WithName(name string) Option {
	return func(l *Loop) error {
		return option.Fill("loop.WithName", &l.name, name, "leave it out for the program's file name")
	}
}

// WithScope separates loops that share a [Store]: nothing that is counted or remembered in one scope counts in another,
// whatever their policies, sessions and directories are called. It is part of each [Key] and record, and for a service that
// decides for several tenants it is the tenant, which no event names. Without it a loop has the scope of ralph's own loops;
// an empty tenant is refused.
func WithScope(tenant string) Option {
	return func(l *Loop) error {
		return option.Fill("loop.WithScope", &l.scope, tenant, "name the tenant, or leave it out for the scope of ralph's own loops")
	}
}

// WithUserScope is for a hook that a user installed for all projects. A project counts only if trusted returns nil for
// its root. Otherwise a loop in it is reported once a session and not continued, no program runs, and a policy that
// names no loop finds no files of the project. The error must say why, and what to do. Of several functions each must return
// nil. Without a function the projects count that the user trusted, see [Local] and [WithState].
func WithUserScope(trusted ...func(root string) error) Option {
	return func(l *Loop) error {
		if len(trusted) == 0 {
			l.trust.projects = append(l.trust.projects, func(root string) error { return l.trusts(root) })
		}
		for _, one := range trusted {
			if err := option.Given("loop.WithUserScope", one, "leave the function out for the projects that the user trusted"); err != nil {
				return err
			}
		}
		l.trust.projects = append(l.trust.projects, trusted...)
		return nil
	}
}

// WithClock sets the clock. The default is time.Now. The loop reads it once a decision, and again
// for effects that it makes later.
func WithClock(now func() time.Time) Option {
	return func(l *Loop) error {
		return option.Fill("loop.WithClock", &l.now, now, "leave it out for time.Now")
	}
}

// WithEnv sets how to read environment variables. The default is os.Getenv, but for RALPH_OFF, which switches every loop
// off: without WithEnv only a loop with [Local] reads that of the process.
func WithEnv(getenv func(string) string) Option {
	return func(l *Loop) error {
		return option.Fill("loop.WithEnv", &l.getenv, getenv, `leave it out for os.Getenv, or give a function that returns ""`)
	}
}

// WithPrivate includes the words of the user and the agent in traces and logs: prompts, the session's text, hints, and what
// is made from them. By default only their sizes are included. Of secrets, such as values of the environment, logs
// always have only the sizes.
func WithPrivate() Option {
	return set(func(l *Loop) { l.kept.private = true })
}

// WithDeadline bounds each Run, Preview, Apply and Hook. The default is 25 seconds, which is below the shortest timeout
// of a host's hooks. Records may take a second more, all together, and so may what heeds a context that you cancel.
//
// The bound holds whatever ignores its context: a source, a function, a [Store], a [Writer], an effect, a [Recorder]. It
// then runs in its goroutine until it returns, and what it does itself may still happen; other events of the session wait
// for it. But nothing more begins: no later effect, no record, and what was counted for a continuation that was not
// answered is taken back. Once a decision is counted and kept, it is the answer, also if its effects are late; a notice
// reports them. An observer is not bounded.
func WithDeadline(d time.Duration) Option {
	return func(l *Loop) error {
		if d <= 0 {
			return fmt.Errorf("the time of loop.WithDeadline must be positive; got %s", d)
		}
		l.bounds.deadline = option.Least(l.bounds.deadline, d)
		return nil
	}
}

// WithSource adds a fact source to the policy language, or replaces one of ralph's own. A program for [New] must have
// been loaded with its kind, see [Config]. A source whose kind is Editable must be a [Writer].
func WithSource(s Source) Option {
	return func(l *Loop) error {
		if err := option.Given("loop.WithSource", s, "leave it out"); err != nil {
			return err
		}
		kind := s.Kind()
		if kind.Name == "" {
			return errors.New("a source needs a name")
		}
		if _, ok := s.(Writer); !ok && kind.Editable {
			return fmt.Errorf("the source %s is Editable but not a loop.Writer", kind.Name)
		}
		return option.Add("loop.WithSource", kind.Name, &l.extensions.sources, s)
	}
}

// WithFacts wraps the facts of each evaluation: around receives the event and the facts that the loop gathers, and
// returns those that the rules read. Tests and replays supply facts and names with it. What around answers itself is
// not gathered, so the program may use sources that the loop lacks, and [New] checks neither sources nor writers. Facts
// are gathered at the same time only if what around returns is [rules.ConcurrentFacts]. Of several functions the rules read
// what the first one returns, and the last one receives what the loop gathers.
func WithFacts(around func(ev host.Event, world rules.Facts) rules.Facts) Option {
	return func(l *Loop) error {
		l.extensions.around = append(l.extensions.around, around)
		return option.Given("loop.WithFacts", around, "leave it out")
	}
}

// Config returns the configuration with which [Load] loads a policy: what ships with ralph, and what the options add and
// restrict. It ignores options that [New] rejects.
func Config(opts ...Option) rules.Config {
	l, _ := configured(opts) // New returns the error
	return l.language()
}

// language returns the configuration of programs that the loop can run.
func (l *Loop) language() rules.Config {
	c := l.extensions.added()
	c.Deadline = cmp.Or(l.bounds.deadline, defaultDeadline)
	return c
}

// added returns the configuration with what ships with ralph, and with what the options add. It shares nothing with the
// loop that its caller could change.
func (e *extensions) added() rules.Config {
	c := e.config
	c.Set, c.Allow = maps.Clone(c.Set), slices.Clip(c.Allow)
	if c.Shipped == nil {
		c.Shipped = examples.FS
	}
	c.Hosts = host.Names()
	c.Events = slices.Sorted(maps.Keys(e.events))
	for _, name := range slices.Sorted(maps.Keys(e.functions)) {
		c.Functions = append(c.Functions, e.functions[name])
	}
	var known []rules.SourceKind
	if len(e.sources) > 0 {
		known = rules.SourceKinds()
	}
	for _, name := range slices.Sorted(maps.Keys(e.sources)) {
		if !slices.ContainsFunc(known, func(k rules.SourceKind) bool { return k.Name == name }) {
			c.Sources = append(c.Sources, e.sources[name].Kind())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.effects)) {
		if name != string(rules.RunEffect) {
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
func keepLog(dir *store.Store, getenv func(string) string) {
	defer func() { _ = recover() }()
	_ = dir.KeepLog(getenv("RALPH_LOG_KEEP")) // ralph doctor reports a value that cannot be used
}

// defaults sets what no option has set.
func (l *Loop) defaults() {
	if l.now == nil {
		l.now = time.Now
	}
	if l.offEnv = l.getenv; l.getenv == nil {
		l.getenv = os.Getenv
	}
	if l.offEnv == nil && l.project.local {
		l.offEnv = l.getenv
	} else if l.offEnv == nil { // that of the process is for the command
		l.offEnv = func(string) string { return "" }
	}
	l.bounds.deadline = cmp.Or(l.bounds.deadline, defaultDeadline)
	l.kept.defaults(l.getenv, l.project.local)
}

// defaults sets what no option has set, on the user's disk if the loop is local.
func (k *kept) defaults(getenv func(string) string, local bool) {
	named := k.disk != nil
	if !named && local {
		switch dir, err := store.DefaultDir(getenv); {
		case err == nil:
			k.disk = store.Open(dir)
		case k.store == nil:
			k.disk = store.Open("") // every write then reports the error
		}
	}
	if k.store == nil && k.disk != nil {
		k.store = localStore{dir: k.disk}
	}
	if k.orders = k.store; k.store == nil {
		k.store = InMemory() // which no person can reach, so nothing is ordered in it
	}
	k.comparable = reflect.ValueOf(k.store).Comparable()
	log, local := k.store.(localStore) // a log of lines has a decision once, when it is done
	if !local {
		k.keeper, _ = k.store.(Recorder)
	}
	if k.disk != nil {
		log = localStore{dir: k.disk}
		if _, has := k.store.(Documents); named || !has {
			k.apart, k.orders = k.store != Store(log), log
		}
	}
	if log.dir != nil {
		keepLog(log.dir, getenv)
		k.recorders = slices.DeleteFunc(k.recorders, func(r Recorder) bool { // it would record each decision twice
			same, ok := r.(localStore)
			return ok && same.dir.Dir() == log.dir.Dir()
		})
		k.recorders = slices.Insert(k.recorders, 0, Recorder(log)) // no other one delays it
	}
}
