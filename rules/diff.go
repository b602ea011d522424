package rules

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Difference is a situation in which two policies decide differently.
type Difference struct {
	Old, New  string // such as "continue by next-task"
	Situation string // as a given: of a test
}

const (
	maxDifferences = 20
	stepTime       = 2 * time.Microsecond // that a search takes for an operand, about
)

// Diff finds situations in which two policies decide differently: continue, stop, or say that the work is done. It returns one for each
// pair of rules that do so, and one for each limit that differs, and reports whether it tried all situations, so that there is no other
// pair. Facts of the same name are the same, params have their values, effects succeed, no files are left out, and ralph's names can be
// read. It tries as much as fits into the time that ctx leaves, and without a deadline into a second. Where facts, lets or params differ it
// never tries all.
func Diff(ctx context.Context, old, new *Policy) (found []Difference, exhausted bool) {
	left := time.Second
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	return diff(ctx, max(0, int(left/stepTime)), old, new)
}

func diff(ctx context.Context, steps int, old, new *Policy) (found []Difference, exhausted bool) {
	m := newModel(old, new)
	m.room = steps
	var was, is string
	differ := func() truth {
		was, is = m.decision(0, len(old.rules)), m.decision(1, len(new.rules))
		same := func(d Difference) bool { return d.Old == was && d.New == is }
		switch {
		case ctx.Err() != nil || was == "" || is == "":
			return open
		case was[:4] == is[:4] || slices.ContainsFunc(found, same): // the same verb
			return no
		}
		return yes
	}
	confirm := func(in Input) bool { return outcome(old, in) == was && outcome(new, in) == is }
	for len(found) < maxDifferences {
		situation := m.show(differ, confirm)
		if situation == "" {
			break
		}
		found = append(found, Difference{was, is, situation})
	}
	m.room *= 4 // of which a search takes a quarter
	exhausted = m.none(differ) && declared(old) == declared(new)
	return append(found, limits(old.Limits, new.Limits)...), exhausted
}

// outcome returns how the evaluator decides.
func outcome(p *Policy, in Input) string {
	v, err := p.Eval(context.Background(), in)
	switch {
	case err != nil:
		return err.Error()
	case v.Outcome == Idle:
		return noRule
	}
	return cmp.Or(map[Outcome]string{Continued: "continue", Done: "done"}[v.Outcome], "stop") + " by " + v.Rule
}

var declarations = regexp.MustCompile(`(?m)^(params|facts|let):.*\n([ #-].*\n|\n)*`)

// declared returns the lines of a policy that say what names mean, and the params.
func declared(p *Policy) string {
	out := declarations.FindAllString(strings.Join(p.compiler.lines, "\n")+"\n", -1)
	return strings.Join(append(out, show(p.Params)), "\n")
}

// limits shows limits that differ, with a situation in which the smaller one is reached.
func limits(old, new Limits) (out []Difference) {
	add := func(name string, a, b, least any) {
		if a != b {
			out = append(out, Difference{fmt.Sprintf("limits.%s %v", name, a), fmt.Sprintf("limits.%s %v", name, b), fmt.Sprintf("given: {memory: {%s: %v}}", name, least)})
		}
	}
	add("continuations", old.Continuations, new.Continuations, min(old.Continuations, new.Continuations))
	add("repeats", old.Repeats, new.Repeats, ceiling(old.Repeats, new.Repeats))
	add("total", old.Total, new.Total, min(old.Total, new.Total))
	add("elapsed", old.Elapsed, new.Elapsed, min(old.Elapsed, new.Elapsed))
	return out
}
