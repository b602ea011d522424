package rules

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/rules/internal/solve"
	"github.com/ralph-sdk/ralph/schema"
)

// Comparison tells where two programs decide differently. The zero Comparison says
// that they never do.
type Comparison struct {
	Differences []Difference `json:"differences"` // at most 10, one for each pair of rules
	Unknown     []Difference `json:"unknown"`     // pairs that may differ: that hangs on what is not known
	Doubts      []string     `json:"doubts"`      // what could not be compared
	Notes       []string     `json:"notes"`       // what differs beside the decisions
}

// Same reports whether the programs are known to decide alike in every state that
// fits their schemas.
func (c *Comparison) Same() bool {
	return len(c.Differences) == 0 && len(c.Unknown) == 0 && len(c.Doubts) == 0
}

// Difference is what one program decides and what the other does.
type Difference struct {
	Old     Decision `json:"old"`
	New     Decision `json:"new"`
	Witness *Witness `json:"witness,omitempty"` // a state in which it comes about; nil if that is not known
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
		return fmt.Sprintf("%s stops, for it cannot be worked out", d.Rule)
	}
	return d.Rule + " " + verb
}

// maxDifferences is how many differences are shown: more teach nothing.
const maxDifferences = 10

// Diff looks for states in which two programs decide differently: one lets the
// agent stop and the other does not. With texts a continue that tells another text
// counts as different, too. Params have the values that the programs were loaded
// with. See [Program.Analyze] for what is known of conditions; a difference that
// hangs on anything else is in Unknown.
func Diff(older, newer *Program, texts bool) *Comparison {
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
	d.left = stepsPerPolicy
	for i := range before {
		if !d.compare(m, &before[i], after) {
			break
		}
	}
	return d.out
}

type differ struct {
	texts bool
	left  int // steps
	out   *Comparison
}

// decided is one way in which a program decides, and when it does.
type decided struct {
	Decision
	when []*solve.Formula
}

// decisions lists the ways in which a program decides.
func decisions(t *translator, p *Program) []decided {
	n := len(p.Rules)
	holds, fails := make([]*solve.Formula, n), make([]*solve.Formula, n)
	for i, r := range p.Rules {
		w, there := t.when(r.when), solve.Not(t.aside(r))
		holds[i], fails[i] = solve.And(w.yes, there), solve.False()
		if r.Verb == VerbStop {
			fails[i] = solve.And(w.broken, there)
		}
	}
	var out []decided
	var before []*solve.Formula // no rule so far has decided
	for i, r := range p.Rules {
		d := Decision{Rule: r.Name, Pos: r.Pos}
		if r.text != nil {
			d.Text = r.text.node.Value
		}
		when := func(fs ...*solve.Formula) []*solve.Formula { return append(slices.Clone(before), fs...) }
		switch r.Verb {
		case VerbStop:
			out = append(out, decided{d, when(holds[i])})
			d.Failed = true
			out = append(out, decided{d, when(fails[i])})
			before = append(before, solve.Not(holds[i]), solve.Not(fails[i]))
		case VerbContinue:
			d.Action = Continue
			out = append(out, decided{d, when(holds[i])}) // whatever is read on to with gate: all
			before = append(before, solve.Not(holds[i]))
		}
	}
	return append(out, decided{Decision{}, before})
}

// compare looks for states in which the older program decides like this and the
// newer one differently. It reports whether it is worth while to go on.
func (d *differ) compare(m *model, old *decided, after []decided) bool {
	s := m.solver()
	s.Add(old.when...)
	if d.ask(s).Status == solve.Unsat {
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
		switch r := d.ask(s, after[i].when...); r.Status {
		case solve.Unsat:
		case solve.Sat:
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
			if unknown < 0 {
				d.out.Unknown = append(d.out.Unknown, pair)
			}
		}
	}
	return true
}

func (d *differ) ask(s *solve.Solver, fs ...*solve.Formula) solve.Result {
	if d.left <= 0 {
		return solve.Result{}
	}
	r := s.Solve(min(stepsPerQuestion, d.left), fs...)
	d.left -= r.Steps
	return r
}

// indexOf finds the difference between the same rules.
func indexOf(ds []Difference, d Difference) int {
	return slices.IndexFunc(ds, func(x Difference) bool { return x.Old.Rule == d.Old.Rule && x.New.Rule == d.New.Rule })
}

func (d *differ) alike(a, b Decision) bool {
	return a.Action == b.Action && (!d.texts || a.Action == Stop || a.Text == b.Text)
}

// notes tells what differs beside the rules.
func (d *differ) notes(a, b *Program) {
	note := func(what string, x, y any) {
		if !reflect.DeepEqual(x, y) {
			d.out.Notes = append(d.out.Notes, fmt.Sprintf("%s differ: %v before, %v now", what, x, y))
		}
	}
	note("the events", a.Events, b.Events)
	limits := func(l Limits) string {
		s := fmt.Sprintf("continuations %d, elapsed %s, total %d", l.Continuations, l.Elapsed, l.Total)
		if l.HasRepeats {
			s += fmt.Sprintf(", repeats %d", l.Repeats)
		}
		return s
	}
	note("the limits", limits(a.Limits), limits(b.Limits))
}

// What follows makes one model of two programs: what is the same in both is one
// quantity, and what only has the same name is two.

// labelOf names a fact in the model.
func (t *translator) labelOf(f *Fact) string {
	if t.other == nil {
		return f.Name
	}
	for _, g := range t.other.c.program.facts {
		if g.Name == f.Name && t.meaningOf(f) == t.other.meaningOf(g) {
			return f.Name
		}
	}
	label := f.Name + " (" + t.side + ")"
	for _, g := range t.other.c.program.facts {
		if g.Name == f.Name {
			t.note(fmt.Sprintf("the fact %q comes from elsewhere: the two are told apart as %q and %q", f.Name, f.Name+" (old)", f.Name+" (new)"))
		}
	}
	return label
}

func (m *model) note(s string) {
	if !slices.Contains(m.notes, s) {
		m.notes = append(m.notes, s)
	}
}

// meaningOf describes where a fact comes from, so that equal descriptions are
// equal facts.
func (t *translator) meaningOf(f *Fact) string {
	if s, ok := t.meanings[f]; ok {
		return s
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v %v", f.Source.Name, f.HasDefault, f.Default)
	for _, k := range slices.Sorted(maps.Keys(f.Options)) {
		fmt.Fprintf(&b, " %s=%v", k, f.Options[k])
	}
	segments := func(segs []segment) {
		b.WriteByte('\x00')
		for _, s := range segs {
			b.WriteString(s.literal)
			if s.hole != nil {
				b.WriteString("${" + t.meaning(s.hole) + "}")
			}
		}
	}
	for _, a := range f.args {
		segments(a.segs)
	}
	if f.question != nil {
		b.WriteString("\x00" + f.question.node.Value)
	}
	for _, o := range f.texts {
		b.WriteString("\x00" + o.name)
		if o.arg != nil {
			segments(o.arg.segs)
		} else {
			b.WriteString(o.text.node.Value)
		}
	}
	t.meanings[f] = b.String()
	return b.String()
}

// meaning describes an expression with all that it names.
func (t *translator) meaning(c *cond) string {
	if c == nil {
		return ""
	}
	if c.op == leaf {
		return t.meaningOfNode(t.tree(c.operand))
	}
	parts := make([]string, len(c.kids))
	for i, k := range c.kids {
		parts[i] = t.meaning(k)
	}
	return fmt.Sprintf("%d(%s)", c.op, strings.Join(parts, ","))
}

// meaningOfNode is a resolved expression, and behind it what its names stand for.
func (t *translator) meaningOfNode(n ast.Node) string {
	var names []string
	var visit func(ast.Node)
	visit = func(n ast.Node) {
		if id, ok := n.(*ast.IdentifierNode); ok {
			if s := t.c.table.find(id.Value); s != nil {
				meaning := ""
				switch s.kind {
				case factSymbol, askSymbol:
					meaning = t.meaningOf(s.fact)
				case letSymbol:
					meaning = t.meaning(s.let.root)
				case constSymbol:
					meaning = fmt.Sprintf("%#v", s.value)
				}
				if meaning != "" {
					names = append(names, s.key+"="+meaning)
				}
			}
		}
		children(n, func(c *ast.Node) { visit(*c) })
	}
	visit(n)
	slices.Sort(names)
	return n.String() + "\x00" + strings.Join(slices.Compact(names), "\x00")
}

// shared gives the type of a field as both programs may find it: a value that one
// schema does not allow is still a value.
func (t *translator) shared(f *Fact, path []string, typ *schema.Type) (*schema.Type, bool) {
	if t.other == nil {
		return typ, true
	}
	label := t.labelOf(f)
	for _, g := range t.other.c.program.facts {
		if t.other.labelOf(g) != label || g.sym.typ == nil {
			continue
		}
		there := g.sym.typ.At(path...)
		if there == nil || there == typ {
			continue // only one of them reads it
		}
		if there.Kind != typ.Kind {
			return nil, false
		}
		union := *typ
		union.Optional, union.Nullable = typ.Optional || there.Optional, typ.Nullable || there.Nullable
		if len(there.Enum) == 0 {
			union.Enum = nil
		} else if len(union.Enum) > 0 {
			union.Enum = slices.Clone(union.Enum)
			for _, v := range there.Enum {
				if !slices.ContainsFunc(union.Enum, func(x any) bool { return reflect.DeepEqual(x, v) }) {
					union.Enum = append(union.Enum, v)
				}
			}
		}
		union.Min, union.Max = wider(typ.Min, there.Min, -1), wider(typ.Max, there.Max, 1)
		if typ.HasDefault != there.HasDefault || !reflect.DeepEqual(typ.Default, there.Default) {
			name := label + "." + strings.Join(path, ".")
			if doubt := fmt.Sprintf("the default of %s differs: a state without it may be decided differently", name); !slices.Contains(t.doubts, doubt) {
				t.doubts = append(t.doubts, doubt)
			}
			union.HasDefault = typ.HasDefault && there.HasDefault
		}
		return &union, true
	}
	return typ, true
}

// wider gives the lower (sign -1) or higher bound; no bound is the widest.
func wider(a, b *float64, sign float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	if *b*sign > *a*sign {
		return b
	}
	return a
}
