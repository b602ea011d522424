package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/solve"
)

// passes says that rule i lets the rules behind it be read: it does not decide,
// nor does it stop because it could not be worked out.
func (a *analysis) passes(i int) *solve.Formula {
	r := a.p.Rules[i]
	if !a.decides(r) {
		return solve.True()
	}
	out := solve.Not(a.holds[i])
	if r.Verb == VerbStop {
		out = solve.And(out, solve.Not(solve.And(a.whens[i].broken, solve.Not(a.t.aside(r)))))
	}
	return out
}

// decides reports whether the rules behind r are not read once it holds.
func (a *analysis) decides(r *Rule) bool {
	return r.Verb == VerbStop || r.Verb == VerbContinue && a.p.Gate == First
}

// noting reports whether a rule runs also where no rule decides.
func (a *analysis) noting(r *Rule) bool {
	return (r.Verb == NoVerb || r.Verb == VerbNote) && a.p.Handles("UserPromptSubmit")
}

// order goes through the rules as an event does and looks for those that are
// never reached in a state in which they hold, and for what the end is left with.
// isFor says that the policy is for the event.
func (a *analysis) order(isFor *solve.Formula) {
	reach := a.t.solver()
	reach.Add(isFor)
	for i, r := range a.p.Rules {
		if !a.dead[i] && !a.noting(r) && a.answer(reach, a.holds[i]) == solve.Unsat {
			a.dead[i] = true
			if a.answer(reach) == solve.Unsat {
				a.unreachable(i)
				return
			}
			if own(r) || a.wholeInclude(i) {
				a.shadowed(i)
			}
		}
		a.bare(reach, i)
		reach.Add(a.passes(i))
	}
	for i, r := range a.p.Rules { // with gate: all a continue decides, too
		if r.Verb == VerbContinue {
			reach.Add(solve.Not(a.holds[i]))
		}
	}
	a.undecided(reach)
	a.unguarded(reach)
}

// place gives where a finding about rule i is told: at its name, or at the include
// that brings it in.
func (a *analysis) place(i int) (from, to Pos) {
	r := a.p.Rules[i]
	if at, ok := a.include(r); ok {
		return at.from, at.to
	}
	return r.Pos, a.p.compiler.lineEnd(r.Pos)
}

// include gives the place in the policy of the include that brings a rule in.
func (a *analysis) include(r *Rule) (at includeAt, ok bool) {
	prefix, _, found := strings.Cut(r.Name, "/")
	if !found {
		return at, false
	}
	i := slices.IndexFunc(a.p.includes, func(at includeAt) bool { return at.prefix == prefix+"/" })
	if i < 0 {
		return at, false
	}
	return a.p.includes[i], true
}

// wholeInclude reports whether i is the last rule of an include none of whose
// rules ever decides because of the rules above it.
func (a *analysis) wholeInclude(i int) bool {
	prefix, _, _ := strings.Cut(a.p.Rules[i].Name, "/")
	within := func(j int) bool {
		return j < len(a.p.Rules) && strings.HasPrefix(a.p.Rules[j].Name, prefix+"/")
	}
	for j := i; j >= 0 && within(j); j-- {
		if !a.dead[j] {
			return false
		}
	}
	return !within(i + 1)
}

// unreachable tells that no rule from i on is ever reached. One finding is enough:
// the others follow it.
func (a *analysis) unreachable(i int) {
	covers := a.cover(i, solve.True())
	rest := ""
	switch n := len(a.p.Rules) - i - 1; {
	case n == 1:
		rest = ", nor is the rule behind it"
	case n > 1:
		rest = fmt.Sprintf(", nor are the %d rules behind it", n)
	}
	from, to := a.place(i)
	message := fmt.Sprintf("the rule %q is never tried%s: ", a.p.Rules[i].Name, rest)
	help := "move it up, or remove it"
	if len(covers) == 1 {
		name := a.p.Rules[covers[0]].Name
		message += fmt.Sprintf("%q above it always holds", name)
		help = fmt.Sprintf("give %q a when, or move it to the end", name)
	} else {
		message += "the rules above it leave nothing undecided"
	}
	a.report("unreachable", from, to, help, message, a.related(covers), a.where(a.holds[i]), a.where())
}

// shadowed tells that whenever rule i holds, earlier rules have decided.
func (a *analysis) shadowed(i int) {
	covers := a.cover(i, a.holds[i])
	var names []string
	for _, j := range covers {
		names = append(names, quote(a.p.Rules[j].Name))
	}
	what := "rules above it decide"
	switch len(names) {
	case 0:
	case 1:
		what = names[0] + " decides"
	default:
		what = strings.Join(names[:len(names)-1], ", ") + " or " + names[len(names)-1] + " decides"
	}
	from, to := a.place(i)
	subject := fmt.Sprintf("the rule %q never gets its turn", a.p.Rules[i].Name)
	if !own(a.p.Rules[i]) {
		subject = "no rule of this include ever gets its turn"
	}
	a.report("shadowed-rule", from, to, "move it up, or remove it",
		subject+": whenever it holds, "+what+" before it", a.related(covers), a.where(a.holds[i]))
}

// related points at rules.
func (a *analysis) related(rules []int) []Related {
	var out []Related
	for _, j := range rules {
		out = append(out, Related{Pos: a.p.Rules[j].Pos, Message: fmt.Sprintf("%q decides first", a.p.Rules[j].Name)})
	}
	return out
}

// maxCover is how many rules a finding names at most.
const maxCover = 6

// cover finds few rules before i that decide whenever f holds: one if one is
// enough. It is empty if that takes too many.
func (a *analysis) cover(i int, f *solve.Formula) []int {
	var rules []int
	for j := range i {
		if a.dead[j] || !a.decides(a.p.Rules[j]) {
			continue
		}
		if a.impossible(f, a.passes(j)) {
			return []int{j}
		}
		rules = append(rules, j)
	}
	// Leave out ever smaller stretches of rules as long as the others do.
	for size := len(rules) / 2; size > 0; {
		left := false
		for at := 0; at+size <= len(rules); {
			without := slices.Delete(slices.Clone(rules), at, at+size)
			fs := []*solve.Formula{f}
			for _, j := range without {
				fs = append(fs, a.passes(j))
			}
			if a.impossible(fs...) {
				rules, left = without, true
			} else {
				at += size
			}
		}
		if !left || size > len(rules)/2 {
			size /= 2
		}
	}
	if len(rules) > maxCover {
		return nil
	}
	return rules
}

// decidedField is a field with an enum whose values rules tell apart.
type decidedField struct {
	q       *quantity
	name    string
	is      []*solve.Formula // for each value of the enum
	rules   []int            // that decide and read it
	enum    []any
	at      Pos // of the first operand that reads it
	end     Pos
	whether *solve.Formula // the fact is ok and the field usable
}

// decidedFields finds the enum fields that deciding rules of the policy read.
func (a *analysis) decidedFields() []decidedField {
	var out []decidedField
	for i, r := range a.p.Rules {
		if r.Verb != VerbStop && r.Verb != VerbContinue {
			continue
		}
		r.when.walk(func(o *operand) {
			for _, read := range o.reads {
				f := read.fact.fact
				q := a.t.byKey[fieldKey(a.t.labelOf(f), read.path)]
				if q == nil || q.number || q.open || len(q.values) < 3 {
					continue
				}
				at := slices.IndexFunc(out, func(d decidedField) bool { return d.q == q })
				if at < 0 {
					if !own(r) {
						continue
					}
					d := decidedField{q: q, name: read.name, at: o.pos(), end: o.end(), enum: slices.Clone(q.values)}
					for _, v := range d.enum {
						d.is = append(d.is, a.t.is(q, v))
					}
					d.whether = solve.And(a.t.status(f, isOK), solve.In(a.t.usable(f, read.path).v, isUsable))
					out, at = append(out, d), len(out)
				}
				if !slices.Contains(out[at].rules, i) {
					out[at].rules = append(out[at].rules, i)
				}
			}
		})
	}
	return out
}

// undecided tells of values of an enum that no rule decides about, where the rules
// decide about others one by one. end knows that no rule decides.
func (a *analysis) undecided(end *solve.Solver) {
	for _, d := range a.enums {
		var open []int
		handled := 0
		for v := range d.enum {
			if d.enum[v] == nil || d.enum[v] == "" {
				continue // nothing is chosen yet
			}
			// A rule that goes on without a look at the field decides about all its
			// values; one that stops is about something else.
			decided := false
			for i, r := range a.p.Rules {
				reads := slices.Contains(d.rules, i)
				if decided = (reads || r.Verb == VerbContinue) && !a.impossible(a.holds[i], d.is[v], d.whether); decided {
					break
				}
			}
			switch {
			case decided:
				handled++
			case a.possible(end, d.is[v], d.whether):
				open = append(open, v)
			}
		}
		if handled < 2 || len(open) == 0 {
			continue
		}
		var words []string
		for _, v := range open {
			words = append(words, literalText(d.enum[v]))
		}
		name := d.q.path[len(d.q.path)-1]
		first := d.is[open[0]]
		a.report("undecided-value", d.at, d.end, "add a rule for it, if only a stop that says why",
			fmt.Sprintf("no rule that reads %q decides when it is %s", name, strings.Join(words, " or ")), nil,
			evidence{end, []*solve.Formula{first, d.whether}}, a.where(first, d.whether))
	}
}

// unguarded is a fact that rules both continue and stop by, so that the policy
// says why the loop ends, and that no rule asks about.
type unguarded struct {
	fact    *Fact
	missing *solve.Formula
}

// unguardedFacts finds them.
func (a *analysis) unguardedFacts() []unguarded {
	asked, goOn, ends := map[*Fact]bool{}, map[*Fact]bool{}, map[*Fact]bool{}
	for _, r := range a.p.Rules {
		r.when.walk(func(o *operand) {
			for _, s := range o.syms {
				if s.kind == askSymbol {
					asked[s.fact] = true
				}
			}
			for _, a := range o.reads {
				switch r.Verb {
				case VerbContinue:
					goOn[a.fact.fact] = true
				case VerbStop:
					ends[a.fact.fact] = true
				}
			}
		})
	}
	// Who asks about a fact asks about those that its path is made of.
	for changed := true; changed; {
		changed = false
		for f := range asked {
			for _, arg := range f.args {
				for _, s := range arg.segs {
					if s.hole == nil {
						continue
					}
					for _, g := range needed(s.hole) {
						changed = changed || !asked[g]
						asked[g] = true
					}
				}
			}
		}
	}
	var out []unguarded
	for _, f := range a.p.facts {
		if goOn[f] && ends[f] && !asked[f] && !f.HasDefault && f.Source.File {
			out = append(out, unguarded{f, a.t.status(f, isMissing)})
		}
	}
	return out
}

// unguarded tells of them, if nothing decides when one is missing.
func (a *analysis) unguarded(end *solve.Solver) {
	for _, u := range a.facts {
		if strings.Contains(u.fact.Name, "/") || !a.possible(end, u.missing) {
			continue
		}
		to := u.fact.Pos
		to.Col += len([]rune(u.fact.Name))
		a.report("unguarded-fact", u.fact.Pos, to,
			fmt.Sprintf("add a rule `when: missing(%s)` with a stop that says why, or give it a default", u.fact.Name),
			fmt.Sprintf("when %q is missing no rule decides, and nobody learns why the loop ended", u.fact.Name), nil,
			evidence{end, []*solve.Formula{u.missing}}, a.where(u.missing))
	}
}
