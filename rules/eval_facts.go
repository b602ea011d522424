package rules

import "context"

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

	// Name gives the value of one of ralph's own names, see Names. Names with
	// members are asked for by their whole path ("transcript.last", "env.HOME").
	// The value must be of the type that Names declares; nil stands for its zero value.
	Name(ctx context.Context, name string) any

	// Row gives the loop memory of this policy in this session and row.
	Row(ctx context.Context) Row

	// Given tells in how many verdicts rule has been within its window, for
	// unless_repeated.
	Given(ctx context.Context, rule *Rule) int
}

// Split takes apart what [Facts] is handed: the arguments of the source, and its
// options that have holes, rendered, by name. Options that the policy leaves out
// are not among them.
func (f *Fact) Split(args []string) (arguments []string, options map[string]string) {
	n := max(0, len(args)-len(f.texts))
	for i, o := range f.texts {
		if n+i >= len(args) {
			break
		}
		if options == nil {
			options = make(map[string]string, len(f.texts))
		}
		options[o.name] = args[n+i]
	}
	return args[:n], options
}
