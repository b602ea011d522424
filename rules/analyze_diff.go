package rules

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-sdk/ralph/internal/source"
	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// Comparison says where two programs decide differently. The zero Comparison says
// that they never do.
type Comparison struct {
	Differences []Difference `json:"differences"` // at most 10, one for each pair of rules
	Unknown     []Difference `json:"unknown"`     // pairs that may differ: that hangs on what is not known
	Doubts      []string     `json:"doubts"`      // what could not be compared
	Notes       []string     `json:"notes"`       // what differs beside the decisions

	// Same says that the programs are known to decide alike in every state that fits
	// their schemas.
	Same bool `json:"-"`
}

// Difference is what one program decides and what the other does.
type Difference struct {
	Old     Decision `json:"old"`
	New     Decision `json:"new"`
	Witness *Witness `json:"witness,omitempty"` // a state in which it comes about; nil if that is not known
	Why     string   `json:"why,omitempty"`     // it is not known
}

// Decision is how one program decides.
type Decision struct {
	Action Action `json:"action"`
	Rule   string `json:"rule,omitempty"` // "" if no rule decides
	Pos    Pos    `json:"pos"`
	Text   string `json:"text,omitempty"` // of the rule, with its holes
	Failed bool   `json:"failed,omitempty"`
}

// String is the decision in a few words.
func (d Decision) String() string {
	verb := map[Action]string{Stop: "stops", Continue: "continues"}[d.Action]
	switch {
	case d.Rule == "":
		return "no rule decides, the agent may stop"
	case d.Failed:
		return fmt.Sprintf("%s stops, because it cannot be evaluated", d.Rule)
	}
	return d.Rule + " " + verb
}

// maxDifferences is how many differences are shown: more teach nothing.
const maxDifferences = 10

// Diff looks for states in which two programs decide differently: one lets the
// agent stop and the other does not. With texts a continue with another text
// counts as different, too. Params have the values that the programs were loaded
// with. See [Check] for what is known of conditions; a difference that
// hangs on anything else is in Unknown.
func Diff(older, newer *Program, texts bool) *Comparison {
	if older, newer = older.whole(), newer.whole(); older.table == nil || newer.table == nil {
		return &Comparison{Doubts: []string{noPolicy}}
	}
	older.mu.Lock()
	defer older.mu.Unlock()
	if newer != older {
		newer.mu.Lock()
		defer newer.mu.Unlock()
	}
	m := newModel()
	d := &differ{texts: texts, out: &Comparison{Differences: []Difference{}, Unknown: []Difference{}, Doubts: []string{}, Notes: []string{}}}
	a, b := newTranslator(m, older, true), newTranslator(m, newer, true)
	a.other, b.other = b, a
	a.side, b.side = "old", "new"
	d.notes(older, newer)
	before, after := decisions(a, older), decisions(b, newer)
	d.out.Notes = append(d.out.Notes, m.notes...)
	d.out.Doubts = append(d.out.Doubts, m.doubts...)
	for i := range before {
		if !d.compare(m, &before[i], after) {
			break
		}
	}
	d.out.Same = len(d.out.Differences) == 0 && len(d.out.Unknown) == 0 && len(d.out.Doubts) == 0
	return d.out
}

type differ struct {
	texts bool
	out   *Comparison
}

// decided is one way in which a program decides, and when it does.
type decided struct {
	Decision
	when []*analysis.Formula
}

// decisions lists the ways in which a program decides.
func decisions(t *translator, p *Program) []decided {
	n := len(p.rules)
	holds, fails := make([]*analysis.Formula, n), make([]*analysis.Formula, n)
	for i, r := range p.rules {
		w, there := t.when(r.when), analysis.Not(t.aside(r))
		holds[i], fails[i] = analysis.And(w.Yes, there), analysis.False()
		if r.Verb == verbStop {
			fails[i] = analysis.And(w.Broken, there)
		}
	}
	var out []decided
	var before []*analysis.Formula // a rule is tried, and none so far has decided
	if p.when != nil {
		isFor := t.when(p.when).Yes
		out = append(out, decided{Decision{}, []*analysis.Formula{analysis.Not(isFor)}})
		before = append(before, isFor)
	}
	for i, r := range p.rules {
		d := Decision{Rule: r.Name, Pos: r.Pos}
		if r.text != nil {
			d.Text = r.text.written()
		}
		when := func(fs ...*analysis.Formula) []*analysis.Formula { return append(slices.Clone(before), fs...) }
		switch r.Verb {
		case verbStop:
			out = append(out, decided{d, when(holds[i])})
			d.Failed = true
			out = append(out, decided{d, when(fails[i])})
			before = append(before, analysis.Not(holds[i]), analysis.Not(fails[i]))
		case verbContinue:
			d.Action = Continue
			out = append(out, decided{d, when(holds[i])}) // whatever is read on to with gate: all
			before = append(before, analysis.Not(holds[i]))
		}
	}
	return append(out, decided{Decision{}, before})
}

// compare looks for states in which the older program decides like this and the
// newer one differently. It reports whether it is worth while to go on.
func (d *differ) compare(m *model, old *decided, after []decided) bool {
	s := m.Solver()
	s.Add(m.fits()...)
	s.Add(old.when...)
	if m.ask(s).Status == analysis.Unsat {
		return true
	}
	for i := range after {
		if d.alike(old.Decision, after[i].Decision) {
			continue
		}
		pair := Difference{Old: old.Decision, New: after[i].Decision}
		if indexOf(d.out.Differences, pair) >= 0 {
			continue
		}
		unknown := indexOf(d.out.Unknown, pair)
		switch r := m.ask(s, after[i].when...); r.Status {
		case analysis.Unsat:
		case analysis.Sat:
			if unknown >= 0 {
				d.out.Unknown = slices.Delete(d.out.Unknown, unknown, unknown+1)
			}
			w := m.witness(&r)
			pair.Witness = &w
			d.out.Differences = append(d.out.Differences, pair)
			if len(d.out.Differences) == maxDifferences {
				return false
			}
		default:
			if unknown < 0 && !contradict(old.when, after[i].when) {
				pair.Why = "comparing them takes too many steps"
				if r.Status == analysis.Maybe {
					pair.Why = m.unknowns(old.when, after[i].when)
				}
				d.out.Unknown = append(d.out.Unknown, pair)
			}
		}
	}
	return true
}

// unknowns names the operands that two decisions depend on and that the model knows
// nothing of: those of the deciding rules, else of the rules before them.
func (m *model) unknowns(ways ...[]*analysis.Formula) string {
	const most = 3
	var names []string
	look := func(fs []*analysis.Formula) {
		for _, f := range fs {
			for _, v := range f.Vars() {
				for _, q := range m.things {
					if q.Var == v && q.kind == opaqueTest && q.name != "" && !slices.Contains(names, inCode(q.name)) {
						names = append(names, inCode(q.name))
					}
				}
			}
		}
	}
	for _, w := range ways {
		look(w[max(0, len(w)-1):])
	}
	for _, w := range ways {
		if len(names) == 0 {
			look(w)
		}
	}
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	return "that depends on " + strings.Join(names, " and ") + ", which diff does not evaluate"
}

// contradict reports whether one list says of a condition that it holds and the other
// that it does not. A solver that gives up does not see that both programs ask the same.
func contradict(a, b []*analysis.Formula) bool {
	return slices.ContainsFunc(a, func(f *analysis.Formula) bool {
		not := analysis.Not(f)
		return slices.ContainsFunc(b, func(g *analysis.Formula) bool { return reflect.DeepEqual(not, g) })
	})
}

// indexOf finds the difference between the same rules.
func indexOf(ds []Difference, d Difference) int {
	return slices.IndexFunc(ds, func(x Difference) bool { return x.Old.Rule == d.Old.Rule && x.New.Rule == d.New.Rule })
}

func (d *differ) alike(a, b Decision) bool {
	return a.Action == b.Action && (!d.texts || a.Action == Stop || a.Text == b.Text)
}

// notes says what differs beside what is compared: the other keys of the policies, as they
// are written, and what rules of one name do.
func (d *differ) notes(a, b *Program) {
	note := func(what, before, after string) {
		if before != after {
			d.out.Notes = append(d.out.Notes, fmt.Sprintf("%s: %s before, %s now", what, cmp.Or(before, "none"), cmp.Or(after, "none")))
		}
	}
	before, after := a.otherKeys(), b.otherKeys()
	keys := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		note(key, before[key], after[key])
	}
	for _, r := range a.rules {
		if i := slices.IndexFunc(b.rules, func(o *Rule) bool { return o.Name == r.Name }); i >= 0 {
			note("success of "+r.Name, strconv.FormatBool(r.Success), strconv.FormatBool(b.rules[i].Success))
			note("effects of "+r.Name, effectsText(r), effectsText(b.rules[i]))
		}
	}
}

// otherKeys are the keys of a policy that decide nothing by themselves, each as JSON.
func (p *Program) otherKeys() map[string]string {
	out := map[string]string{}
	root, _ := source.Parse(p.files[0].Src)
	for _, f := range root.Fields {
		switch key := f.Key.Value; key {
		case "ralph", "description", "params", "facts", "let", "when", "rules":
		default:
			b, err := json.Marshal(f.Value.Decode())
			if err != nil {
				b = []byte(f.Value.Value)
			}
			out[key] = string(b)
		}
	}
	return out
}

// effectsText lists the effects of a rule.
func effectsText(r *Rule) string {
	var all []string
	for _, e := range r.then {
		text := e.src
		switch e.kind {
		case RunEffect:
			text = fmt.Sprintf("run: %q", e.fact.fact.Args)
			if limit := e.fact.fact.Timeout; limit > 0 {
				text += " for " + limit.String()
			}
		case PruneEffect:
			text += ", older " + e.older.String()
		case VerbEffect:
			continue // its arguments are the embedding program's
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}
