package loop

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ralph-sdk/ralph/rules"
)

// Loop decides by one policy, and counts. It is safe for concurrent use. There is no zero value: Load or New makes one.
//
// A context that is nil is context.Background(). One that is done is a Fault of its methods. What panics in the program's code, such as its
// sources, functions, effects, clock or store, is an error.
type Loop struct {
	config
	policy *rules.Policy
	last   atomic.Pointer[document] // that was changed
}

// Load reads a policy from a file system, such as embed.FS or os.DirFS. Schemas that it names are read from there too. A policy that is
// wrong gives an error that wraps rules.Findings.
func Load(fsys fs.FS, name string, opts ...Option) (*Loop, error) {
	if fsys == nil {
		return nil, misuse("there is no file system to read %s from: it is nil", name)
	}
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("the policy: %w", err)
	}
	c := newConfig(opts)
	declared := rules.Options{
		Files: fsys, Params: c.params, Values: c.values, Functions: c.functions,
		Sources: slices.Collect(maps.Keys(c.sources)), Effects: slices.Collect(maps.Keys(c.effects)),
	}
	declared.Sources = slices.DeleteFunc(declared.Sources, func(name string) bool { _, ok := builtin[name]; return ok })
	declared.Effects = slices.DeleteFunc(declared.Effects, func(name string) bool { return name == "run" })
	p, err := declared.Parse(name, src)
	if err != nil {
		return nil, err
	}
	return New(p, opts...)
}

// New makes a loop of a policy. What the policy uses of the program, such as functions, was declared when it was parsed; sources and
// effects are also options here. Counts belong to the name of a policy: a loop with a new policy of the same name, and the same store, goes
// on with them.
func New(p *rules.Policy, opts ...Option) (*Loop, error) {
	l := &Loop{config: newConfig(opts), policy: p}
	for _, class := range l.allow {
		if !slices.Contains(classes, class) {
			return nil, misuse("loop.WithAllow(%q): the classes are %q", class, classes)
		}
	}
	if p == nil {
		return nil, misuse("there is no policy: it is nil")
	}
	for _, f := range p.Facts {
		_, ok := builtin[f.Source]
		add := "loop.WithSource()"
		if f.Source == "judge" {
			ok, add = false, "judge.Option()"
		}
		if _, own := l.sources[f.Source]; !ok && !own {
			return nil, misuse("policy %s, line %d: the loop has no source %s for the fact %s: add the option %s", p.Name, f.Line, f.Source, f.Name, add)
		}
	}
	return l, nil
}

// Policy returns the policy by which the loop decides.
func (l *Loop) Policy() *rules.Policy { return l.policy }

// Deadline returns how long a decision takes at most: what WithDeadline says, else the longest timeout of a fact of the policy and five
// seconds, at least 25 seconds.
func (l *Loop) Deadline() time.Duration {
	if l.deadline > 0 {
		return l.deadline
	}
	longest := 25 * time.Second
	for _, f := range l.policy.Facts {
		longest = max(longest, cmp.Or(f.Timeout, builtin[f.Source].time, programTime)+5*time.Second)
	}
	return longest
}

// Option configures a loop. nil, as an option or in one, leaves the default.
type Option func(*config)

type config struct {
	root      string
	store     Store
	now       func() time.Time
	env       func(string) (string, bool)
	record    Recorder
	deadline  time.Duration
	values    map[string]any
	params    map[string]string
	sources   map[string]SourceFunc
	functions map[string]any
	effects   map[string]effectFunc
	allow     []string
	ceilings  rules.Limits
	scope     string
	approval  func() string
}

func newConfig(opts []Option) config {
	c := config{
		sources: map[string]SourceFunc{}, functions: map[string]any{}, effects: map[string]effectFunc{},
	}
	for _, o := range opts {
		if o != nil {
			o(&c)
		}
	}
	if c.store == nil {
		c.store = Map()
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.env == nil {
		c.env = os.LookupEnv
	}
	return c
}

// SourceFunc gathers a fact for an event. An error that is fs.ErrNotExist means missing, any other invalid. Its context ends when the fact's
// timeout is over.
type SourceFunc func(ctx context.Context, ev Event, q rules.Query) (any, error)

type effectFunc = func(ctx context.Context, ev Event, text string) error

// WithRoot says below which directory the files of facts are. Without it there are none.
func WithRoot(dir string) Option { return func(c *config) { c.root = dir } }

// WithStore says where counts are kept. The default is a map in memory.
func WithStore(s Store) Option { return func(c *config) { c.store = s } }

// WithClock replaces time.Now. Its zone is that in which policies read dates.
func WithClock(now func() time.Time) Option { return func(c *config) { c.now = now } }

// WithEnv replaces os.LookupEnv for env.NAME, and for the variables RALPH_OFF and HOME.
func WithEnv(lookup func(string) (string, bool)) Option { return func(c *config) { c.env = lookup } }

// WithRecorder gets a record of each decision. Records need time for their details, which a loop without recorder saves.
func WithRecorder(r Recorder) Option { return func(c *config) { c.record = r } }

// WithDeadline bounds a decision; zero is the default, see Loop.Deadline.
func WithDeadline(d time.Duration) Option { return func(c *config) { c.deadline = d } }

// WithValues declares the values that events will have, by examples of their types; see rules.Options. It is for Load.
func WithValues(values map[string]any) Option { return func(c *config) { c.values = values } }

// WithParams sets params of the policy. It is for Load.
func WithParams(params map[string]string) Option { return func(c *config) { c.params = params } }

// WithSource adds a source of facts, or the judge. One with the name of a built-in source replaces it, as tests of policies do.
func WithSource(name string, f SourceFunc) Option { return func(c *config) { c.sources[name] = f } }

// WithFunction adds a function that expressions call; see rules.Options. It is for Load.
func WithFunction(name string, fn any) Option { return func(c *config) { c.functions[name] = fn } }

// WithEffect adds an effect that rules ask for by its name; f makes it after the verdict is saved. Its error is a line of Decision.Log and in
// Decision.Err; the decision stays as it is. An effect that must happen is enqueued by the program, from the decision. "run" replaces the
// built-in one; its text is the program and its arguments.
func WithEffect(name string, f func(ctx context.Context, ev Event, text string) error) Option {
	return func(c *config) { c.effects[name] = f }
}

// WithAllow lets policies reach beyond the project without approval: "exec" (programs of facts), "run" (programs of effects), "judge"
// (a model), "env" (environment variables), "home" (files below ~/), or "all". By default they may do nothing of this.
func WithAllow(what ...string) Option { return func(c *config) { c.allow = append(c.allow, what...) } }

// WithCeilings bounds the limits of policies. A zero field is no ceiling.
func WithCeilings(l rules.Limits) Option { return func(c *config) { c.ceilings = l } }

// WithScope keeps tenants apart that share a store: it begins each key.
func WithScope(scope string) Option { return func(c *config) { c.scope = scope } }

// WithApproval asks for what WithAllow does not name, and for a program that PATH finds inside the project: "" is yes, another text says
// to the person why not. It is asked at most once for a decision, when something first needs it.
func WithApproval(why func() string) Option { return func(c *config) { c.approval = why } }
