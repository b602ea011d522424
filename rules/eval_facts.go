package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// Facts is the only connection between a policy and the world. Real files, a test's literals and a recorded decision
// all implement it. Eval asks for each fact and name at most once, only when it reaches an operand that needs it, and
// from one goroutine, unless they are [ConcurrentFacts].
type Facts interface {
	// Fact returns the value of a declared fact. args are its arguments with placeholders filled in: the path or
	// pattern of a file source, the words of exec, otherwise one string. Options with placeholders follow; [Fact.Split]
	// separates them. Fact must not modify args.
	Fact(ctx context.Context, decl *Fact, args []string) Value

	// Name returns the value of one of ralph's own names, see docs/reference/names.md. name is the full name of a
	// member ("transcript.last", "env.HOME"). nil means the zero value of its type, and an error why a value that exists
	// cannot be used; other values are read as in [ValueOf], and a function needs a func of the type that [Names] lists.
	// now and the names of loop are in [Options] instead.
	Name(ctx context.Context, name string) any
}

// ConcurrentFacts are Facts that can gather facts at the same time.
type ConcurrentFacts interface {
	Facts

	// Concurrent reports whether Eval may call Fact in several goroutines at once, while it calls nothing else: for facts
	// that it needs for sure and whose sources have a Timeout. A Facts that wraps another one answers for it.
	Concurrent() bool
}

// Split splits the args that [Facts] receives into the arguments of the source and its options with placeholders,
// filled in, by name. options lacks those that the policy omits.
func (f *Fact) Split(args []string) (arguments []string, options map[string]string) {
	if f == nil {
		return args, nil
	}
	first := slices.IndexFunc(f.plan.handed, func(a argument) bool { return a.name != "" })
	if first < 0 {
		return args, nil
	}
	named := f.plan.handed[first:]
	n := max(0, len(args)-len(named))
	options = make(map[string]string, len(named))
	for i, value := range args[n:] {
		options[named[i].name] = value
	}
	return args[:n], options
}

// checkValues reports values that nothing reads: their keys are misspelt.
func (ev *evaluation) checkValues() {
	given, ok := ev.facts.(values)
	if !ok {
		return
	}
	var stray []string
	for key := range given {
		if !ev.program.Takes(key) {
			stray = append(stray, key)
		}
	}
	slices.Sort(stray)
	for _, key := range stray {
		ev.report(public(fmt.Sprintf("the value %q is neither a fact of the policy nor one of the names that a program gives", key)))
	}
}

// Takes reports whether [Values] can have a value with this name: a fact of the policy, or one of ralph's own names.
// now and the names of loop are in [Options] instead.
func (p *Program) Takes(name string) bool {
	p = p.loaded()
	if strings.HasPrefix(name, "env.") || slices.ContainsFunc(p.facts, func(f *Fact) bool { return f.Name == name }) {
		return true
	}
	if p.machine.compiler == nil {
		return false
	}
	n := p.machine.compiler.names.byName[name]
	return n != nil && !n.Memory && name != vocab.Now && !strings.HasPrefix(name, "start.")
}
