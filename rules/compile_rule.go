package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// pendingRule is a rule with the scope of its expressions.
type pendingRule struct {
	decl  *ruleDecl
	scope *scope
	name  string
}

func (c *compiler) checkRuleNames(rules []pendingRule) {
	seen := make(map[string]*yamltree.Node, len(rules))
	for _, r := range rules {
		if old := seen[r.name]; old != nil { // rules with equal names are in one file
			c.errorf(r.scope, r.decl.name, "duplicate-name", "choose another name", "another rule is already named %q, at %s", r.name, r.scope.file.at(old.Start))
			continue
		}
		seen[r.name] = r.decl.name
	}
}

func (c *compiler) rule(r pendingRule) *Rule {
	d := r.decl
	rule := &Rule{Name: r.name, Pos: r.scope.file.at(d.node.Start), Verb: d.verb, Unless: d.unless, Success: d.success, Empty: d.empty != "", Halts: d.halt != "", include: r.scope.prefix}
	rule.when = c.conditions(r.scope, d.when)
	if d.verb == verbWait {
		rule.Await = &d.await
		rule.own, rule.until = rule.when, c.conditions(r.scope, d.until)
		rule.when = rule.own.unless(rule.until)
	}
	rule.says = says{c.newText(r.scope, d.text), c.newText(r.scope, d.notice), c.newText(r.scope, d.log)}
	for _, e := range d.then {
		if eff := c.effect(r.scope, e); eff != nil {
			rule.then = append(rule.then, eff)
			if eff.kind == RunEffect {
				f := eff.fact.fact
				rule.Runs = append(rule.Runs, f)
				f.Name = "run " + strconv.Itoa(len(rule.Runs)) + " of " + rule.Name
			}
		}
	}
	return rule
}

// conditions compiles a when: one expression, or several that must all hold.
func (c *compiler) conditions(sc *scope, nodes []*yamltree.Node) *cond {
	kids := make([]*cond, 0, len(nodes))
	for _, n := range nodes {
		root, _ := c.expression(snippetOf(sc, n), true)
		if len(nodes) == 1 {
			return root
		}
		switch {
		case root == nil: // reported
		case root.op == and:
			kids = append(kids, root.kids...)
		default:
			kids = append(kids, root)
		}
	}
	if len(kids) == 0 {
		return nil
	}
	return &cond{op: and, kids: kids}
}

func (c *compiler) finallyEntry(sc *scope, d finallyDecl) *finally {
	f := &finally{name: strings.TrimSpace("finally " + d.name), when: c.conditions(sc, d.when), log: c.newText(sc, d.log)}
	if d.effect.kind == PruneEffect {
		f.effect = c.effect(sc, d.effect)
	}
	return f
}

// finish determines what depends on all rules being compiled.
func (c *compiler) finish() {
	for _, f := range c.program.facts {
		f.foldArgs()
	}
	c.findSlow()
	l := c.program.head.loop
	for _, r := range c.program.rules {
		if r.Await != nil {
			r.Await.Woken = r.until.woken()
		}
		for _, e := range r.then {
			switch {
			case e.kind == OwnEffect:
				r.Effects = append(r.Effects, Use{e.name, e.pos})
			case e.fact != nil && e.kind != RunEffect && !slices.Contains(r.Changes, e.fact.fact):
				r.Changes = append(r.Changes, e.fact.fact)
			}
			if l != nil && e.kind == ArchiveEffect && e.fact.fact == l.info.State {
				l.info.Archived = true
			}
		}
	}
}

// readBy calls f for every symbol that a condition reads, also through lets.
func readBy(root *cond, seen map[*symbol]bool, f func(*symbol)) {
	root.walk(func(o *operand) {
		for _, s := range o.uses.syms {
			if seen[s] {
				continue
			}
			seen[s] = true
			f(s)
			if s.kind == letSymbol {
				readBy(s.let.root, seen, f)
			}
		}
	})
}

// foldArgs evaluates the arguments once if all are constant.
func (f *Fact) foldArgs() {
	fixed := make([]string, len(f.plan.handed))
	for i, a := range f.plan.handed {
		if a.text != nil || a.name != "" {
			return
		}
		text, ok := a.path.fixed()
		if !ok {
			return
		}
		fixed[i] = text
	}
	f.plan.fixed = fixed
}
