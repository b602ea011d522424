package rules

import (
	"fmt"
	"strings"
)

// unguardedFact reports facts that both continue and stop rules read, but whose status no rule tests, if no rule
// decides when one of them is missing.
func (a *analyzer) unguardedFact() {
	asked, continues, stops := map[*Fact]bool{}, map[*Fact]bool{}, map[*Fact]bool{}
	if l := a.p.head.loop; l != nil {
		asked[l.info.State] = true // without it there is no loop, which the engine reports
	}
	for _, r := range a.p.rules {
		r.when.walk(func(o *operand) {
			for _, s := range o.uses.syms {
				if s.kind == askSymbol {
					asked[s.fact] = true
				}
			}
			for _, read := range o.uses.reads {
				continues[read.fact.fact] = continues[read.fact.fact] || r.Verb == verbContinue
				stops[read.fact.fact] = stops[read.fact.fact] || r.stops()
			}
		})
	}
	// A test of a fact's status also covers the facts in its path.
	for changed := true; changed; {
		changed = false
		for f := range asked {
			for _, g := range f.pathFacts() {
				changed = changed || !asked[g]
				asked[g] = true
			}
		}
	}
	for _, f := range a.p.facts {
		if !continues[f] || !stops[f] || asked[f] || f.HasDefault || !f.Source.File || strings.Contains(f.Name, "/") {
			continue
		}
		missing := a.t.status(f, isMissing)
		gone := append(where(missing), a.end...)
		if !a.possible(gone) {
			continue
		}
		to := f.Pos
		to.Col += len([]rune(f.Name))
		a.report("unguarded-fact", place{f.Pos, to},
			fmt.Sprintf("add a rule `when: missing(%s)` that stops with a reason, or give the fact a default", f.Name),
			fmt.Sprintf("when %q is missing no rule decides, and the loop ends without a reason", f.Name), gone, where(missing))
	}
}
