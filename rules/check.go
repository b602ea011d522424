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
	return c.out.findings.sorted()
}

// inspector looks for the findings of one policy.
type inspector struct {
	p                *Policy
	out              *compiler // that reports
	claims, examples *model
}

func (c *inspector) warn(at spot, width int, check, message, help string) {
	c.out.report(at, width, check, message, help)
	c.out.findings[len(c.out.findings)-1].Warning = true
}

// situate adds the situation of the examples to the last finding.
func (c *inspector) situate() {
	found := c.out.findings
	found[len(found)-1].Situation = c.examples.line(c.p)
}

// condition returns the condition of a rule, nil if it always holds.
func (r *rule) condition() *cond {
	if r.when == nil {
		return nil
	}
	return r.when.root
}

// word returns where a word begins in a line; "" is the begin of a rule.
func (c *inspector) word(line int, word string) spot {
	text := c.out.lines[line-1]
	before := len(text) - len(strings.TrimLeft(text, " -"))
	if word != "" {
		before = max(0, strings.Index(text, word))
	}
	return at(&yaml.Node{Line: line, Column: utf8.RuneCountInString(text[:before]) + 1})
}

// part returns where a part of a rule's condition begins.
func (c *inspector) part(r *rule, x *cond) spot {
	return r.when.at.plus(start(*x.operands()[0].slot))
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
	case x.leaf != nil && c.never(x):
		c.warn(c.part(r, x), 1, "never-true", fmt.Sprintf("%s is never true", x), c.known(x))
	case x.op == "and" && c.never(x):
		with := x.l
		for _, part := range x.l.joined() {
			if c.never(&cond{op: "and", l: part, r: x.r}) {
				with = part
			}
		}
		c.warn(c.part(r, x.r), 1, "contradiction", fmt.Sprintf("%s and %s are never true together", with, x.r), "remove one of them, or join them with or")
	case x.op != "and" && c.never(&cond{op: "not", l: x}):
		c.warn(c.part(r, x), 1, "always-true", fmt.Sprintf("%s is never false", x), cmp.Or(c.known(x), "change it, or remove it"))
	default:
		return false
	}
	return true
}

// joined returns the parts that and joins.
func (x *cond) joined() []*cond {
	if x.op != "and" {
		return []*cond{x}
	}
	return append(x.l.joined(), x.r.joined()...)
}

// String returns a condition as it may be written.
func (x *cond) String() string {
	switch x.op {
	case "":
		return x.leaf.text
	case "not":
		return "not (" + x.l.String() + ")"
	}
	return x.l.String() + " " + x.op + " " + x.r.String()
}

// known says what the values are that an operand compares.
func (c *inspector) known(x *cond) string {
	if x.leaf == nil {
		return ""
	}
	var out []string
	for _, r := range c.claims.uses[x.leaf].reads {
		switch t := r.path.typ; {
		case t == nil:
		case len(t.Enum) > 0:
			out = append(out, fmt.Sprintf("%s is one of %s", r.path, strings.Join(texts(t.Enum), ", ")))
		case t.Minimum != nil:
			out = append(out, fmt.Sprintf("%s is at least %s", r.path, show(*t.Minimum)))
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
	c.warn(c.word(r.line, ""), 1, "never-decides", fmt.Sprintf("%s never decides: where it holds, %s decides before it", r.name, strings.Join(names, " or ")), "move it up, or remove it")
	if found, _ := c.examples.find(exampleSteps, is(c.examples, r.condition())); found {
		c.situate()
	}
}

// once says that a policy continues an agent once per prompt, since each rule that continues it needs stop_hook_active to be false.
func (c *inspector) once() {
	m, first := c.claims, (*rule)(nil)
	i := slices.IndexFunc(m.vars, func(v *variable) bool { return v.what == ofValue && v.name == "stop_hook_active" })
	for j, r := range c.p.rules {
		if i < 0 || r.verb != "continue" || c.never(r.condition()) {
			continue
		}
		first = cmp.Or(first, r)
		again := reached(m, j, map[int]bool{})
		found, whole := m.find(searchSteps/10, func() truth {
			switch {
			case m.isOpen(m.vars[i]):
				return open
			case m.vars[i].value().value != true:
				return no
			}
			return again()
		})
		if found || !whole {
			return
		}
	}
	if first != nil {
		c.warn(c.word(first.line, ""), 1, "once-per-prompt", "the policy continues the agent once per prompt: each rule that continues it needs stop_hook_active to be false",
			"leave it so if that is meant; without this condition the limits end the loop")
	}
}

// optional reports a field that may be absent, in a comparison of a rule that stops: where it is absent, the rule is skipped, and a later
// one continues the agent.
func (c *inspector) optional(i int, r *rule) {
	later := slices.ContainsFunc(c.p.rules[i:], func(r *rule) bool { return r.verb == "continue" })
	if r.verb != "stop" && r.verb != "done" || r.when == nil || !later {
		return
	}
	for _, o := range r.when.root.operands() {
		n, ok := (*o.slot).(*ast.BinaryNode)
		if !ok || !slices.Contains([]string{"<", "<=", ">", ">=", "!="}, n.Operator) {
			continue
		}
		for _, u := range c.examples.uses[o].reads {
			if u.status == nil || u.path.root.fact.Schema == nil || u.path.typ == nil || u.covered {
				continue
			}
			if by := c.skipped(i, u); by > i {
				c.warn(c.part(r, &cond{leaf: o}), 1, "optional-field", fmt.Sprintf("where %s is absent, %s is skipped, and %s continues the agent", u.path, r.name, c.p.rules[by].name),
					fmt.Sprintf("give the field a default in the schema, or write (%s ?? VALUE)", u.path))
				c.situate()
			}
		}
	}
}

// skipped looks for a situation in which a field is absent and because of that a rule unknown, and returns the rule that continues the
// agent there.
func (c *inspector) skipped(i int, field use) (by int) {
	m := c.examples
	m.find(exampleSteps, func() truth {
		if m.isOpen(field.status) || m.isOpen(field.value) {
			return open
		}
		if field.status.value().state != yes || field.value.value().state != missing {
			return no
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
	for _, t := range slices.DeleteFunc([]*template{r.text, r.notice, r.log}, func(t *template) bool { return t == nil }) {
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
			c.warn(x.at, utf8.RuneCountInString(x.source), "failing-text", "this placeholder fails where the rule holds: "+failure.Error(), "ask in the condition of the rule for what it needs")
			c.situate()
		}
	}
}

// unused reports params, facts and lets that nothing reads or changes.
func (c *inspector) unused() {
	type declared struct {
		what string
		line int
	}
	used, lines := map[string]bool{}, map[string]declared{}
	effects := slices.Clone(c.p.start)
	for _, r := range c.p.rules {
		effects = append(effects, r.then...)
	}
	for _, x := range effects {
		if x.fact != nil {
			used[x.fact.Name] = true
		}
	}
	for _, s := range c.p.compiler.symbols {
		if s.let != nil {
			lines[s.name] = declared{"let", s.let.at.node.Line}
		}
		if len(s.read) > 0 && s.fact != nil {
			used[s.fact.Name] = true
		}
		used[s.name] = used[s.name] || len(s.read) > 0
	}
	for _, f := range c.p.Facts {
		lines[f.Name] = declared{"fact", f.Line}
	}
	for _, p := range c.p.Params {
		lines[p.Name] = declared{"param", p.Line}
	}
	for _, name := range sortedKeys(lines) {
		if !used[name] {
			c.warn(c.word(lines[name].line, name), len(name), "unused", fmt.Sprintf("nothing reads the %s %s", lines[name].what, name), "remove it, or use it")
		}
	}
}
