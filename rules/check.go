package rules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"go.yaml.in/yaml/v3"
)

// Check finds what is dubious in a policy that Parse accepted: rules and parts of conditions that never or always hold, rules that never
// decide, and names that nothing reads. All findings are warnings. Each "never" is certain: it is said only after all situations were
// tried, up to a number of them, so a large condition may go unchecked. Where an example helps, a finding has it as its Situation.
func Check(p *Policy) Findings {
	c := &inspector{p: p, out: &compiler{file: p.compiler.file, lines: p.compiler.lines}, claims: newModel(true, p), examples: newModel(false, p)}
	for i, r := range p.rules {
		x := r.condition()
		if c.dead(r, x); !c.never(x) {
			c.order(i, r)
			c.optional(i, r)
			c.texts(i, r)
		}
	}
	c.once()
	c.unused()
	found := c.out.findings.sorted()
	for i := range found {
		found[i].Warning = true
	}
	return found
}

// inspector looks for the findings of one policy.
type inspector struct {
	p                *Policy
	out              *compiler // that reports
	claims, examples *model
}

// condition returns the condition of a rule, nil if it always holds.
func (r *rule) condition() *cond {
	if r.when == nil {
		return nil
	}
	return r.when.root
}

// rule reports a finding at the begin of a rule.
func (c *inspector) rule(r *rule, check, message, help string) {
	line := c.out.lines[r.line-1]
	c.out.report(at(&yaml.Node{Line: r.line, Column: len(line) - len(strings.TrimLeft(line, " -")) + 1}), 1, check, message, help)
}

// part reports a finding at a part of a rule's condition.
func (c *inspector) part(r *rule, x *cond, check, message, help string) {
	c.out.report(r.when.at.plus(start(*x.operands()[0].slot)), 1, check, message, help)
}

// situate adds the situation of the examples to the last finding.
func (c *inspector) situate() {
	found := c.out.findings
	found[len(found)-1].Situation = c.examples.line(c.p)
}

// is returns a test that is yes where a condition holds, and no where it does not or is unknown.
func is(m *model, x *cond) func() truth {
	return func() truth {
		if x == nil {
			return yes
		}
		t, _ := m.evaluation(0).cond(x)
		if t == missing || t == failed {
			return no
		}
		return t
	}
}

// never reports whether a condition never holds.
func (c *inspector) never(x *cond) bool {
	found, whole := c.claims.find(searchSteps, is(c.claims, x))
	return !found && whole
}

func not(x *cond) *cond { return &cond{op: "not", l: x} }

// dead reports the smallest parts of a condition that never hold, or always do, and returns whether there are any.
func (c *inspector) dead(r *rule, x *cond) bool {
	switch {
	case x == nil || x.leaf != nil && len(x.leaf.reads) == 0: // true or false as such is meant
		return false
	case x.op == "not":
		return c.dead(r, x.l)
	case x.op != "":
		if l := c.dead(r, x.l); c.dead(r, x.r) || l {
			return true
		}
	}
	switch {
	case x.op != "or" && c.never(x):
		if x.leaf != nil {
			c.part(r, x, "never-true", fmt.Sprintf("%s is never true", x), c.known(x.leaf))
			return true
		}
		with := x.l
		for y := x.l; y.op == "and"; y = y.l {
			for _, part := range []*cond{y.l, y.r} {
				if part.op != "and" && c.never(&cond{op: "and", l: part, r: x.r}) {
					with = part
				}
			}
		}
		c.part(r, x.r, "contradiction", fmt.Sprintf("%s and %s are never true together", with, x.r), "remove one of them, or join them with or")
	case x.op != "and" && c.never(not(x)):
		help := "change it, or remove it"
		if x.leaf != nil {
			help = cmp.Or(c.known(x.leaf), help)
		}
		c.part(r, x, "always-true", fmt.Sprintf("%s is never false", x), help)
	default:
		return false
	}
	return true
}

// String returns a condition as it may be written.
func (x *cond) String() string {
	switch {
	case x.leaf != nil:
		return x.leaf.text
	case x.op == "not":
		return "not (" + x.l.String() + ")"
	case x.op == "and" && (x.l.op == "or" || x.r.op == "or"):
		return "(" + x.l.String() + ") and (" + x.r.String() + ")"
	}
	return x.l.String() + " " + x.op + " " + x.r.String()
}

// known says what values an operand can meet.
func (c *inspector) known(o *operand) string {
	var out []string
	u := c.claims.uses[o]
	for _, r := range append(u.reads, u.asks...) {
		switch t, f := r.path.typ, r.path.root.fact; {
		case t != nil && len(t.Enum) > 0:
			out = append(out, fmt.Sprintf("%s is one of %s", r.path, strings.Join(texts(t.Enum), ", ")))
		case t != nil && t.Minimum != nil:
			out = append(out, fmt.Sprintf("%s is at least %s", r.path, show(*t.Minimum)))
		case t == nil && len(r.path.steps) == 0 && f != nil && f.defaults:
			out = append(out, f.Name+" has a default, and is never missing")
		}
	}
	return strings.Join(out, "; ")
}

// reached returns a test that is yes where a rule holds and none before it decides. It notes those that decide instead.
func reached(m *model, i int, by map[int]bool) func() truth {
	holds := is(m, m.policies[0].rules[i].condition())
	return func() truth {
		if t := holds(); t != yes {
			return t
		}
		switch j, how := m.decide(0, i); {
		case how == "":
			return open
		case j == i:
			return yes
		default:
			by[j] = true
			return no
		}
	}
}

// order reports a rule that never decides, because earlier ones do wherever it holds.
func (c *inspector) order(i int, r *rule) {
	by := map[int]bool{}
	found, whole := c.claims.find(searchSteps, reached(c.claims, i, by))
	if found || !whole || r.verb == "note" {
		return
	}
	var names []string
	for j, other := range c.p.rules {
		if by[j] {
			names = append(names, other.name)
		}
	}
	c.rule(r, "never-decides", fmt.Sprintf("%s never decides: where it holds, %s decides before it", r.name, strings.Join(names, " or ")), "move it up, or remove it")
	if found, _ := c.examples.find(exampleSteps, is(c.examples, r.condition())); found {
		c.situate()
	}
}

// once says that a policy continues an agent once per prompt, since each rule that continues it needs stop_hook_active to be false.
func (c *inspector) once() {
	m := c.claims
	i := slices.IndexFunc(m.vars, func(v *variable) bool { return v.what == ofValue && v.name == "stop_hook_active" })
	first := slices.IndexFunc(c.p.rules, func(r *rule) bool { return r.verb == "continue" && !c.never(r.condition()) })
	if i < 0 || first < 0 {
		return
	}
	for j, r := range c.p.rules {
		again := reached(m, j, map[int]bool{})
		if r.verb != "continue" {
			continue
		}
		if found, whole := m.find(searchSteps/10, func() truth {
			if m.isOpen(m.vars[i]) {
				return open
			}
			if m.vars[i].value().value != true {
				return no
			}
			return again()
		}); found || !whole {
			return
		}
	}
	c.rule(c.p.rules[first], "once-per-prompt", "the policy continues the agent once per prompt: each rule that continues it needs stop_hook_active to be false",
		"leave it so if that is meant; without this condition the limits end the loop")
}

// optional reports a field that may be absent, in a comparison of a rule that stops: where it is absent, the rule is skipped, and a later
// one continues the agent.
func (c *inspector) optional(i int, r *rule) {
	if r.verb != "stop" && r.verb != "done" || r.when == nil {
		return
	}
	for _, o := range r.when.root.operands() {
		n, ok := (*o.slot).(*ast.BinaryNode)
		if !ok || !slices.Contains([]string{"<", "<=", ">", ">=", "!="}, n.Operator) {
			continue
		}
		for _, u := range c.examples.uses[o].reads {
			f := u.path.root.fact
			if u.value == nil || f == nil || f.Schema == nil || u.path.typ == nil || u.covered {
				continue
			}
			if j := c.skipped(i, u.value); j > i {
				c.part(r, &cond{leaf: o}, "optional-field", fmt.Sprintf("where %s is absent, %s is skipped, and %s continues the agent", u.path, r.name, c.p.rules[j].name),
					fmt.Sprintf("give the field a default in the schema, or write (%s ?? VALUE)", u.path))
				c.situate()
			}
		}
	}
}

// skipped looks for a situation in which nothing is missing or invalid but a field, because of which a rule is unknown, and returns the
// rule that continues the agent there.
func (c *inspector) skipped(i int, field *variable) (by int) {
	m := c.examples
	m.find(exampleSteps, func() truth {
		if m.isOpen(field) {
			return open
		}
		for _, v := range m.vars {
			if v.now != nil && (v.now.state == missing) != (v == field) || v.now != nil && v.now.state == failed {
				m.seen[v.index] = true
				return no
			}
		}
		t, _ := m.evaluation(0).holds(c.p.rules[i].when)
		j, how := m.decide(0, len(c.p.rules))
		switch {
		case t == open || how == "":
			return open
		case t == missing && how == "continue" && j > i:
			by = j
			return yes
		}
		return no
	})
	return by
}

// texts reports placeholders that fail in a situation in which their rule is reached. What this does not depend on has its default there.
func (c *inspector) texts(i int, r *rule) {
	m := c.examples
	test := reached(m, i, map[int]bool{})
	if r.verb == "note" {
		test = is(m, r.condition())
	}
	if found, _ := m.find(exampleSteps, test); !found {
		return
	}
	for _, t := range []*template{r.text, r.notice, r.log} {
		if t == nil {
			continue
		}
		for _, x := range t.exprs {
			clear(m.seen)
			m.filled = true
			failure, v := (*runError)(nil), m.evaluation(0).value(x)
			if v.state != failed || !errors.As(v.why, &failure) {
				continue
			}
			for _, v := range m.vars {
				if m.seen[v.index] && v.now == nil {
					v.now = &v.values[0]
				}
			}
			c.out.report(x.at, utf8.RuneCountInString(x.source), "failing-text", "this placeholder fails where the rule holds: "+failure.Error(), "ask in the condition of the rule for what it needs")
			c.situate()
		}
	}
}

// unused reports params, facts and lets that nothing reads or changes.
func (c *inspector) unused() {
	used := map[string]bool{}
	for _, s := range c.p.compiler.symbols {
		if len(s.read) > 0 && s.fact != nil {
			used[s.fact.Name] = true
		}
		used[s.name] = used[s.name] || len(s.read) > 0
	}
	effects := slices.Clone(c.p.start)
	for _, r := range c.p.rules {
		effects = append(effects, r.then...)
	}
	for _, x := range effects {
		if x.fact != nil {
			used[x.fact.Name] = true
		}
	}
	for _, s := range c.p.compiler.order {
		what, line := "", 0
		switch {
		case s.meaning == factName:
			what, line = "fact", s.fact.Line
		case s.let != nil:
			what, line = "let", s.let.at.node.Line
		}
		for _, q := range c.p.Params {
			if q.Name == s.name {
				what, line = "param", q.Line
			}
		}
		if what == "" || used[s.name] {
			continue
		}
		col := utf8.RuneCountInString(strings.Split(c.out.lines[line-1], s.name)[0]) + 1
		c.out.report(at(&yaml.Node{Line: line, Column: col}), len(s.name), "unused", fmt.Sprintf("nothing reads the %s %s", what, s.name), "remove it, or use it")
	}
}
