package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/schema"
)

// effect is a change that a rule makes.
type effect struct {
	kind  string
	fact  *Fact
	path  []*expression // of set: the fields and indices from the fact to the value
	value *expression
	args  []*template // of run and of the program's effects; of prune: the glob
	as    argument    // args
	older time.Duration
}

// effects reads a list of effects; where is the key that it belongs to.
func (c *compiler) effects(n *yaml.Node, where string) (out []*effect) {
	known := append([]string{"set", "archive", "prune", "run"}, slices.Sorted(slices.Values(c.Effects))...)
	for _, x := range c.list(n, where) {
		if x.Kind != yaml.MappingNode || len(x.Content) > 2 {
			c.report(at(x), 1, "effect", "an effect is one key and its value", "begin each effect with - and its key, as in - set: FACT.FIELD = EXPRESSION")
			continue
		}
		f := c.fields(x, "an effect", known)
		for kind, v := range f.values {
			out = append(out, c.effect(kind, v))
		}
	}
	return out
}

func (c *compiler) effect(kind string, n *yaml.Node) *effect {
	e := &effect{kind: kind}
	switch kind {
	case "set":
		if c.scalar(n, kind) {
			c.set(e, n)
		}
	case "archive":
		if !c.scalar(n, kind) {
			break
		}
		if s := c.symbols[n.Value]; s == nil || s.meaning != factName {
			c.report(at(n), 0, "fact", "there is no fact "+n.Value, text.Nearest(n.Value, c.named(factName)))
		} else if e.fact, s.read[nil] = s.fact, at(n); !e.fact.OnePath && e.fact.source != nil {
			c.report(at(n), 0, "effect", fmt.Sprintf("archive takes a fact of one file, and %s is %s", n.Value, e.fact.Source), "")
		}
	case "prune":
		f := c.fields(n, kind, []string{"glob", "older"})
		if len(f.values) < 2 && n.Kind == yaml.MappingNode {
			c.report(at(n), 1, "missing-key", "prune needs glob and older", "write prune: {glob: PATTERN, older: 1h}")
		}
		e.as, e.older = aPattern, amount[time.Duration](c, f.values["older"], "older")
		e.args = c.argument(f.values["glob"], "glob", e.as)
		if e.args != nil && strings.HasPrefix(e.args[0].lits[0], "~") {
			c.report(at(f.values["glob"]), 0, "path", "prune removes files of the project only", "write a path from the project's root")
		}
	default:
		if e.as = aText; kind == "run" {
			e.as = aProgram
		}
		e.args = c.argument(n, kind, e.as)
	}
	return e
}

// set reads fact = expression or fact.field = expression.
func (c *compiler) set(e *effect, n *yaml.Node) {
	target, value, ok := strings.Cut(n.Value, " = ") // an index may compare with ==
	if !ok {
		c.report(at(n), 0, "effect", "set is an assignment", "write set: FACT.FIELD = EXPRESSION")
		return
	}
	value = strings.TrimLeft(value, " \n")
	e.value = c.newExpression(spot{n, utf8.RuneCountInString(n.Value) - utf8.RuneCountInString(value)}, value)
	tree, err := c.engine.parse(target)
	if err != nil {
		c.explain(&expression{at: at(n), source: target}, nil, err)
		return
	}
	members, root := chain(tree.Node)
	id := strings.TrimSpace(root.String())
	f := c.symbols[id]
	switch {
	case f == nil || f.fact == nil:
		c.report(at(n), len(id), "fact", fmt.Sprintf("set changes a fact, and %s is none", id), text.Nearest(id, c.named(factName)))
	case f.meaning == fieldName:
		c.report(at(n), len(id), "fact", fmt.Sprintf("%s is a field", id), fmt.Sprintf("write %s.%s = …", f.fact.Name, id))
	case f.fact.source != nil && len(members) > f.fact.source.sets:
		c.report(at(n), 0, "effect", fmt.Sprintf("set cannot change this of a fact from %s", f.fact.Source), "set changes values in json, fields of frontmatter, and whole texts")
	default:
		e.fact, f.read[nil] = f.fact, at(n)
		c.target(e, n, members, tree, f.typ)
	}
}

// target reads the path of an assignment, and what may be set there.
func (c *compiler) target(e *effect, n *yaml.Node, members []*ast.MemberNode, tree *parser.Tree, t *schema.Type) {
	for _, m := range members {
		x := c.newExpression(at(n), m.Property.String())
		x.parsed = &parser.Tree{Node: m.Property, Source: tree.Source}
		e.path = append(e.path, x)
		name, ok := m.Property.(*ast.StringNode)
		switch {
		case !ok && t != nil:
			t = t.Items
		case ok:
			if t != nil && t.Properties != nil && t.At(name.Value) == nil {
				c.report(spot{n, name.Location().From}, len(name.Value), "unknown-field", "there is no field "+name.Value, text.Nearest(name.Value, sortedKeys(t.Properties)))
			}
			t = t.At(name.Value)
		}
	}
	e.value.target = t
}

// effect evaluates an effect. One that has nothing to change is none.
func (e *evaluation) effect(v *Verdict, x *effect) (err error) {
	out, what := Effect{Kind: x.kind, Fact: x.fact, Older: x.older}, x.kind
	switch x.kind {
	case "set":
		what += " " + x.fact.Name
		err = e.assign(&out, x)
	case "archive":
		g := e.get(x.fact.symbol)
		if !g.found.OK && g.found.Err == nil {
			return nil
		}
		out.Found = *g.found
	default:
		if x.kind == "run" {
			what += " " + x.args[0].lits[0]
		}
		var state truth
		if out.Args, state, err = e.fillAll(x.args, x.as); state == missing && x.kind == "prune" {
			return nil
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	v.Effects = append(v.Effects, out)
	return nil
}

// assign evaluates what set changes, and to what.
func (e *evaluation) assign(out *Effect, x *effect) error {
	r := e.value(x.value)
	if r.state != yes {
		return r.why
	}
	out.Value = r.value
	for _, step := range x.path {
		index := e.value(step)
		i, ok := wholeNumber(index.value)
		switch {
		case index.state != yes:
			return index.why
		case index.value == nil:
			return fmt.Errorf("the index %s is nil", step.source)
		case ok:
			out.Path = append(out.Path, i)
		default:
			out.Path = append(out.Path, show(index.value))
		}
	}
	g := e.get(x.fact.symbol)
	if g.state != yes {
		return g.why
	}
	out.Found = *g.found
	if !g.found.OK {
		out.Found.Value = g.value // the default, from which the file is made
	}
	return nil
}

// Start evaluates the effects of start. text is the name text there. A policy without start has none. It is an error if a file that it
// sets exists, and where the program's code panics.
func (p *Policy) Start(ctx context.Context, in Input, text string) (effects []Effect, err error) {
	e := p.evaluation(ctx, in)
	defer func() {
		if r := recover(); r != nil {
			effects, err = nil, panicked(r)
		}
	}()
	e.text = strings.TrimSpace(text)
	var v Verdict
	for _, x := range p.start {
		if x.kind == "set" {
			g := e.get(x.fact.symbol)
			if g.file || g.state == failed {
				return nil, fmt.Errorf("%s exists already", g.found.Path)
			}
			g.take(yes, g.value, nil)
		}
		if err := e.effect(&v, x); err != nil {
			return nil, err
		}
		if x.kind == "set" && len(x.path) == 0 { // a path below may have this value
			g := e.get(x.fact.symbol)
			g.value = v.Effects[len(v.Effects)-1].Value
			e.env[x.fact.Name] = g.value
		}
	}
	if e.wrong != nil {
		return nil, e.wrong
	}
	return v.Effects, nil
}
