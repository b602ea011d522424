package rules

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// Facts is the one seam between a policy and the world. Real files, literals of
// a test and a recorded decision all implement it. The evaluator asks for each
// fact and name at most once, only when an operand that needs it is reached, and
// from one goroutine.
type Facts interface {
	// Fact gathers one declared fact. args are its rendered arguments: the path
	// or pattern of a file source, the argument list of exec, one text otherwise.
	// Behind them stand the options that have holes, see [Fact.Split]. They must not
	// be changed.
	Fact(ctx context.Context, decl *Fact, args []string) Value

	// Name gives the value of one of ralph's own names, see docs/reference/names.md. Names with
	// members are asked for by their whole path ("transcript.last", "env.HOME").
	// nil stands for the zero value of its type; anything else converts as in
	// [ValueOf], and a name that is called takes a func of the shape that [Names]
	// gives. now and the names of loop are not asked for: they are in [Options].
	Name(ctx context.Context, name string) any
}

// Split takes apart what [Facts] is handed: the arguments of the source, and its
// options that have holes, rendered, by name. Options that the policy leaves out
// are not among them.
func (f *Fact) Split(args []string) (arguments []string, options map[string]string) {
	if f == nil {
		return args, nil
	}
	first := slices.IndexFunc(f.handed, func(a argument) bool { return a.name != "" })
	if first < 0 {
		return args, nil
	}
	named := f.handed[first:]
	n := max(0, len(args)-len(named))
	options = make(map[string]string, len(named))
	for i, value := range args[n:] {
		options[named[i].name] = value
	}
	return args[:n], options
}

// checkValues reports values that nothing asks for: their keys are misspelt.
func (ev *evaluation) checkValues() {
	given, ok := ev.facts.(values)
	if !ok {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !ev.program.Takes(key) {
			ev.report(public(fmt.Sprintf("the value %q is neither a fact of the policy nor one of the names that a program gives", key)))
		}
	}
}

// Takes reports whether [Values] can give a value of this name: a fact of the policy, or one
// of ralph's own names. now and the names of loop are in [Options].
func (p *Program) Takes(name string) bool {
	p = p.whole()
	if strings.HasPrefix(name, "env.") || slices.ContainsFunc(p.facts, func(f *Fact) bool { return f.Name == name }) {
		return true
	}
	if p.compiler == nil {
		return false
	}
	n := p.compiler.names.byName[name]
	return n != nil && !n.Memory && name != vocab.Now && !strings.HasPrefix(name, "start.")
}
