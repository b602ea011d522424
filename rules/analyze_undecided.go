package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// enumField is a field with an enum whose values rules distinguish.
type enumField struct {
	q       *quantity
	name    string
	rules   []int             // that decide and read the field
	at      place             // of the first operand that reads it
	whether *analysis.Formula // the fact is ok and the field usable
}

// enumFields returns the enum fields that deciding rules of the policy read.
func (a *analyzer) enumFields() []enumField {
	var out []enumField
	for i, r := range a.p.rules {
		if !r.decides() {
			continue
		}
		r.when.walk(func(o *operand) {
			for _, read := range o.uses.reads {
				f := read.fact.fact
				q := a.t.byKey[fieldKey(a.t.labelOf(f), read.path)]
				if q == nil || q.Number || q.Open || len(q.Values) < 3 {
					continue
				}
				at := slices.IndexFunc(out, func(d enumField) bool { return d.q == q })
				if at < 0 && own(r) {
					whether := analysis.And(a.t.status(f, isOK), a.t.usable(f, read.path))
					out, at = append(out, enumField{q: q, name: read.name, at: o.place(), whether: whether}), len(out)
				}
				if at >= 0 && !slices.Contains(out[at].rules, i) {
					out[at].rules = append(out[at].rules, i)
				}
			}
		})
	}
	return out
}

// undecidedValue reports enum values that no rule decides, if rules decide other values one by one.
func (a *analyzer) undecidedValue() {
	for _, d := range a.enumFields() {
		var words []string
		var first *analysis.Formula
		handled := 0
		for _, v := range d.q.Values {
			if v == nil || v == "" {
				continue // no value chosen yet
			}
			is := analysis.And(a.t.Is(&d.q.Quantity, v), d.whether)
			// A rule that continues without reading the field decides all its values; one that stops is about something
			// else.
			decided := false
			for i, r := range a.p.rules {
				decided = decided || (r.Verb == verbContinue || slices.Contains(d.rules, i)) && !a.impossible(a.holds[i], is)
			}
			switch {
			case decided:
				handled++
			case a.possible(append(where(is), a.end...)):
				first = cmp.Or(first, is)
				words = append(words, literalText(v))
			}
		}
		if handled >= 2 && first != nil {
			a.report("undecided-value", d.at, "add a rule for it, even if it only stops with a reason",
				fmt.Sprintf("no rule that reads %q decides when it is %s", d.q.path[len(d.q.path)-1], strings.Join(words, " or ")),
				append(where(first), a.end...), where(first))
		}
	}
}
