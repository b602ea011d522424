package rules

import (
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/solve"
)

// Bounds of the analyses, in looks at one atom of a condition. What they do not
// reach is not reported: an analysis that gives up finds nothing.
const (
	stepsPerQuestion = 50_000
	stepsPerPolicy   = 12_000_000
)

// analyze looks at the policy as a whole: at conditions that are never or always
// true, at rules that other rules never let decide, and at what no rule decides.
// It knows enums, booleans, whole numbers with their bounds, comparisons between
// them, and how facts stand; of what it does not know it assumes nothing. Every
// finding has a witness. See docs/checks for each check.
func (p *Program) analyze() Diagnostics {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &analysis{p: p, t: newTranslator(newModel(), p, false), left: stepsPerPolicy}
	a.whens = make([]*outcomes, len(p.rules))
	a.holds = make([]*solve.Formula, len(p.rules))
	a.dead = make([]bool, len(p.rules))
	for i, r := range p.rules {
		a.whens[i] = a.t.when(r.when)
		a.holds[i] = solve.And(a.whens[i].yes, solve.Not(a.t.aside(r)))
	}
	isFor := a.t.when(p.when).yes
	for _, f := range p.finally {
		a.t.when(f.when)
	}
	for _, f := range p.facts {
		a.t.statusOf(f)
	}
	a.verbs = a.eventsOfVerbs()
	a.enums = a.decidedFields()
	a.facts = a.unguardedFacts()
	a.base = a.t.solver() // from here on no quantity comes up any more
	if a.condition(p.when) {
		return a.diags // no rule is ever tried
	}
	a.base.Add(isFor)
	for i, r := range p.rules {
		if own(r) {
			a.dead[i] = a.condition(r.when)
			a.eventVerb(i)
		} else {
			a.dead[i] = a.impossible(a.holds[i])
		}
	}
	for _, f := range p.finally {
		a.condition(f.when)
	}
	a.order(isFor)
	a.bounded()
	for i, r := range p.rules {
		if own(r) {
			a.fields(i)
		}
	}
	return a.diags
}

// own reports whether a rule stands in the policy itself. Included rules are
// written for many policies, so what one of them never needs is no fault.
func own(r *Rule) bool { return !strings.Contains(r.Name, "/") }

// analysis is one run of the analyses over a program.
type analysis struct {
	verbs *solve.Formula // the event takes a verb; nil if each that the policy lists does
	p     *Program
	t     *translator
	base  *solve.Solver // knows only what always holds where a rule is tried
	whens []*outcomes   // of each rule's when
	holds []*solve.Formula
	dead  []bool // rules whose when is never true
	enums []decidedField
	facts []unguarded
	left  int // steps
	diags Diagnostics
}

// ask looks for a state in which fs hold.
func (a *analysis) ask(s *solve.Solver, fs ...*solve.Formula) solve.Result {
	return a.t.ask(s, &a.left, fs...)
}

// answer reports whether there is a state in which fs hold.
func (a *analysis) answer(s *solve.Solver, fs ...*solve.Formula) solve.Status {
	if a.left <= 0 {
		return solve.GaveUp
	}
	status, steps := s.Try(min(stepsPerQuestion, a.left), fs...)
	a.left -= steps
	return status
}

// impossible reports whether no state makes all of fs hold, for certain.
func (a *analysis) impossible(fs ...*solve.Formula) bool {
	return a.answer(a.base, fs...) == solve.Unsat
}

// possible reports whether some state may make all of fs hold, as far as is known.
func (a *analysis) possible(s *solve.Solver, fs ...*solve.Formula) bool {
	status := a.answer(s, fs...)
	return status == solve.Sat || status == solve.Maybe
}

// evidence is what a witness must show: that all of these hold, and what the
// solver knows besides.
type evidence struct {
	solver *solve.Solver
	fs     []*solve.Formula
}

// where asks for a state in which fs hold, whatever the rules above decide.
func (a *analysis) where(fs ...*solve.Formula) evidence { return evidence{a.base, fs} }

// report adds a finding. Of several witnesses the first that exists without a guess
// is shown.
func (a *analysis) report(check string, from, to Pos, help, message string, related []Related, witnesses ...evidence) {
	d := Diagnostic{
		Pos: from, End: to, Severity: severityOf(check), Check: check, Message: message, Help: help,
		Related: related, Line: a.p.line(from),
	}
	for _, e := range witnesses {
		if r := a.ask(e.solver, e.fs...); r.Status == solve.Sat {
			w := a.t.witness(&r)
			d.Witness = w.asJSON()
			break
		}
	}
	a.diags = append(a.diags, d)
}
