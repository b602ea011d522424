package rules

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/solve"
)

// Check loads a policy as [Load] does, compiles all of it, looks at it as a whole
// as [Program.Analyze] does, and leaves out what the policy itself says to ignore:
//
//	# ralph:ignore shadowed-rule because the team wants the reminder to stay
//
// stands on the line of a finding or above it. The program is nil if and only if a
// diagnostic is an error; errors cannot be ignored.
func Check(fsys fs.FS, name string, cfg Config) (*Program, Diagnostics) {
	cfg.LazyTexts = false
	p, diags := Load(fsys, name, cfg)
	if p == nil {
		return nil, diags
	}
	diags = append(diags, p.Analyze()...)
	return p, silence(p.Files, diags).sorted()
}

// Bounds of the analyses, in looks at one atom of a condition. What they do not
// reach is not told: an analysis that gives up says nothing.
const (
	stepsPerQuestion = 50_000
	stepsPerPolicy   = 12_000_000
)

// Analyze looks at the policy as a whole: at conditions that are never or always
// true, at rules that other rules never let decide, and at what no rule decides.
// It knows enums, booleans, whole numbers with their bounds, comparisons between
// them, and how facts stand; of what it does not know it assumes nothing. Every
// finding has a witness. See docs/checks.md for each check.
func (p *Program) Analyze() Diagnostics {
	p.mu.Lock()
	defer p.mu.Unlock()
	a := &analysis{p: p, t: newTranslator(newModel(), p, false), left: stepsPerPolicy}
	a.whens = make([]*outcomes, len(p.Rules))
	a.holds = make([]*solve.Formula, len(p.Rules))
	a.dead = make([]bool, len(p.Rules))
	for i, r := range p.Rules {
		a.whens[i] = a.t.when(r.when)
		a.holds[i] = solve.And(a.whens[i].yes, solve.Not(a.t.aside(r)))
	}
	isFor := a.t.when(p.when).yes
	for _, f := range p.finally {
		a.t.when(f.when)
	}
	for _, r := range p.Rules {
		for _, e := range r.then {
			e.value.conditions(func(c *cond) { a.t.when(c) })
		}
	}
	for _, f := range p.facts {
		a.t.statusOf(f)
	}
	a.enums = a.decidedFields()
	a.facts = a.unguardedFacts()
	a.base = a.t.solver() // from here on no quantity comes up any more
	if a.condition(p.when) {
		return a.diags // no rule is ever tried
	}
	a.base.Add(isFor)
	for i, r := range p.Rules {
		if own(r) {
			a.dead[i] = a.condition(r.when)
		} else {
			a.dead[i] = a.impossible(a.holds[i])
		}
	}
	for _, f := range p.finally {
		a.condition(f.when)
	}
	a.order(isFor)
	a.bounded()
	for i, r := range p.Rules {
		if own(r) {
			a.fields(i)
		}
	}
	a.effects()
	return a.diags
}

// own reports whether a rule stands in the policy itself. Included rules are
// written for many policies, so what one of them never needs is no fault.
func own(r *Rule) bool { return !strings.Contains(r.Name, "/") }

// analysis is one run of the analyses over a program.
type analysis struct {
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
	if a.left <= 0 {
		return solve.Result{}
	}
	r := s.Solve(min(stepsPerQuestion, a.left), fs...)
	a.left -= r.Steps
	return r
}

// answer tells whether there is a state in which fs hold.
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
		Related: related, Line: a.p.compiler.sourceLine(from),
	}
	for _, e := range witnesses {
		if r := a.ask(e.solver, e.fs...); r.Status == solve.Sat {
			w := a.t.witness(&r)
			d.Witness = w.JSON()
			break
		}
	}
	a.diags = append(a.diags, d)
}

// condition looks for parts of a condition that are never or always true. It
// reports whether the whole is never true.
func (a *analysis) condition(c *cond) (never bool) {
	if c == nil {
		return false
	}
	w := a.t.when(c)
	if c.op == leaf {
		return a.operand(c.operand, w)
	}
	switch c.op {
	case not: // what is wrong with it is what is wrong with what it turns round
		a.condition(c.kids[0])
		return a.impossible(w.yes)
	case choose:
		for _, k := range c.kids {
			if k.op != leaf || !isLiteral(k.operand) {
				a.condition(k)
			}
		}
		return a.impossible(w.yes)
	}
	each := make([]bool, len(c.kids)) // kids that are never true (and), never false (or)
	one := false
	for i, k := range c.kids {
		never := a.condition(k)
		if c.op == and {
			each[i] = never
		} else {
			each[i] = a.impossible(a.t.when(k).no)
		}
		one = one || each[i]
	}
	never = a.impossible(w.yes)
	if one || c.op == or && never {
		return never // told already
	}
	if c.op == and && never {
		a.contradiction(c)
	}
	if c.op == or && a.impossible(w.no) {
		a.tautology(c)
	}
	return never
}

func isLiteral(o *operand) bool { return o.text == "true" || o.text == "false" }

// operand looks at a condition that has no parts.
func (a *analysis) operand(o *operand, w *outcomes) (never bool) {
	switch {
	case o.text == "true":
		return false // a person wrote that it is so
	case a.impossible(w.yes):
		help := a.reason(o, w.yes)
		if o.text == "false" {
			help = "remove the rule, or say when it is to hold"
		}
		a.report("never-true", o.pos(), o.end(), help, fmt.Sprintf("%s is never true", inCode(o.text)), nil,
			a.where(w.no), a.where())
		return true
	case a.impossible(w.no):
		a.report("always-true", o.pos(), o.end(), a.reason(o, w.no), fmt.Sprintf("%s is always true", inCode(o.text)), nil,
			a.where(w.yes), a.where())
	}
	return false
}

// inCode quotes an expression for a message.
func inCode(s string) string {
	if strings.ContainsAny(s, "\n") {
		s = strings.Join(strings.Fields(s), " ")
	}
	return "`" + cut(s, 60) + "`"
}

// reason tells why a single operand comes out only one way, so that never is
// impossible: what the schema says of the one thing that it reads.
func (a *analysis) reason(o *operand, never *solve.Formula) string {
	if a.answer(a.t.solver(), never) != solve.Unsat {
		return "the policy's own when sees to that already"
	}
	n := a.t.tree(o)
	var about *quantity
	for _, v := range slices.Concat(a.t.proposition(n, o.snippet.scope).yes.Vars(), a.namedIn(o)) {
		for _, q := range a.t.things {
			if q.v != v || q.kind == fieldUsable {
				continue
			}
			if about != nil && about != q {
				return "say what is meant, or leave it out"
			}
			about = q
		}
	}
	if about == nil {
		return "say what is meant, or leave it out"
	}
	return about.says()
}

// namedIn lists what an operand reads as a plain path: its condition may not
// mention it any more, having come out one way.
func (a *analysis) namedIn(o *operand) []solve.Var {
	var out []solve.Var
	for _, r := range o.reads {
		if q := a.t.byKey[fieldKey(a.t.labelOf(r.fact.fact), r.path)]; q != nil {
			out = append(out, q.v)
		}
	}
	for _, s := range o.syms {
		if s.kind == askSymbol {
			out = append(out, a.t.statusOf(s.fact).v)
		}
	}
	return out
}

// says tells what is known of a quantity.
func (q *quantity) says() string {
	name := q.name
	if len(q.path) > 0 {
		name = strings.Join(q.path, ".")
	}
	source := ", by its schema"
	if q.kind == nameValue {
		source = ""
	}
	switch {
	case q.kind == factStatus && q.fact.HasDefault:
		return fmt.Sprintf("%q has a default, which stands in for it: it is never missing", name)
	case q.kind == factStatus:
		return "say what is meant, or leave it out"
	case q.number && q.min >= -solve.MaxConstant && q.max <= solve.MaxConstant:
		return fmt.Sprintf("%q is %d to %d%s", name, q.min, q.max, source)
	case q.number && q.min >= -solve.MaxConstant:
		return fmt.Sprintf("%q is %d or more%s", name, q.min, source)
	case q.number && q.max <= solve.MaxConstant:
		return fmt.Sprintf("%q is %d or less%s", name, q.max, source)
	case len(q.values) > 0 && !q.open:
		var words []string
		for _, v := range q.values {
			words = append(words, literalText(v))
		}
		return fmt.Sprintf("%q is one of %s%s", name, strings.Join(words, ", "), source)
	case q.nonempty:
		return fmt.Sprintf("a text file that is empty is missing, so %q is never empty", name)
	}
	return "say what is meant, or leave it out"
}

// contradiction tells which parts of an and cannot hold together.
func (a *analysis) contradiction(c *cond) {
	core := a.core(c.kids, func(k *cond) *solve.Formula { return a.t.when(k).yes })
	last := core[len(core)-1]
	from, to := last.place()
	var names []string
	var related []Related
	for _, k := range core {
		names = append(names, inCode(textOf(k)))
		if k != last {
			at, _ := k.place()
			related = append(related, Related{Pos: at, Message: inCode(textOf(k)) + " stands here"})
		}
	}
	// The state shows the first of them, so that the last does not hold.
	a.report("contradiction", from, to, "one of them must go, or they belong under or",
		strings.Join(names, " and ")+" are never true together", related,
		a.where(a.t.when(core[0]).yes, a.t.when(last).no), a.where(a.t.when(core[0]).yes), a.where())
}

// tautology tells which parts of an or cannot all be false.
func (a *analysis) tautology(c *cond) {
	core := a.core(c.kids, func(k *cond) *solve.Formula { return a.t.when(k).no })
	from, _ := core[0].place()
	_, to := core[len(core)-1].place()
	var names []string
	for _, k := range core {
		names = append(names, inCode(textOf(k)))
	}
	a.report("always-true", from, to, "leave the condition out, or say what is meant",
		"one of "+strings.Join(names, " and ")+" is always true", nil,
		a.where(a.t.when(core[0]).yes), a.where())
}

// core leaves out parts of what is impossible as long as it stays impossible.
func (a *analysis) core(kids []*cond, formula func(*cond) *solve.Formula) []*cond {
	core := slices.Clone(kids)
	for i := 0; i < len(core) && len(core) > 2; {
		without := slices.Delete(slices.Clone(core), i, i+1)
		var fs []*solve.Formula
		for _, k := range without {
			fs = append(fs, formula(k))
		}
		if a.impossible(fs...) {
			core = without
		} else {
			i++
		}
	}
	return core
}

// conditions calls f for the conditions that choose the value of an expression.
func (c *cond) conditions(f func(*cond)) {
	if c == nil || c.op != choose {
		return
	}
	f(c.kids[0])
	c.kids[1].conditions(f)
	c.kids[2].conditions(f)
}

// place is where a condition stands: from its first operand to its last.
func (c *cond) place() (from, to Pos) {
	c.walk(func(o *operand) {
		if !from.IsValid() {
			from = o.pos()
		}
		to = o.end()
	})
	return from, to
}

// textOf writes a condition for a message.
func textOf(c *cond) string {
	parts := make([]string, len(c.kids))
	for i, k := range c.kids {
		parts[i] = textOf(k)
		if k.op != leaf || c.op == not && strings.Contains(parts[i], " ") {
			parts[i] = "(" + parts[i] + ")"
		}
	}
	switch c.op {
	case leaf:
		return c.operand.text
	case not:
		return "not " + parts[0]
	case choose:
		return parts[0] + " ? " + parts[1] + " : " + parts[2]
	case or:
		return strings.Join(parts, " or ")
	}
	return strings.Join(parts, " and ")
}
