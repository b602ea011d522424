package rules

import (
	"strings"

	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// Outline is a part of a policy as it is written, for pictures and other tools.
type Outline struct {
	Kind  string // when, on, state or owner of the head; rule; fact
	Name  string // of the rule or fact; of state: its fact
	When  string // the condition, several joined by "and"; of owner: the expression. "" is always true
	Until string // of a rule with wait: what ends the wait
	// Operands lists the operands in the condition of a rule, or of when, as written, with their not, each once, in the
	// order of the text. [OperandStep].Text of a trace has the same strings.
	Operands []string
	// Text has the parts of the text of a rule's verb, each with its condition, "" for always.
	Text    []struct{ When, Text string }
	Effects []string // of a rule, such as "archive: state"
	Reads   []string // the facts that decide it, also through lets; of a fact: those in its arguments
	Shows   []string // of a rule: the facts that only its texts and effects read
}

// Outline returns the parts of the policy: its head in the order in which it is evaluated, then its rules and its facts as
// [Program.Rules] and [Program.Facts] list them.
func (p *Program) Outline() []Outline {
	var parts []Outline
	p = p.loaded()
	head := func(kind string, c *cond) {
		if c != nil {
			parts = append(parts, Outline{Kind: kind, When: c.written(), Operands: c.texts(), Reads: factsIn(nil, c)})
		}
	}
	head("when", p.head.when)
	if l := p.head.loop; l != nil {
		head("on", l.on)
		state := l.info.State.Name
		parts = append(parts, Outline{Kind: "state", Name: state, Reads: []string{state}})
		head("owner", l.owner)
	}
	for _, r := range p.rules {
		parts = append(parts, p.outlined(r))
	}
	for _, f := range p.facts {
		var placeholders []*cond
		for _, s := range f.segments() {
			placeholders = append(placeholders, s.placeholder)
		}
		parts = append(parts, Outline{Kind: "fact", Name: f.Name, Reads: factsIn(nil, placeholders...)})
	}
	return parts
}

// outlined returns the outline of a rule.
func (p *Program) outlined(r *Rule) Outline {
	when := r.when
	if r.Await != nil {
		when = r.own
	}
	o := Outline{Kind: "rule", Name: r.Name, When: when.written(), Until: r.until.written(), Operands: r.when.texts(), Reads: factsIn(nil, r.when)}
	if r.says.text != nil {
		passages(r.says.text.node, func(when []*yamltree.Node, n *yamltree.Node) {
			var all []string
			for _, w := range when {
				all = append(all, w.Value)
			}
			o.Text = append(o.Text, struct{ When, Text string }{conjunction(all), strings.TrimRight(n.Value, " \t\r\n")})
		})
	}
	var shown []*cond
	texts, paths := r.says.all(), []*path(nil)
	for _, e := range r.then {
		o.Effects = append(o.Effects, e.src)
		shown = append(shown, e.value)
		for _, step := range e.steps {
			shown = append(shown, step.index)
		}
		texts, paths = append(texts, e.args.texts()...), append(append(paths, e.glob), e.run...)
	}
	for _, t := range texts {
		if t == nil {
			continue
		}
		for _, part := range p.compiled(t) {
			shown = append(shown, part.when...)
			for _, s := range part.segs {
				shown = append(shown, s.placeholder)
			}
		}
	}
	for _, path := range paths {
		if path != nil {
			for _, s := range path.segs {
				shown = append(shown, s.placeholder)
			}
		}
	}
	o.Shows = factsIn(o.Reads, shown...)
	return o
}

// texts returns the texts with placeholders.
func (t *template) texts() []*text {
	if t == nil {
		return nil
	}
	all := []*text{t.text}
	for _, item := range t.items {
		all = append(all, item.texts()...)
	}
	return all
}

// factsIn returns the facts that conditions read, each once, in the order of the text, except some.
func factsIn(without []string, conds ...*cond) (names []string) {
	seen := map[string]bool{}
	for _, name := range without {
		seen[name] = true
	}
	syms := map[*symbol]bool{}
	for _, c := range conds {
		readBy(c, syms, func(s *symbol) {
			if (s.kind == factSymbol || s.kind == askSymbol) && !seen[s.fact.Name] {
				seen[s.fact.Name] = true
				names = append(names, s.fact.Name)
			}
		})
	}
	return names
}

// written returns a condition as the policy has it, on one line.
func (c *cond) written() string {
	var all []string
	var last *snippet
	c.walk(func(o *operand) {
		if o.src.snippet != last {
			last = o.src.snippet
			all = append(all, last.src)
		}
	})
	return conjunction(all)
}

// conjunction returns conditions, of which all must hold, on one line.
func conjunction(all []string) string {
	for i, text := range all {
		text = strings.Join(strings.Fields(text), " ")
		if len(all) > 1 && (strings.Contains(text, " or ") || strings.Contains(text, "||") || strings.Contains(text, "?")) {
			text = "(" + text + ")"
		}
		all[i] = text
	}
	return strings.Join(all, " and ")
}
