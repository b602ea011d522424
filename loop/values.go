package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/ralph-sdk/ralph/internal/option"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules"
)

// WithValues sets the values of facts and of ralph's own names, by name, such as "state" or "transcript.last". A fact
// or name with a value is not gathered. [New] rejects a name that the policy does not know. The field Values of
// [host.Event] overrides these for one event.
//
// Values are read as in [rules.ValueOf]: what no rule reads costs nothing, and types are strict. A
// func(context.Context) (any, error) is called if a rule reads the value, at most once a decision, even if that is made
// again after a conflict. With a [Recorder], a list of which a rule uses only the length or one end is read as a
// whole, since the record shows it.
//
// Decisions read the values at any time, and several at once: do not change what is in them while the loop is in use.
// Replace a value with Values of an event instead, or use a function that locks what it copies.
func WithValues(values map[string]any) Option {
	return func(l *Loop) error {
		return cmp.Or(option.AddAll("loop.WithValues", &l.extensions.values, values), given{values: values}.reserved())
	}
}

// reserved returns an error for a name that cannot have a value.
func (g given) reserved() error {
	for name := range g.values {
		switch {
		case name == "":
			return errors.New("a value needs the name of a fact or of one of ralph's names")
		case name == vocab.Now:
			return errors.New("now cannot be set by value: use loop.WithClock")
		case strings.HasPrefix(name, "loop."):
			return fmt.Errorf("%s cannot be set by value: it follows from the memory, see loop.WithStore", name)
		}
	}
	return nil
}

// unused returns an error for an option that a program does not use: a value whose name it lacks, or an effect in no rule.
// With [WithFacts] or a lazy program it checks nothing.
func (l *Loop) unused(p *rules.Program) error {
	if len(l.extensions.around) > 0 || len(p.Rules()) == 0 {
		return nil
	}
	used := []rules.Use{{Name: string(rules.RunEffect)}}
	for _, r := range p.Rules() {
		used = append(used, r.Effects...)
	}
	for name := range l.extensions.effects {
		if !slices.ContainsFunc(used, func(v rules.Use) bool { return v.Name == name }) {
			return fmt.Errorf("the effect %s is in no rule of the policy %s", name, p.Name)
		}
	}
	return given{values: l.extensions.values}.stray(p)
}

// stray returns an error for a misspelt name.
func (g given) stray(p *rules.Program) error {
	var stray []string
	for name := range g.values {
		if !p.Takes(name) {
			stray = append(stray, name)
		}
	}
	if len(stray) == 0 || len(p.Rules()) == 0 {
		return nil
	}
	return fmt.Errorf("the value %q is neither a fact of the policy %s nor one of ralph's names", slices.Min(stray), p.Name)
}

// given answers with values, and gathers the rest.
type given struct {
	rules.Facts
	values map[string]any
	read   *read
}

// read is what a decision has read of values: if it is made again after a conflict, each function that supplies one was
// called already.
type read struct {
	mu    sync.Mutex
	facts []readFact
	names map[string]any
}

type readFact struct {
	decl  *rules.Fact
	value rules.Value
}

func (g given) Fact(ctx context.Context, f *rules.Fact, args []string) rules.Value {
	v, ok := g.values[f.Name]
	if !ok {
		return g.Facts.Fact(ctx, f, args)
	}
	g.read.mu.Lock()
	defer g.read.mu.Unlock()
	for _, r := range g.read.facts {
		if r.decl == f {
			return r.value
		}
	}
	value := rules.ValueOf(f, v)
	if g.read.facts == nil {
		g.read.facts = make([]readFact, 0, min(len(g.values), 4))
	}
	g.read.facts = append(g.read.facts, readFact{f, value})
	return value
}

// Concurrent reports whether the rest may be gathered at the same time.
func (g given) Concurrent() bool {
	c, ok := g.Facts.(rules.ConcurrentFacts)
	return ok && c.Concurrent()
}

func (g given) Name(ctx context.Context, name string) any {
	v, ok := g.values[name]
	if !ok {
		return g.Facts.Name(ctx, name)
	}
	get, ok := v.(func(context.Context) (any, error))
	if !ok {
		return v
	}
	if v, ok := g.read.names[name]; ok {
		return v
	}
	v = sync.OnceValues(func() (any, error) { return get(ctx) })
	if g.read.names == nil {
		g.read.names = map[string]any{}
	}
	g.read.names[name] = func(context.Context) (any, error) { return v.(func() (any, error))() }
	return g.read.names[name]
}
