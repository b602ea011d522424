package rules

import (
	"cmp"
	"context"
	"fmt"
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
	return diff(ctx, max(0, int(left/stepTime))/2, old, new)
}

func diff(ctx context.Context, steps int, old, new *Policy) (found []Difference, exhausted bool) {
	examples, claims := newModel(false, old, new), newModel(true, old, new)
	seen := map[[2]string]bool{}
	differ := func(m *model) func() truth {
		return func() truth {
			a, was := m.decision(0)
			b, is := m.decision(1)
			switch {
			case ctx.Err() != nil || a == "" || b == "":
				return open
			case a == b || seen[[2]string{was, is}]:
				return no
			}
			return yes
		}
	}
	sure := declared(old) == declared(new)
	for examples.room = steps / 10; len(found) < maxDifferences; {
		if ok, _ := examples.find(steps, differ(examples)); !ok {
			break
		}
		a, was := examples.decision(0)
		b, is := examples.decision(1)
		seen[[2]string{was, is}] = true
		if examples.outcome(0) == a && examples.outcome(1) == b {
			found = append(found, Difference{was, is, examples.line(new)})
		} else {
			sure = false
		}
	}
	other, whole := claims.find(steps, differ(claims))
	return append(found, limits(old.Limits, new.Limits)...), sure && whole && !other
}

// decision returns how a policy decides, and how that is shown.
func (m *model) decision(i int) (how, shown string) {
	rules := m.policies[i].rules
	j, how := m.decide(i, len(rules))
	if j == len(rules) {
		return how, how + " (no rule decides)"
	}
	return how, how + " by " + rules[j].name
}

// outcome returns how the evaluator decides in the situation.
func (m *model) outcome(i int) string {
	m.filled = true
	v, err := m.policies[i].Eval(context.Background(), m.input(i))
	if err != nil {
		return err.Error()
	}
	return cmp.Or(map[Outcome]string{Continued: "continue", Done: "done"}[v.Outcome], "stop")
}

// declared returns the lines of a policy that say what names mean, and the params.
func declared(p *Policy) string {
	out, section := "", false
	for _, line := range p.compiler.lines {
		if line == strings.TrimLeft(line, " #-") && line != "" {
			section = slices.ContainsFunc([]string{"params:", "facts:", "let:"}, func(key string) bool { return strings.HasPrefix(line, key) })
		}
		if section {
			out += line + "\n"
		}
	}
	for _, x := range p.Params {
		out += show(x.Value) + "\n"
	}
	return out
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
