package rules

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// Comparison describes where two programs decide differently. The zero value means never.
type Comparison struct {
	Differences []Difference `json:"differences"` // at most 10, one for each pair of rules
	Unknown     []Difference `json:"unknown"`     // pairs that may differ, depending on what is unknown
	Uncompared  []string     `json:"uncompared"`  // what could not be compared
	Notes       []string     `json:"notes"`       // differences other than decisions

	// Same reports that the programs are known to decide the same in every state that fits their schemas.
	Same bool `json:"-"`
}

// Difference is a state in which two programs decide differently.
type Difference struct {
	Old       Side       `json:"old"`
	New       Side       `json:"new"`
	Situation *Situation `json:"situation,omitempty"` // a state that shows the difference; nil if unknown
	Why       string     `json:"why,omitempty"`       // why it is unknown
}

// Side is what one of two compared programs decides.
type Side struct {
	Action Action `json:"action"`
	Rule   string `json:"rule,omitempty"` // "" if no rule decides
	Pos    Pos    `json:"pos"`
	Text   string `json:"text,omitempty"` // of the rule, with placeholders
	Failed bool   `json:"failed,omitempty"`
}

// maxDifferences bounds the differences that are shown.
const maxDifferences = 10

// Diff returns the states in which two programs decide differently: one stops, continues or asks and the other does not. With
// texts, a continue or an ask with another text is a difference, too. Params have the values with which the programs were loaded.
// Conditions are understood as in [Check]; a difference that depends on anything else is in Unknown.
func Diff(older, newer *Program, texts bool) *Comparison {
	if older, newer = older.loaded(), newer.loaded(); older.machine.table == nil || newer.machine.table == nil {
		return &Comparison{Uncompared: []string{noPolicy}}
	}
	older.machine.mu.Lock()
	defer older.machine.mu.Unlock()
	if newer != older {
		newer.machine.mu.Lock()
		defer newer.machine.mu.Unlock()
	}
	m := newModel()
	d := &differ{texts: texts, out: &Comparison{Differences: []Difference{}, Unknown: []Difference{}, Uncompared: []string{}, Notes: []string{}}}
	a, b := newTranslator(m, older, true), newTranslator(m, newer, true)
	a.other, b.other = b, a
	a.side, b.side = "old", "new"
	d.notes(older, newer)
	before, after := decisions(a, older), decisions(b, newer)
	d.out.Notes = append(d.out.Notes, m.notes...)
	d.out.Uncompared = append(d.out.Uncompared, m.uncompared...)
	for i := range before {
		if !d.compare(m, &before[i], after) {
			break
		}
	}
	d.out.Same = len(d.out.Differences) == 0 && len(d.out.Unknown) == 0 && len(d.out.Uncompared) == 0
	return d.out
}

type differ struct {
	texts bool
	out   *Comparison
}

// decided is a way in which a program decides, and when it does.
type decided struct {
	Side
	when []*analysis.Formula
}

// decisions returns the ways in which a program decides.
func decisions(t *translator, p *Program) []decided {
	var out []decided
	var before []*analysis.Formula // when a rule is tried because none before it has decided
	if p.head.when != nil {
		isFor := t.when(p.head.when).Yes
		out = append(out, decided{Side{}, []*analysis.Formula{analysis.Not(isFor)}})
		before = append(before, isFor)
	}
	for _, r := range p.rules {
		if !r.decides() {
			continue
		}
		d := Side{Rule: r.Name, Pos: r.Pos}
		d.Action = r.action() // with gate: all, the rules after a continue do not matter
		if r.says.text != nil {
			d.Text = r.says.text.written()
		}
		holds, fails := t.tried(r)
		out = append(out, decided{d, append(slices.Clone(before), holds)})
		before = append(before, analysis.Not(holds))
		if r.stops() {
			d.Action, d.Failed = Stop, true
			out = append(out, decided{d, append(slices.Clone(before), fails)})
			before = append(before, analysis.Not(fails))
		}
	}
	return append(out, decided{Side{}, before})
}

// compare looks for states in which the older program decides like old and the newer one differently. It returns false
// if comparing further is pointless.
func (d *differ) compare(m *model, old *decided, after []decided) bool {
	state := slices.Concat(old.when, m.fits())
	if m.Answer(state...) == analysis.Unsat {
		return true
	}
	for i := range after {
		if d.alike(old.Side, after[i].Side) {
			continue
		}
		pair := Difference{Old: old.Side, New: after[i].Side}
		if indexOf(d.out.Differences, pair) >= 0 {
			continue
		}
		unknown := indexOf(d.out.Unknown, pair)
		switch status, r := m.Ask(slices.Concat(after[i].when, state)...); status {
		case analysis.Unsat:
		case analysis.Sat:
			if unknown >= 0 {
				d.out.Unknown = slices.Delete(d.out.Unknown, unknown, unknown+1)
			}
			pair.Situation = m.situation(r)
			d.out.Differences = append(d.out.Differences, pair)
			if len(d.out.Differences) == maxDifferences {
				return false
			}
		default:
			if unknown < 0 && !contradict(old.when, after[i].when) {
				pair.Why = "comparing them takes too many steps"
				if status == analysis.Maybe {
					pair.Why = m.unknowns(old.when, after[i].when)
				}
				d.out.Unknown = append(d.out.Unknown, pair)
			}
		}
	}
	return true
}

// unknowns returns the names of operands that two decisions depend on and that the model cannot express: those of the
// deciding rules, otherwise of the rules before them.
func (m *model) unknowns(ways ...[]*analysis.Formula) string {
	const most = 3
	var names []string
	var last []*analysis.Formula
	for _, w := range ways {
		last = append(last, w[max(0, len(w)-1):]...)
	}
	for _, fs := range [...][]*analysis.Formula{last, slices.Concat(ways...)} {
		vars := analysis.And(fs...).Vars()
		for _, q := range m.things {
			if q.kind == opaqueTest && q.name != "" && slices.Contains(vars, q.Var) {
				once(&names, inCode(q.name))
			}
		}
		if len(names) > 0 {
			break
		}
	}
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	return "that depends on " + strings.Join(names, " and ") + ", which diff does not evaluate"
}

// contradict reports whether a has a condition that b negates, or the reverse. A solver that gives up does not see that
// both programs have the same condition.
func contradict(a, b []*analysis.Formula) bool {
	return slices.ContainsFunc(a, func(f *analysis.Formula) bool {
		not := analysis.Not(f)
		return slices.ContainsFunc(b, func(g *analysis.Formula) bool { return reflect.DeepEqual(not, g) })
	})
}

// indexOf returns the index of the difference between the same rules, or -1.
func indexOf(ds []Difference, d Difference) int {
	return slices.IndexFunc(ds, func(x Difference) bool { return x.Old.Rule == d.Old.Rule && x.New.Rule == d.New.Rule })
}

func (d *differ) alike(a, b Side) bool {
	return a.Action == b.Action && (!d.texts || a.Action == Stop || a.Text == b.Text)
}

// notes describes other differences: the policies' other keys, and those of rules with the same name, as they are
// written.
func (d *differ) notes(a, b *Program) {
	note := func(of string, before, after map[string]string) {
		keys := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			if before[key] != after[key] {
				d.out.Notes = append(d.out.Notes, fmt.Sprintf("%s%s: %s before, %s now", key, of, cmp.Or(before[key], "none"), cmp.Or(after[key], "none")))
			}
		}
	}
	before, after := a.keys(), b.keys()
	note("", before[Pos{}], after[Pos{}])
	for _, r := range a.rules {
		if i := slices.IndexFunc(b.rules, func(o *Rule) bool { return o.Name == r.Name }); i >= 0 {
			note(" of "+r.Name, before[r.Pos], after[b.rules[i].Pos])
		}
	}
}

// keys returns the keys of a policy, and of each rule by its position, that do not decide anything themselves, each as
// JSON.
func (p *Program) keys() map[Pos]map[string]string {
	out := map[Pos]map[string]string{}
	read := func(at Pos, n *yamltree.Node, decide ...string) {
		out[at] = map[string]string{}
		for _, f := range n.Fields {
			if slices.Contains(decide, f.Key.Value) {
				continue
			}
			b, err := json.Marshal(f.Value.Decode())
			if err != nil {
				b = []byte(f.Value.Value)
			}
			out[at][f.Key.Value] = string(b)
		}
	}
	for i, f := range p.origin.files {
		root, _ := yamltree.Parse(f.Src)
		if i == 0 {
			read(Pos{}, root, "ralph", "description", "params", "facts", "let", "when", "rules")
		}
		list := root.Get("rules")
		if list == nil {
			continue
		}
		for _, n := range list.Items {
			read(Pos{File: f.Name, Line: n.Start.Line, Col: n.Start.Col}, n, "name", "when", "unless_repeated", verbContinue, verbStop, verbAsk)
		}
	}
	return out
}
