package rules

import (
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// analyze looks at the policy as a whole: at conditions that are never or always
// true, at rules that other rules never let decide, and at what no rule decides.
// It knows enums, booleans, whole numbers with their bounds, comparisons between
// them, and how facts stand; of what it does not know it assumes nothing. Every
// finding has a witness. See docs/checks for each check.
func (p *Program) analyze() Diagnostics {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &analyzer{p: p, t: newTranslator(newModel(), p, false)}
	a.whens = make([]*analysis.Outcomes, len(p.rules))
	a.holds = make([]*analysis.Formula, len(p.rules))
	a.dead = make([]bool, len(p.rules))
	for i, r := range p.rules {
		a.whens[i] = a.t.when(r.when)
		a.holds[i] = analysis.And(a.whens[i].Yes, analysis.Not(a.t.aside(r)))
	}
	isFor := a.t.when(p.when).Yes
	for _, f := range p.finally {
		a.t.when(f.when)
	}
	for _, f := range p.facts {
		a.t.statusOf(f)
	}
	a.verbs = a.eventsOfVerbs()
	a.enums = a.decidedFields()
	a.facts = a.unguardedFacts()
	a.base = a.t.Solver() // from here on no quantity comes up any more
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

// analyzer is one run of the analyses over a program.
type analyzer struct {
	verbs *analysis.Formula // the event takes a verb; nil if each that the policy lists does
	p     *Program
	t     *translator
	base  *analysis.Solver     // knows only what always holds where a rule is tried
	whens []*analysis.Outcomes // of each rule's when
	holds []*analysis.Formula
	dead  []bool // rules whose when is never true
	enums []decidedField
	facts []unguarded
	diags Diagnostics
}

// impossible reports whether no state makes all of fs hold, for certain.
func (a *analyzer) impossible(fs ...*analysis.Formula) bool {
	return a.t.Answer(a.base, fs...) == analysis.Unsat
}

// possible reports whether some state may make all of fs hold, as far as is known.
func (a *analyzer) possible(s *analysis.Solver, fs ...*analysis.Formula) bool {
	status := a.t.Answer(s, fs...)
	return status == analysis.Sat || status == analysis.Maybe
}

// evidence is what a witness must show: that all of these hold, and what the
// solver knows besides.
type evidence struct {
	solver *analysis.Solver
	fs     []*analysis.Formula
}

// where asks for a state in which fs hold, whatever the rules above decide.
func (a *analyzer) where(fs ...*analysis.Formula) evidence { return evidence{a.base, fs} }

// report adds a finding. Of several witnesses the first that exists without a guess
// is shown.
func (a *analyzer) report(check string, from, to Pos, help, message string, related []Related, witnesses ...evidence) {
	d := Diagnostic{
		Pos: from, End: to, Severity: severityOf(check), Check: check, Message: message, Help: help,
		Related: related, Line: a.p.line(from),
	}
	for _, e := range witnesses {
		if r := a.t.ask(e.solver, e.fs...); r.Status == analysis.Sat {
			w := a.t.witness(&r)
			d.Witness = w.asJSON()
			break
		}
	}
	a.diags = append(a.diags, d)
}
