package rules

import (
	"fmt"
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/solve"
)

// bounded tells of continue rules that only ralph's own limits would end.
func (a *analysis) bounded() {
	if a.p.Limits.Written {
		return
	}
	stopped := bounds(a.p.when) // the policy's own when or an earlier stop rule ends the loop some day
	for i, r := range a.p.Rules {
		switch {
		case a.dead[i]:
		case r.Verb == VerbStop && bounds(r.when):
			stopped = true
		case r.Verb == VerbContinue && r.Unless == nil && !stopped && !bounds(r.when):
			from, to := a.place(i)
			a.report("unbounded-continue", from, to,
				"add limits: {repeats: 10}, unless_repeated, a stop rule on a counter, or test stop_hook_active",
				fmt.Sprintf("nothing in this policy ends the rule %q; only the built-in limits would", r.Name), nil,
				a.where(a.holds[i]), a.where())
		}
	}
}

// bounds reports whether a condition reads what ends a loop: the host's flag,
// the loop memory, or a count that is compared with a limit.
func bounds(root *cond) bool {
	found := false
	root.walk(func(o *operand) {
		for _, s := range o.syms {
			if s.kind == nameSymbol && (s.name == "stop_hook_active" || strings.HasPrefix(s.name, "loop.")) {
				found = true
			}
			if s.kind == letSymbol && bounds(s.let.root) {
				found = true
			}
		}
		found = found || o.counter
	})
	return found
}

// bare tells of a continue rule without a when, which holds also over a fact that
// cannot be read: the stop rules above it are unknown then, so it would go on
// blindly. A default does not help, it stands in for what is missing only. reach
// is what is left undecided above rule i.
func (a *analysis) bare(reach *solve.Solver, i int) {
	r := a.p.Rules[i]
	if r.Verb != VerbContinue || r.when != nil {
		return
	}
	for _, f := range a.p.facts {
		if !f.Source.Editable || !f.sym.used.Load() {
			continue
		}
		if invalid := a.t.status(f, isInvalid); a.possible(reach, a.holds[i], invalid) {
			from, to := a.place(i)
			a.report("bare-continue", from, to, "say in when what the rule relies on, or stop when invalid("+f.Name+")",
				fmt.Sprintf("the rule %q continues also when %q cannot be read", r.Name, f.Name), nil,
				evidence{reach, []*solve.Formula{a.holds[i], invalid}}, a.where(invalid))
			return
		}
	}
}
