package rules

import (
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// policyChecks returns the checks of the policy as a whole. Rules that one check finds dead are skipped by the next.
func policyChecks() []func(*analyzer) {
	return []func(*analyzer){
		(*analyzer).conditions,
		(*analyzer).eventVerb,
		(*analyzer).order,
		(*analyzer).setMissing,
		(*analyzer).undecidedValue,
		(*analyzer).unguardedFact,
		(*analyzer).unboundedContinue,
		(*analyzer).unreachedLimit,
		(*analyzer).optionalField,
	}
}

// analyze checks the policy as a whole: for conditions that are never or always true, rules that others keep from
// deciding, and states in which no rule decides. It knows enums, booleans, whole numbers with their bounds, comparisons
// between them, and the status of facts, and assumes nothing about the rest. Every finding has a situation. See
// docs/checks.md for each check.
func (p *Program) analyze() Diagnostics {
	p.machine.mu.Lock()
	defer p.machine.mu.Unlock()
	n := len(p.rules)
	a := &analyzer{p: p, t: newTranslator(newModel(), p, false), dead: make([]bool, n)}
	if a.condition(p.head.when) {
		return a.diags // no rule is ever tried
	}
	a.given = a.t.when(p.head.when).Yes
	a.holds, a.passes = make([]*analysis.Formula, n), make([]*analysis.Formula, n, 2*n)
	for i, r := range p.rules {
		holds, fails := a.t.tried(r)
		a.holds[i], a.passes[i] = holds, analysis.True()
		if a.decides(r) {
			a.passes[i] = analysis.Not(analysis.Or(holds, fails))
		}
	}
	a.end = a.passes
	for i, r := range p.rules { // with gate: all, a continue also decides
		if r.Verb == verbContinue {
			a.end = append(a.end, analysis.Not(a.holds[i]))
		}
	}
	for _, check := range policyChecks() {
		check(a)
	}
	return a.diags
}

// own reports whether a rule is in the policy itself. Included rules are written for many policies, so a part that one
// policy does not need is no fault.
func own(r *Rule) bool { return r.include == "" }

// analyzer is one run of the checks over a program.
type analyzer struct {
	p      *Program
	t      *translator
	given  *analysis.Formula   // the policy's own when; nil until known
	holds  []*analysis.Formula // when each rule holds
	passes []*analysis.Formula // when each rule lets those after it be tried
	end    []*analysis.Formula // when no rule decides
	dead   []bool              // rules that never hold when tried
	diags  Diagnostics
}

// where returns its arguments as a list.
func where(fs ...*analysis.Formula) []*analysis.Formula { return fs }

// answer returns whether all of fs can hold when a rule is tried.
func (a *analyzer) answer(fs []*analysis.Formula) analysis.Status {
	return a.t.Answer(a.tried(fs)...)
}

// tried returns fs and that the policy's own when holds.
func (a *analyzer) tried(fs []*analysis.Formula) []*analysis.Formula {
	if a.given == nil {
		return fs
	}
	return append(fs[:len(fs):len(fs)], a.given)
}

// impossible reports whether certainly no state satisfies all of fs.
func (a *analyzer) impossible(fs ...*analysis.Formula) bool { return a.answer(fs) == analysis.Unsat }

// possible reports whether some state may satisfy all of fs.
func (a *analyzer) possible(fs []*analysis.Formula) bool {
	status := a.answer(fs)
	return status == analysis.Sat || status == analysis.Maybe
}

// turn returns formulas for: rule i is tried and all of fs hold.
func (a *analyzer) turn(i int, fs ...*analysis.Formula) []*analysis.Formula {
	return append(fs, a.passes[:i]...)
}

// place is the range of a finding.
type place struct{ from, to Pos }

func (o *operand) place() place { return place{o.src.pos(), o.src.end()} }

// finding returns a finding of a check.
func (p *Program) finding(check string, at place, help, message string) Diagnostic {
	return Diagnostic{
		Pos: at.from, End: at.to, Severity: severityOf(check), Check: check, Message: message, Help: help, Line: p.line(at.from),
	}
}

// place returns the range of the name of rule i, or of the include that brings it in.
func (a *analyzer) place(i int) place {
	r := a.p.rules[i]
	prefix, _, _ := strings.Cut(r.include, "/")
	for _, at := range a.p.origin.includes {
		if !own(r) && at.prefix == prefix+"/" {
			return place{at.from, at.to}
		}
	}
	return place{r.Pos, a.p.lineEnd(r.Pos)}
}

// report adds a finding. The first state in shows that needs no guess becomes its situation.
func (a *analyzer) report(check string, at place, help, message string, shows ...[]*analysis.Formula) *Diagnostic {
	d := a.p.finding(check, at, help, message)
	for _, fs := range shows {
		if w := a.t.find(a.tried(fs)); w != nil {
			d.Situation = w.asJSON()
			break
		}
	}
	a.diags = append(a.diags, d)
	return &a.diags[len(a.diags)-1]
}
