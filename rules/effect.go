package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	exprparser "github.com/expr-lang/expr/parser"

	"github.com/ralph-sdk/ralph/rules/internal/source"
	"github.com/ralph-sdk/ralph/schema"
)

// effect is a change that a rule asks for, compiled.
type effect struct {
	kind  EffectKind
	pos   Pos
	src   string
	fact  *symbol
	steps []step // set: the path into the document
	value *cond  // set
	typ   *schema.Type
	glob  *path
	older time.Duration
}

// step is one step of a path: a field, or an index that is worked out.
type step struct {
	field string
	index *cond
}

func (c *compiler) effect(sc *scope, d effectDecl) *effect {
	switch d.kind {
	case SetEffect:
		return c.setEffect(sc, d.node)
	case DeleteEffect, ArchiveEffect:
		s := sc.symbols[strings.TrimSpace(d.node.Value)]
		if s == nil || s.kind != factSymbol || !s.fact.Source.File {
			facts := sc.facts()
			c.errorf(sc, d.node, "unknown-fact", didYouMean(d.node.Value, facts), "%s takes the name of a fact that is a file, and %q is none; the facts are %s", d.kind, d.node.Value, list(facts))
			return nil
		}
		s.used.Store(true)
		return &effect{kind: d.kind, pos: c.place(sc.file, d.node.Start), src: d.kind.String() + ": " + s.name, fact: s}
	case PruneEffect:
		if d.glob == nil {
			return nil
		}
		return &effect{
			kind: PruneEffect, pos: c.place(sc.file, d.glob.Start), src: "prune: " + d.glob.Value,
			glob: c.newPath(sc, d.glob, SourceKind{Path: true, Glob: true}), older: d.older,
		}
	}
	return nil
}

// setEffect compiles `fact.path = expression`.
func (c *compiler) setEffect(sc *scope, n *source.Node) *effect {
	left, right, ok := splitAssignment(n.Value)
	if !ok {
		c.errorf(sc, n, "assignment", "write fact.field = expression", "set takes an assignment")
		return nil
	}
	e := &effect{kind: SetEffect, pos: c.place(sc.file, n.Start), src: "set: " + strings.TrimSpace(n.Value)}
	skip := len([]rune(left)) - len([]rune(strings.TrimLeft(left, " \t\n")))
	target := snippet{scope: sc, src: strings.TrimSpace(left), node: n, offset: skip}
	tree, err := c.engine.parse(target.src)
	if err != nil {
		c.report(sc.file, target.at(err.from), target.at(err.to), Error, "assignment", "write fact.field = expression", "the left side of set is not a path: "+err.message)
		return nil
	}
	if !c.target(e, target, tree) {
		return nil
	}
	root, nt := c.expression(snippet{scope: sc, src: right, node: n, offset: len([]rune(left)) + 1}, false)
	if root == nil {
		return nil
	}
	e.value = root
	if want := e.typ; want != nil && want.Kind != schema.Any && !isUnknown(nt) && !nt.Nil {
		wanted := natureOf(want)
		if !isUnknown(wanted) && wanted.Kind != nt.Kind {
			c.report(sc.file, n.At(len([]rune(left))+1), n.End(), Error, "effect-type", "", fmt.Sprintf("%s is %s by its schema, this is %s", target.src, want, typeName(nt)))
		}
	}
	return e
}

// target resolves the left side of a set.
func (c *compiler) target(e *effect, s snippet, tree *exprparser.Tree) bool {
	fail := func(n ast.Node, check, help, format string, args ...any) bool {
		l := n.Location()
		c.report(s.scope.file, s.at(l.From), s.at(max(l.To, l.From+1)), Error, check, help, fmt.Sprintf(format, args...))
		return false
	}
	var chain []*ast.MemberNode
	n := tree.Node
	for {
		m, ok := n.(*ast.MemberNode)
		if !ok {
			break
		}
		chain = append(chain, m)
		n = m.Node
	}
	id, ok := n.(*ast.IdentifierNode)
	if !ok {
		return fail(n, "assignment", "write fact.field = expression", "the left side of set must begin with a fact")
	}
	sym := s.scope.symbols[id.Value]
	var steps []step
	switch {
	case sym == nil && s.scope.field(id.Value) != nil:
		sym = s.scope.inline
		steps = append(steps, step{field: id.Value})
	case sym == nil || sym.kind != factSymbol:
		facts := s.scope.facts()
		return fail(id, "unknown-fact", didYouMean(id.Value, facts), "%q is not a fact; the facts are %s", id.Value, list(facts))
	}
	if !sym.fact.Source.Editable {
		return fail(id, "assignment", "only json and frontmatter facts can be changed", "%q is a %s fact, whose file set cannot change", sym.name, sym.fact.Source.Name)
	}
	sym.used.Store(true)
	typ := sym.typ
	if len(steps) == 1 {
		typ = fieldOf(typ, steps[0].field)
	}
	for i := len(chain) - 1; i >= 0; i-- {
		switch p := chain[i].Property.(type) {
		case *ast.StringNode:
			if p.Value == "body" && len(steps) == 0 && sym.fact.Source.Name == "frontmatter" {
				return fail(p, "assignment", "", "the body below the front matter cannot be set")
			}
			if typ != nil && len(typ.Fields) > 0 && typ.Extra == nil && typ.Fields[p.Value] == nil {
				names := fieldNames(typ)
				return fail(p, "unknown-field", didYouMean(p.Value, names), "unknown field %q, the declared ones are %s", p.Value, list(names))
			}
			steps = append(steps, step{field: p.Value})
			typ = fieldOf(typ, p.Value)
		default:
			from, to := span([]rune(s.src), chain[i].Property)
			root, _ := c.expression(snippet{scope: s.scope, src: string([]rune(s.src)[from:to]), node: s.node, offset: s.offset + from}, false)
			if root == nil {
				return false
			}
			steps = append(steps, step{index: root})
			if typ != nil {
				typ = typ.Elem
			}
		}
	}
	if len(steps) == 0 {
		return fail(id, "assignment", "write "+id.Value+".FIELD = expression", "set changes one field, not the whole of %q", id.Value)
	}
	e.fact, e.steps, e.typ = sym, steps, typ
	return true
}

func fieldOf(t *schema.Type, name string) *schema.Type {
	if t == nil {
		return nil
	}
	if f := t.Fields[name]; f != nil {
		return f
	}
	return t.Extra
}

// splitAssignment cuts at the first = that is no comparison and not in quotes.
func splitAssignment(s string) (left, right string, ok bool) {
	var quoted byte
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case quoted != 0:
			if c == '\\' && quoted != '`' {
				i++
			} else if c == quoted {
				quoted = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quoted = c
		case c == '=':
			if i+1 < len(s) && s[i+1] == '=' || i > 0 && strings.IndexByte("=!<>", s[i-1]) >= 0 {
				return "", "", false
			}
			return s[:i], s[i+1:], strings.TrimSpace(s[:i]) != ""
		}
	}
	return "", "", false
}

// workOut makes an Effect of an effect. skip says why it is left out, without
// harm to the verdict; broken says why the verdict cannot be followed.
func (ev *evaluation) workOut(e *effect) (out Effect, skip, broken string) {
	switch e.kind {
	case PruneEffect:
		glob, problem, _ := ev.argument(e.glob)
		if problem != "" {
			return out, problem, ""
		}
		return Effect{Kind: PruneEffect, Glob: glob, Older: e.older}, "", ""
	case SetEffect, DeleteEffect, ArchiveEffect:
		v := ev.fact(e.fact.fact)
		if v.Path == "" {
			return out, "", fmt.Sprintf("%s: %s has no file", e.src, e.fact.name)
		}
		out = Effect{Kind: e.kind, Fact: e.fact.name, Source: e.fact.fact.Source.Name, File: v.Path, Version: v.Version}
		if e.kind != SetEffect {
			if v.Status == Missing {
				return out, e.fact.name + " is missing", ""
			}
			return out, "", ""
		}
		if v.Status != OK || v.Version == "" {
			return out, "", fmt.Sprintf("%s: %s is %s", e.src, e.fact.name, v.Status)
		}
	}
	at := ev.fact(e.fact.fact).V
	for i, s := range e.steps {
		if s.index == nil {
			out.Path = append(out.Path, s.field)
			m, ok := at.(map[string]any)
			if !ok {
				return out, fmt.Sprintf("there is no object at %s", schema.PointerOf(out.Path[:i])), ""
			}
			at = m[s.field]
			continue
		}
		v, state := ev.value(s.index)
		if state != known {
			return out, "", fmt.Sprintf("%s: the index is unknown: %s", e.src, ev.why)
		}
		switch key := v.(type) {
		case string:
			out.Path = append(out.Path, key)
			m, _ := at.(map[string]any)
			at = m[key]
		case int:
			l, _ := at.([]any)
			if key < 0 || key >= len(l) {
				return out, fmt.Sprintf("index %d is out of range", key), ""
			}
			out.Path = append(out.Path, key)
			at = l[key]
		default:
			return out, "there is no such index", ""
		}
	}
	v, state := ev.value(e.value)
	if state != known {
		return out, "", fmt.Sprintf("%s: the value is unknown: %s", e.src, ev.why)
	}
	out.Value = v
	return out, "", ""
}
