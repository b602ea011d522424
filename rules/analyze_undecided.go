package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// decidedField is a field with an enum whose values rules distinguish.
type decidedField struct {
	q       *quantity
	name    string
	is      []*analysis.Formula // for each value of the enum
	rules   []int               // that decide and read it
	enum    []any
	at      Pos // of the first operand that reads it
	end     Pos
	whether *analysis.Formula // the fact is ok and the field usable
}

// decidedFields finds the enum fields that deciding rules of the policy read.
func (a *analyzer) decidedFields() []decidedField {
	var out []decidedField
	for i, r := range a.p.rules {
		if r.Verb != verbStop && r.Verb != verbContinue {
			continue
		}
		r.when.walk(func(o *operand) {
			for _, read := range o.reads {
				f := read.fact.fact
				q := a.t.byKey[fieldKey(a.t.labelOf(f), read.path)]
				if q == nil || q.Number || q.Open || len(q.Values) < 3 {
					continue
				}
				at := slices.IndexFunc(out, func(d decidedField) bool { return d.q == q })
				if at < 0 {
					if !own(r) {
						continue
					}
					d := decidedField{q: q, name: read.name, at: o.pos(), end: o.end(), enum: slices.Clone(q.Values)}
					for _, v := range d.enum {
						d.is = append(d.is, a.t.Is(&q.Quantity, v))
					}
					d.whether = analysis.And(a.t.status(f, isOK), analysis.In(a.t.usable(f, read.path).Var, isUsable))
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

// undecided reports values of an enum that no rule decides about, where the rules
// decide about others one by one. end knows that no rule decides.
func (a *analyzer) undecided(end *analysis.Solver) {
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
			for i, r := range a.p.rules {
				reads := slices.Contains(d.rules, i)
				if decided = (reads || r.Verb == verbContinue) && !a.impossible(a.holds[i], d.is[v], d.whether); decided {
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
			evidence{end, []*analysis.Formula{first, d.whether}}, a.where(first, d.whether))
	}
}

// unguarded is a fact that rules both continue and stop by, so that the policy
// says why the loop ends, and that no rule asks about.
type unguarded struct {
	fact    *Fact
	missing *analysis.Formula
}

// unguardedFacts finds them.
func (a *analyzer) unguardedFacts() []unguarded {
	asked, goOn, ends := map[*Fact]bool{}, map[*Fact]bool{}, map[*Fact]bool{}
	if l := a.p.loop; l != nil {
		asked[l.info.State] = true // without it there is no loop, which the engine says
	}
	for _, r := range a.p.rules {
		r.when.walk(func(o *operand) {
			for _, s := range o.syms {
				if s.kind == askSymbol {
					asked[s.fact] = true
				}
			}
			for _, a := range o.reads {
				switch r.Verb {
				case verbContinue:
					goOn[a.fact.fact] = true
				case verbStop:
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

// unguarded reports them, if nothing decides when one is missing.
func (a *analyzer) unguarded(end *analysis.Solver) {
	for _, u := range a.facts {
		if strings.Contains(u.fact.Name, "/") || !a.possible(end, u.missing) {
			continue
		}
		to := u.fact.Pos
		to.Col += len([]rune(u.fact.Name))
		a.report("unguarded-fact", u.fact.Pos, to,
			fmt.Sprintf("add a rule `when: missing(%s)` with a stop that says why, or give it a default", u.fact.Name),
			fmt.Sprintf("when %q is missing no rule decides, and the loop ends without a reason", u.fact.Name), nil,
			evidence{end, []*analysis.Formula{u.missing}}, a.where(u.missing))
	}
}
