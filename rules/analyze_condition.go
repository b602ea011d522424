package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/analysis"
	"github.com/ralph-sdk/ralph/schema"
)

// conditions checks the conditions of all rules.
func (a *analyzer) conditions() {
	for i, r := range a.p.rules {
		if own(r) {
			a.dead[i] = a.condition(r.when)
		} else {
			a.dead[i] = a.impossible(a.holds[i])
		}
	}
	for _, f := range a.p.finally {
		a.condition(f.when)
	}
}

// condition looks for parts of a condition that are never or always true. never reports whether c as a whole is never
// true.
func (a *analyzer) condition(c *cond) (never bool) {
	if c == nil {
		return false
	}
	w := a.t.when(c)
	if c.op == leaf {
		return a.operand(c.operand, w)
	}
	if c.op == not || c.op == choose { // its parts have any problem that it has
		for _, k := range c.kids {
			if c.op == not || k.op != leaf || !isLiteral(k.operand) {
				a.condition(k)
			}
		}
		return a.impossible(w.Yes)
	}
	one := false // some part is never true (and), or never false (or)
	for _, k := range c.kids {
		decides := a.condition(k)
		if c.op == or {
			decides = a.impossible(a.t.when(k).No)
		}
		one = one || decides
	}
	never = a.impossible(w.Yes)
	if one || c.op == or && never {
		return never // reported already
	}
	if c.op == and && never {
		a.contradiction(c)
	}
	if c.op == or && a.impossible(w.No) {
		a.tautology(c)
	}
	return never
}

func isLiteral(o *operand) bool { return o.src.text == "true" || o.src.text == "false" }

// operand checks a condition without parts.
func (a *analyzer) operand(o *operand, w *analysis.Outcomes) (never bool) {
	switch {
	case o.src.text == "true":
		return false // the user wrote it on purpose
	case a.impossible(w.Yes):
		help := a.reason(o, w.Yes)
		if o.src.text == "false" {
			help = "remove the rule, or change its when"
		}
		a.report("never-true", o.place(), help, inCode(o.src.text)+" is never true", where(w.No), nil)
		return true
	case a.impossible(w.No):
		a.report("always-true", o.place(), a.reason(o, w.No), inCode(o.src.text)+" is always true", where(w.Yes), nil)
	}
	return false
}

// reason returns why an operand has only one result, so that never is impossible: the values that the type of the only
// thing it reads allows.
func (a *analyzer) reason(o *operand, never *analysis.Formula) string {
	if a.t.Answer(never) != analysis.Unsat {
		return "the policy's own when already ensures this"
	}
	const unclear = "change the condition, or remove it"
	if len(o.uses.syms) != 1 || len(o.uses.reads) > 1 {
		return unclear
	}
	s := o.uses.syms[0]
	name, typ := s.name, cmp.Or(s.count(), s.typ)
	for _, read := range o.uses.reads {
		name, typ = read.name, read.fact.typ.At(read.path...)
	}
	switch {
	case s.kind == askSymbol && s.fact.HasDefault:
		return fmt.Sprintf("%q has a default, so it is never missing", s.fact.Name)
	case typ == nil:
		return unclear
	case len(o.uses.reads) == 1 && typ == s.typ && typ.Kind == schema.String:
		return fmt.Sprintf("an empty text file counts as missing, so %q is never empty", name)
	}
	return fmt.Sprintf("%q is %s", name, rangeOf(typ))
}

// contradiction reports which parts of an and cannot be true together.
func (a *analyzer) contradiction(c *cond) {
	core, names := a.core(c.kids, func(k *cond) *analysis.Formula { return a.t.when(k).Yes })
	last := core[len(core)-1]
	from, to := last.place()
	first := a.t.when(core[0]).Yes
	// The situation satisfies the first of them, so that the last is false.
	d := a.report("contradiction", place{from, to}, "remove one of them, or join them with or", names+" are never true together",
		where(first, a.t.when(last).No), where(first), nil)
	for _, k := range core[:len(core)-1] {
		at, _ := k.place()
		d.Related = append(d.Related, Related{Pos: at, Message: inCode(textOf(k)) + " is here"})
	}
}

// tautology reports which parts of an or cannot all be false.
func (a *analyzer) tautology(c *cond) {
	core, names := a.core(c.kids, func(k *cond) *analysis.Formula { return a.t.when(k).No })
	from, _ := core[0].place()
	_, to := core[len(core)-1].place()
	a.report("always-true", place{from, to}, "change the condition, or remove it", "one of "+names+" is always true",
		where(a.t.when(core[0]).Yes), nil)
}

// core returns a minimal subset of kids that is still unsatisfiable, and their texts for a message.
func (a *analyzer) core(kids []*cond, formula func(*cond) *analysis.Formula) ([]*cond, string) {
	kids = fewest(kids, 2, func(rest []*cond) bool {
		var fs []*analysis.Formula
		for _, k := range rest {
			fs = append(fs, formula(k))
		}
		return a.impossible(fs...)
	})
	var names []string
	for _, k := range kids {
		names = append(names, inCode(textOf(k)))
	}
	return kids, strings.Join(names, " and ")
}

// fewest removes ever smaller parts of a list while enough accepts the rest, but keeps at least the given number of
// elements.
func fewest[T any](all []T, least int, enough func([]T) bool) []T {
	for size := max(1, len(all)/2); size > 0; {
		left := false
		for at := 0; at+size <= len(all) && len(all)-size >= least; {
			if rest := slices.Delete(slices.Clone(all), at, at+size); enough(rest) {
				all, left = rest, true
			} else {
				at += size
			}
		}
		if !left || size > len(all)/2 {
			size /= 2
		}
	}
	return all
}

// textOf returns a condition for a message.
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
		return c.operand.src.text
	case not:
		return "not " + parts[0]
	case choose:
		return parts[0] + " ? " + parts[1] + " : " + parts[2]
	case or:
		return strings.Join(parts, " or ")
	}
	return strings.Join(parts, " and ")
}
