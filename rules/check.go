package rules

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
)

// Check finds what is dubious in a policy that Parse accepted: rules and parts of conditions that never or always hold, rules that never
// decide, and names that nothing reads. All findings are warnings. Each "never" is certain: it is said only after all situations were
// tried, up to a number of them, so a large condition may go unchecked. Where an example helps, a finding has it as its Situation.
func Check(p *Policy) Findings {
	c := &inspector{p: p, out: &compiler{file: p.compiler.file, lines: p.compiler.lines}, m: newModel(p)}
	c.slips()
	for i, r := range p.rules {
		x := r.condition()
		if c.dead(r, x); !c.never(x) {
			c.order(i, r)
			c.optional(r)
			c.texts(i, r)
		}
	}
	c.once()
	c.unused()
	return c.out.findings.sorted()
}

// inspector looks for the findings of one policy.
type inspector struct {
	p   *Policy
	out *compiler // that reports
	m   *model
}

func (c *inspector) warn(at spot, width int, check, message, help, situation string) {
	before := len(c.out.findings)
	c.out.report(at, width, check, message, help)
	for i := range c.out.findings[before:] { // none, where there are too many
		c.out.findings[before+i].Warning, c.out.findings[before+i].Situation = true, situation
	}
}

// condition returns the condition of a rule, nil if it always holds.
func (r *rule) condition() *cond {
	if r.when == nil {
		return nil
	}
	return r.when.root
}

func (r *rule) texts() []*template {
	return slices.DeleteFunc([]*template{r.text, r.notice, r.log}, func(t *template) bool { return t == nil })
}

// part returns where a part of a rule's condition begins.
func (r *rule) part(x *cond) spot {
	for x.leaf == nil {
		x = x.l
	}
	return r.when.at.plus(start(*x.leaf.slot))
}

// never reports whether a condition never holds.
func (c *inspector) never(x *cond) bool { return c.m.none(c.m.is(x)) }

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
		c.warn(r.part(x), 1, "never-true", x.String()+" is never true", "change it, or remove it", "")
	case x.op == "and" && c.never(x):
		c.warn(r.part(x.r), 1, "contradiction", fmt.Sprintf("%s and %s are never true together", x.l, x.r), "remove one of them, or join them with or", "")
	case x.op != "and" && c.never(&cond{op: "not", l: x}):
		c.warn(r.part(x), 1, "always-true", x.String()+" is never false", "change it, or remove it", "")
	default:
		return false
	}
	return true
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

// reached returns a test that is yes where a rule holds and none before it decides. It notes those that decide instead.
func (m *model) reached(i int, by map[string]bool) func() truth {
	rules := m.policies[0].rules
	holds := m.is(rules[i].condition())
	return func() truth {
		if t := holds(); t != yes || rules[i].Verb == "note" {
			return t
		}
		switch how := m.decision(0, i); how {
		case "":
			return open
		case noRule:
			return yes
		default:
			_, name, _ := strings.Cut(how, " by ")
			by[name] = true
			return no
		}
	}
}

// order reports a rule that never decides, because earlier ones do wherever it holds.
func (c *inspector) order(i int, r *rule) {
	by := map[string]bool{}
	if !c.m.none(c.m.reached(i, by)) {
		return
	}
	situation := c.m.show(c.m.is(r.condition()), func(in Input) bool { return c.p.evaluation(context.Background(), in).is(r) })
	c.warn(r.at, 1, "never-decides", fmt.Sprintf("%s never decides: where it holds, %s decides before it", r.Name, strings.Join(sortedKeys(by), " or ")), "move it up, or remove it", situation)
}

// is reports whether a rule holds.
func (e *evaluation) is(r *rule) bool { t, _ := e.holds(r.when); return t == yes }

// once says that a policy continues an agent once per prompt, since each rule that continues it needs stop_hook_active to be false.
func (c *inspector) once() {
	again := c.m.byKey["stop_hook_active[]"]
	first := slices.IndexFunc(c.p.rules, func(r *rule) bool { return r.Verb == "continue" && !c.never(r.condition()) })
	if again == nil || first < 0 {
		return
	}
	all := again.values
	defer func() { again.values = all }()
	again.values = []result{known(true)}
	for i, r := range c.p.rules {
		if r.Verb == "continue" && !c.m.none(c.m.reached(i, map[string]bool{})) {
			return
		}
	}
	c.warn(c.p.rules[first].at, 1, "once-per-prompt",
		"the policy continues the agent once per prompt: each rule that continues it needs stop_hook_active to be false",
		"leave it so if that is meant; without this condition the limits end the loop", "")
}

// optional reports a field that may be absent, in a comparison of a rule that stops: where it is absent, the rule is skipped, and a later
// one continues the agent.
func (c *inspector) optional(r *rule) {
	if r.Verb != "stop" && r.Verb != "done" || r.when == nil {
		return
	}
	for _, o := range r.when.leaves {
		if n, ok := (*o.slot).(*ast.BinaryNode); !ok || !slices.Contains([]string{"<", "<=", ">", ">=", "!="}, n.Operator) {
			continue
		}
		for _, u := range c.m.uses[o].reads {
			if u.status == nil || u.value == nil || u.path.root.fact.Schema == nil || u.covered {
				continue
			}
			how := ""
			skipped := func() truth {
				if status, value := c.m.now(u.status).state, c.m.now(u.value).state; max(status, value) == open {
					return open
				} else if status != yes || value != missing {
					return no
				}
				t, _ := c.m.evals[0].holds(r.when)
				switch how = c.m.decision(0, len(c.p.rules)); {
				case t == open || how == "":
					return open
				case t == missing && strings.HasPrefix(how, "continue"):
					return yes
				}
				return no
			}
			if situation := c.m.show(skipped, func(in Input) bool { return outcome(c.p, in) == how }); situation != "" {
				c.warn(r.part(&cond{leaf: o}), 1, "optional-field", fmt.Sprintf("where %s is absent, %s is skipped, and %s continues the agent", u.path, r.Name, strings.TrimPrefix(how, "continue by ")),
					fmt.Sprintf("add a default for the field to the schema, or write (%s ?? VALUE)", u.path), situation)
			}
		}
	}
}

// texts reports placeholders that fail in a situation in which their rule is reached. What this does not depend on has its first value.
func (c *inspector) texts(i int, r *rule) {
	if c.m.show(c.m.reached(i, map[string]bool{}), func(in Input) bool { return true }) == "" {
		return
	}
	for _, t := range r.texts() {
		for _, x := range t.exprs {
			c.m.fill(x)
			failure := (*runError)(nil)
			situation := c.m.confirmed(func(in Input) bool {
				e := c.p.evaluation(context.Background(), in)
				return e.is(r) && errors.As(e.value(x).why, &failure)
			})
			if situation != "" {
				c.warn(x.at, utf8.RuneCountInString(x.source), "failing-text", "this placeholder fails where the rule holds: "+failure.Error(), "ask in the condition of the rule for what it needs", situation)
			}
		}
	}
}

// unused reports params, facts and lets that nothing reads or changes.
func (c *inspector) unused() {
	for _, s := range c.p.compiler.order {
		if s.at.node != nil && len(s.read) == 0 {
			c.warn(s.at, 0, "unused", fmt.Sprintf("nothing reads the %s %s", map[meaning]string{constant: "param", factName: "fact", letName: "let"}[s.meaning], s.name), "remove it, or use it", "")
		}
	}
}
