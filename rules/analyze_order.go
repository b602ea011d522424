package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// decides reports whether the rules after r are not tried once it holds.
func (a *analyzer) decides(r *Rule) bool {
	return r.stops() || r.Verb == verbContinue && a.p.Gate == gateFirst
}

// noting reports whether a rule also runs if no rule decides.
func (a *analyzer) noting(r *Rule) bool {
	return (r.Verb == "" || r.Verb == verbNote) && slices.ContainsFunc(a.p.Events, func(e string) bool {
		return e == vocab.UserPromptSubmit || vocab.Passes(e) || vocab.Watched(e)
	})
}

// order goes through the rules as an event does and reports those that are never reached in a state in which they hold.
func (a *analyzer) order() {
	for i, r := range a.p.rules {
		if a.dead[i] || a.noting(r) || !a.impossible(a.turn(i, a.holds[i])...) {
			continue
		}
		a.dead[i] = true
		if a.impossible(a.turn(i)...) {
			a.unreachable(i)
			return
		}
		if own(r) || a.wholeInclude(i) {
			a.shadowed(i)
		}
	}
}

// wholeInclude reports whether i is the last rule of an include in which earlier rules keep every rule from deciding.
func (a *analyzer) wholeInclude(i int) bool {
	prefix, _, _ := strings.Cut(a.p.rules[i].include, "/")
	for j, r := range a.p.rules {
		if strings.HasPrefix(r.include, prefix+"/") && (j > i || !a.dead[j]) {
			return false
		}
	}
	return true
}

// unreachable reports that no rule from i on is ever reached. The findings on the others would only repeat it.
func (a *analyzer) unreachable(i int) {
	covers := a.cover(i, analysis.True())
	message := fmt.Sprintf("the rule %q is never tried: ", a.p.rules[i].Name)
	if n := len(a.p.rules) - i; n > 1 {
		message = fmt.Sprintf("the last %d rules, from %q on, are never tried: ", n, a.p.rules[i].Name)
	}
	help := "move it up, or remove it"
	if len(covers) == 1 {
		name := a.p.rules[covers[0]].Name
		message += fmt.Sprintf("%q above it always holds", name)
		help = fmt.Sprintf("give %q a when, or move it to the end", name)
	} else {
		message += "the rules above it cover every case"
	}
	a.report("unreachable", a.place(i), help, message, where(a.holds[i]), nil).Related = a.related(covers)
}

// shadowed reports that earlier rules have decided whenever rule i holds.
func (a *analyzer) shadowed(i int) {
	covers := a.cover(i, a.holds[i])
	var names []string
	for _, j := range covers {
		names = append(names, quote(a.p.rules[j].Name))
	}
	what := "rules above it decide"
	if len(names) > 0 {
		what = strings.Join(names, " or ") + " decides"
	}
	subject := fmt.Sprintf("the rule %q never decides", a.p.rules[i].Name)
	if !own(a.p.rules[i]) {
		subject = "no rule of this include ever decides"
	}
	a.report("shadowed-rule", a.place(i), "move it up, or remove it",
		subject+": whenever it holds, "+what+" before it", where(a.holds[i])).Related = a.related(covers)
}

// related returns references to rules.
func (a *analyzer) related(rules []int) []Related {
	var out []Related
	for _, j := range rules {
		out = append(out, Related{Pos: a.p.rules[j].Pos, Message: fmt.Sprintf("%q decides first", a.p.rules[j].Name)})
	}
	return out
}

// maxCover bounds the rules that a finding names.
const maxCover = 6

// cover returns few rules before i of which one decides whenever f holds: a single one if possible, none if it would
// take too many.
func (a *analyzer) cover(i int, f *analysis.Formula) []int {
	var rules []int
	for j := range i {
		if a.dead[j] || !a.decides(a.p.rules[j]) {
			continue
		}
		if a.impossible(f, a.passes[j]) {
			return []int{j}
		}
		rules = append(rules, j)
	}
	rules = fewest(rules, 0, func(rest []int) bool {
		fs := []*analysis.Formula{f}
		for _, j := range rest {
			fs = append(fs, a.passes[j])
		}
		return a.impossible(fs...)
	})
	if len(rules) > maxCover {
		return nil
	}
	return rules
}
