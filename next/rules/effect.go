package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/next/internal/text"
)

// effect is a change that a rule makes.
type effect struct {
	kind  string
	fact  *Fact
	path  []*expression // of set: what leads from the fact to the value; a field is a constant
	value *expression
	args  []*template // of run and of the program's effects; of prune: the glob
	older time.Duration
}

var effectKinds = []string{"set", "archive", "prune", "run"}

func (c *compiler) effects(n *yaml.Node, what string) (out []*effect) {
	known := append(slices.Clone(effectKinds), sortedKeys(c.config.effects)...)
	for _, x := range c.list(n, what) {
		f := c.fields(x, "an effect", known...)
		if x.Kind == yaml.MappingNode && len(x.Content) != 2 {
			c.reportNode(x, "effect", "an effect is one key and its value", "begin each effect with - ")
			continue
		}
		for _, kind := range known {
			if v := f.values[kind]; v != nil {
				if e := c.effect(kind, v, what); e != nil {
					out = append(out, e)
				}
			}
		}
	}
	return out
}

func (c *compiler) effect(kind string, n *yaml.Node, where string) *effect {
	e := &effect{kind: kind}
	switch kind {
	case "set":
		if !c.scalar(n, kind) || !c.set(e, n, where) {
			return nil
		}
	case "archive":
		if !c.scalar(n, kind) {
			return nil
		}
		for _, f := range c.p.Facts {
			if f.Name == n.Value {
				e.fact = f
			}
		}
		switch {
		case e.fact == nil:
			c.reportNode(n, "fact", "there is no fact "+n.Value, nearestFact(c, n.Value))
		case e.fact.source != nil && !e.fact.OnePath:
			c.reportNode(n, "effect", fmt.Sprintf("archive takes a fact of one file, and %s is %s", n.Value, e.fact.Source), "")
		}
	case "prune":
		f := c.fields(n, kind, "glob", "older")
		t := c.template(f.values["glob"], "glob")
		if t == nil || !f.has("older") {
			if n.Kind == yaml.MappingNode {
				c.reportNode(n, "missing-key", "prune needs glob and older", "write prune: {glob: PATTERN, older: 1h}")
			}
			return nil
		}
		c.pathTemplate(t)
		e.args, e.older = []*template{t}, c.duration(f.values["older"], "older")
	case "run":
		e.args = c.program(n, kind)
	default:
		if t := c.template(n, kind); t != nil {
			e.args = []*template{t}
		}
	}
	return e
}

// set reads fact = expression or fact.field = expression.
func (c *compiler) set(e *effect, n *yaml.Node, where string) bool {
	at := assignment(n.Value)
	if at < 0 {
		c.reportNode(n, "effect", "set is an assignment", "write set: FACT.FIELD = EXPRESSION")
		return false
	}
	target, value := n.Value[:at], n.Value[at+1:]
	lead := len(value) - len(strings.TrimLeft(value, " \n"))
	e.value = c.newExpression(spot{n, len([]rune(n.Value[:at+1])) + lead}, value[lead:], anyValue)
	tree, problem := c.engine.parse(target)
	if problem != nil {
		c.explain(&expression{at: spot{n, 0}, source: target}, problem)
		return false
	}
	name, steps := assigned(tree)
	s := c.symbols[name]
	if s == nil || s.fact == nil || s.meaning != factName {
		c.report(spot{n, 0}, len([]rune(name)), "fact", fmt.Sprintf("set changes a fact, and %s is none", strings.TrimSpace(target)), nearestFact(c, name))
		return false
	}
	if s.fact.Name != name {
		c.report(spot{n, 0}, len([]rune(name)), "fact", fmt.Sprintf("%s is a field", name), fmt.Sprintf("write %s.%s = …", s.fact.Name, name))
		return false
	}
	e.fact = s.fact
	if !slices.Contains([]string{"json", "frontmatter", "text", "value"}, e.fact.Source) && !e.fact.source.own || e.fact.Source != "json" && e.fact.Source != "value" && len(steps) > 1 {
		c.reportNode(n, "effect", fmt.Sprintf("set cannot change this of a fact from %s", e.fact.Source), "set changes values in json, fields of frontmatter, and whole texts")
		return false
	}
	c.setPath(e, n, steps)
	return true
}

// setPath makes the path of an assignment, and reports a field or a value that the schema does not have.
func (c *compiler) setPath(e *effect, n *yaml.Node, steps []step) {
	t := e.fact.typ
	for _, s := range steps {
		if s.field != "" {
			if t != nil && t.Properties != nil && !has(t.Properties, s.field) {
				c.report(spot{n, s.off}, len([]rune(s.field)), "unknown-field", "there is no field "+s.field, text.Nearest(s.field, sortedKeys(t.Properties)))
			}
			t = t.At(s.field)
			e.path = append(e.path, &expression{source: s.field})
			continue
		}
		x := c.newExpression(spot{n, 0}, s.index.Node.String(), anyValue)
		x.parsed = s.index
		e.path = append(e.path, x)
		if t != nil {
			t = t.Items
		}
	}
	e.value.target = t
}

// assignment returns the place of the = that assigns, -1 if there is none.
func assignment(s string) int {
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case quote != 0:
			if ch == quote {
				quote = 0
			}
		case ch == '"' || ch == '\'' || ch == '`':
			quote = ch
		case ch == '=' && (i+1 == len(s) || s[i+1] != '=') && (i == 0 || !strings.ContainsRune("=!<>", rune(s[i-1]))):
			return i
		}
	}
	return -1
}

// step is one step of an assignment's target: a field, or an index.
type step struct {
	field string
	off   int
	index *parser.Tree
}

// assigned returns the name and the steps of a target; the name is "" if it is no path.
func assigned(tree *parser.Tree) (name string, steps []step) {
	members, root := chain(tree.Node)
	id, ok := root.(*ast.IdentifierNode)
	if !ok {
		return "", nil
	}
	for _, m := range members {
		if s, ok := m.Property.(*ast.StringNode); ok {
			steps = append(steps, step{field: s.Value, off: s.Location().From})
		} else {
			steps = append(steps, step{index: &parser.Tree{Node: m.Property, Source: tree.Source}})
		}
	}
	return id.Value, steps
}

// checkTarget reports a value that the schema of its target does not allow.
func (c *compiler) checkTarget(x *expression, n ast.Node) {
	var fits bool
	switch x.target.Kind {
	case "integer", "number":
		fits = isNumber(n)
	case "string":
		fits = isString(n)
	case "boolean":
		fits = isBool(n)
	default:
		return
	}
	if !fits && !isUnknown(n) {
		c.report(x.at.plus(start(n)), 1, "type", fmt.Sprintf("%s is needed, and this is %s", typeWord(x.target.Kind), typeName(n)), "")
	}
	(&typeWalk{c: c, x: x}).compare(x.target, n)
}
