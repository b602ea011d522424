package loop

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules"
)

// WithValues gives values to facts and to ralph's own names, by name: "state",
// "transcript.last". They are asked first; what has a value is not gathered. Values
// convert as in [rules.ValueOf]. A name that the policy does not know is reported.
func WithValues(values map[string]any) Option {
	return func(l *Loop) error {
		if l.values == nil {
			l.values = map[string]any{}
		}
		for name, v := range values {
			switch {
			case name == "":
				return errors.New("a value needs the name of a fact or of one of ralph's names")
			case name == "now":
				return errors.New("now is not given by value: use loop.WithClock")
			case strings.HasPrefix(name, "loop."):
				return fmt.Errorf("%s is not given by value: it follows from the memory, see loop.WithStore", name)
			}
			l.values[name] = v
		}
		return nil
	}
}

// stray lists the values that nothing asks for: their names are misspelt.
func (l *Loop) stray() []string {
	if len(l.values) == 0 {
		return nil
	}
	l.namesOnce.Do(func() {
		names := rules.Names()
		for _, name := range slices.Sorted(maps.Keys(l.values)) {
			if !strings.HasPrefix(name, "env.") && !slices.ContainsFunc(names, func(n rules.NameInfo) bool { return n.Name == name }) {
				l.notNames = append(l.notNames, name)
			}
		}
	})
	facts := l.program.Facts()
	return slices.DeleteFunc(slices.Clone(l.notNames), func(name string) bool {
		return slices.ContainsFunc(facts, func(f *rules.Fact) bool { return f.Name == name })
	})
}

// given answers by values before it asks the world.
type given struct {
	rules.Facts
	values map[string]any
}

func (g given) Fact(ctx context.Context, f *rules.Fact, args []string) rules.Value {
	if v, ok := g.values[f.Name]; ok {
		return rules.ValueOf(f, v)
	}
	return g.Facts.Fact(ctx, f, args)
}

func (g given) Name(ctx context.Context, name string) any {
	if v, ok := g.values[name]; ok {
		return v
	}
	return g.Facts.Name(ctx, name)
}
