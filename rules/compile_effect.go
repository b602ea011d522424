package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker/nature"
	exprparser "github.com/expr-lang/expr/parser"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/schema"
)

// effect compiles one effect. It reports problems and then returns nil.
func (c *compiler) effect(sc *scope, d effectDecl) (e *effect) {
	defer func() {
		if e != nil {
			e.pos = sc.file.at(d.at)
		}
	}()
	switch d.kind {
	case SetEffect:
		return c.setEffect(sc, d.node)
	case RememberEffect:
		return c.rememberEffect(sc, d.node)
	case DeleteEffect, ArchiveEffect:
		name := strings.TrimSpace(d.node.Value)
		s := sc.symbols[name]
		if s == nil || s.kind != factSymbol || !s.fact.Source.File {
			facts := sc.facts(func(f *Fact) bool { return f.Source.File })
			c.errorf(sc, d.node, "unknown-fact", nearest.DidYouMean(name, facts),
				"%s must name a fact that has a file; got %q; %s", d.kind, name, theyAre("those facts", facts))
			return nil
		}
		s.used.Store(true)
		c.index.node(sc, d.node)
		return &effect{kind: d.kind, src: string(d.kind) + ": " + name, fact: s}
	case PruneEffect:
		return &effect{
			kind: PruneEffect, src: "prune: " + d.glob.Value,
			glob: c.newPath(sc, d.glob, SourceKind{Argument: argumentPattern}), older: d.older,
		}
	case RunEffect:
		e := &effect{kind: RunEffect, fact: &symbol{fact: &Fact{Source: runKind(), Timeout: d.limit, Covers: d.covers, Pos: sc.file.at(d.at)}}}
		for _, n := range d.args {
			e.fact.fact.Args = append(e.fact.fact.Args, n.Value)
		}
		e.run = c.argv(sc, e.fact.fact, d.args)
		e.src = "run: " + d.args[0].Value
		return e
	case OwnEffect:
		return c.ownEffect(sc, d)
	}
	return nil
}

// ownEffect compiles an effect of the embedding program.
func (c *compiler) ownEffect(sc *scope, d effectDecl) *effect {
	e := &effect{kind: OwnEffect, src: d.own.Name, name: d.own.Name, schema: d.own.Args}
	fixed := true
	e.args = c.template(sc, d.node, func(*text) { fixed = false })
	if e.schema != nil && fixed { // nothing is filled in later
		if problem := misfit(e.schema.Check(schema.Document{Value: d.node.Decode()})); problem != "" {
			c.errorf(sc, d.node, "effect-args", d.own.Doc, "the arguments of %s do not fit: %s", e.name, problem)
			return nil
		}
	}
	return e
}

// misfit returns the first problem of arguments, or "".
func misfit(r schema.Result) string {
	if bad := wrongIn(r); bad != nil {
		return strings.TrimPrefix(bad.Pointer+" "+bad.Text(), " ")
	}
	return ""
}

// wrongIn returns the first problem of a value, or nil.
func wrongIn(r schema.Result) *schema.Violation {
	for _, bad := range slices.Concat(r.Unusable, r.Warnings) {
		return &bad
	}
	return nil
}

// template compiles a value whose strings may have placeholders, and calls found for each of them.
func (c *compiler) template(sc *scope, n *yamltree.Node, found func(*text)) *template {
	t := &template{list: n.Kind == yamltree.List}
	switch {
	case n.Kind == yamltree.Map:
		t.names = []string{}
		for _, f := range n.Fields {
			t.names, t.items = append(t.names, f.Key.Value), append(t.items, c.template(sc, f.Value, found))
		}
	case t.list:
		for _, item := range n.Items {
			t.items = append(t.items, c.template(sc, item, found))
		}
	case n.Tag != "!!str" || !strings.Contains(n.Value, "${"):
		t.constant = n.Decode()
	default:
		t.text = c.newText(sc, n)
		found(t.text)
	}
	return t
}

// setEffect compiles `fact.path = expression`.
func (c *compiler) setEffect(sc *scope, n *yamltree.Node) *effect {
	const form = "fact.field = expression"
	e, at := c.assignment(sc, n, SetEffect, form)
	if e == nil {
		return nil
	}
	left := n.Value[:at]
	target := snippet{scope: sc, src: left, node: n}
	tree, err := c.engine.parse(left)
	if err != nil {
		message, _ := reword(err.message)
		c.report(sc.file, target.at(err.from), target.at(err.to), Error, "assignment", "write "+form, "the left side of set is not a path: "+message)
		return nil
	}
	okLeft := c.target(e, target, tree)
	return c.assign(sc, n, at, e, okLeft, "the field")
}

// rememberEffect compiles `name = expression`.
func (c *compiler) rememberEffect(sc *scope, n *yamltree.Node) *effect {
	e, at := c.assignment(sc, n, RememberEffect, "name = expression")
	if e == nil {
		return nil
	}
	name := strings.TrimSpace(n.Value[:at])
	e.memory = sc.symbols[name]
	ok := e.memory != nil && e.memory.kind == memorySymbol
	switch root, _, deeper := strings.Cut(name, "."); {
	case ok:
		e.typ = e.memory.typ
		left := snippet{scope: sc, src: n.Value[:at], node: n}
		from, to := left.trimmed()
		c.index.named(&left, from, to, name)
		e.memory.memory.set.Store(true)
	case deeper && sc.symbols[root] != nil && sc.symbols[root].kind == memorySymbol:
		c.errorf(sc, n, "assignment", "write "+root+" = {…} with all its fields", "remember replaces all of %q, not one field", root)
	default:
		known := sc.named(memorySymbol)
		c.errorf(sc, n, "unknown-memory", nearest.DidYouMean(name, known), "remember must name a value under memory; got %q; %s", name, theyAre("those names", known))
	}
	return c.assign(sc, n, at, e, ok, "the memory")
}

// assignment begins to compile an effect that assigns, and returns the offset of its =; e is nil if it has none.
func (c *compiler) assignment(sc *scope, n *yamltree.Node, kind EffectKind, form string) (e *effect, at int) {
	at, ok := splitAssignment(n.Value)
	if help := plainAssignment(n.Value, at); help != "" {
		c.errorf(sc, n, "assignment", help, "%s takes an assignment with one =", kind)
		return nil, 0
	}
	if !ok {
		help := "write " + form
		if strings.Contains(n.Value, "==") {
			help = "one = assigns, == compares: " + help
		}
		c.errorf(sc, n, "assignment", help, "%s must be an assignment", kind)
		return nil, 0
	}
	return &effect{kind: kind, src: string(kind) + ": " + strings.TrimSpace(n.Value)}, at
}

// assign compiles the right side of an assignment whose = is at an offset. ok says that its left side, which what
// names, is valid.
func (c *compiler) assign(sc *scope, n *yamltree.Node, at int, e *effect, ok bool, what string) *effect {
	left := n.Value[:at]
	value := snippet{scope: sc, src: n.Value[at+1:], node: n, offset: utf8.RuneCountInString(left) + 1}
	root, nt := c.expression(value, false)
	if !ok || root == nil {
		return nil
	}
	e.value = root
	c.checkValue(value, root, nt, e.typ, what+" "+strings.TrimSpace(left), "effect-type")
	return e
}

// checkValue reports an expression whose type a declared type does not accept. what names the declaration.
func (c *compiler) checkValue(s snippet, root *cond, nt nature.Nature, want *schema.Schema, what, check string) {
	if want == nil || want.Kind == schema.Any {
		return
	}
	from, to := s.trimmed()
	fail := func(help, format string, args ...any) {
		c.report(s.scope.file, s.at(from), s.at(to), Error, check, help, fmt.Sprintf(format, args...))
	}
	if nt.Nil {
		if !want.Nullable && !want.Optional {
			fail("", "%s takes %s, never nil", what, want)
		}
		return
	}
	if isUnknown(nt) {
		return
	}
	if !takes(want.Kind, nt) {
		if want.Kind == schema.Int && nt.IsFloat {
			fail("write int(…) to drop what follows the point", "%s takes %s; this may be a fraction", what, want)
			return
		}
		fail("", "%s takes %s; got %s", what, want, typeName(nt))
		return
	}
	root.values(func(o *operand) {
		if o.plain == nil || o.plain.sym != nil {
			return
		}
		if v := o.plain.literal; !allows(want, v) {
			fail(nearest.DidYouMean(fmt.Sprint(v), enumWords(want)), "%s is never %s; it is %s", what, literalText(v), rangeOf(want))
		}
	})
}

// takes reports whether values of an expression's type can be of this kind.
func takes(k schema.Kind, n nature.Nature) bool {
	switch k {
	case schema.Bool:
		return isBool(n)
	case schema.Int:
		return n.IsInteger && !n.IsDuration()
	case schema.Number:
		return n.IsNumber() && !n.IsDuration()
	case schema.String:
		return n.IsString() || n.IsDuration() || n.IsTime()
	case schema.Array:
		return n.IsArray()
	case schema.Object:
		return n.IsMap()
	}
	return k == schema.Any
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
		if ch, ok := n.(*ast.ChainNode); ok {
			return fail(ch, "assignment", "write a dot without the question mark", "the left side of set names a field, which cannot be optional")
		}
		m, ok := n.(*ast.MemberNode)
		if !ok {
			break
		}
		chain = append(chain, m)
		n = m.Node
	}
	id, ok := n.(*ast.IdentifierNode)
	if !ok {
		return fail(n, "assignment", "write fact.field = expression", "the left side of set must begin with the name of a fact")
	}
	sym, typ := s.scope.symbols[id.Value], (*schema.Schema)(nil)
	switch {
	case sym == nil && s.scope.fields[id.Value] != nil:
		sym = s.scope.inline
		e.steps = append(e.steps, step{field: id.Value})
		typ = sym.typ.Fields[id.Value]
	case sym == nil && s.scope.open: // possibly a field of an invalid schema
		return false
	case sym == nil || sym.kind != factSymbol:
		facts := s.scope.facts(func(f *Fact) bool { return f.Source.Editable })
		return fail(id, "unknown-fact", cmp.Or(s.scope.fieldOfFact(id.Value), nearest.DidYouMean(id.Value, slices.AppendSeq(facts, maps.Keys(s.scope.fields)))),
			"set must name a fact; got %q; %s", id.Value, theyAre("facts that can be changed", facts))
	default:
		typ = sym.typ
	}
	if !sym.fact.Source.Editable {
		return fail(id, "assignment", "only json and frontmatter facts can be changed", "%q is a %s fact, which set cannot change", sym.name, sym.fact.Source.Name)
	}
	sym.used.Store(true)
	c.index.named(&s, id.Location().From, id.Location().To, id.Value)
	for i := len(chain) - 1; i >= 0; i-- {
		p, isName := chain[i].Property.(*ast.StringNode)
		if !isName {
			runes := []rune(s.src)
			from, to := spanOf(runes, chain[i].Property)
			root, _ := c.expression(snippet{scope: s.scope, src: string(runes[from:to]), node: s.node, offset: s.offset + from}, false)
			if root == nil {
				return false
			}
			e.steps = append(e.steps, step{index: root})
			typ = elementOf(typ)
			continue
		}
		if p.Value == "body" && len(e.steps) == 0 && sym.fact.Source.Value.Body {
			return fail(p, "assignment", "name a field of the front matter", "the body below the front matter cannot be set")
		}
		if !declares(typ, p.Value) {
			names := fieldNames(typ)
			return fail(p, "unknown-field", nearest.DidYouMean(p.Value, names), "unknown field %q; the declared fields are %s", p.Value, list(names))
		}
		c.index.field(&s, p, typ)
		e.steps = append(e.steps, step{field: p.Value})
		typ = fieldOf(typ, p.Value)
	}
	if len(e.steps) == 0 {
		return fail(id, "assignment", "write "+id.Value+".FIELD = expression", "set changes one field, not all of %q", id.Value)
	}
	if len(e.steps) > 1 && sym.fact.Source.Value.Body {
		return fail(n, "assignment", "keep such state in a json fact", "set cannot change a value inside a field of front matter")
	}
	e.fact, e.typ = sym, typ
	return true
}

// splitAssignment returns the offset of the = that assigns: the first that is not part of a comparison and not inside
// quotes or brackets.
func splitAssignment(s string) (at int, ok bool) {
	unquoted([]byte(s), 0, func(i, depth int) bool {
		if s[i] != '=' || depth > 0 {
			return true
		}
		compares := i+1 < len(s) && s[i+1] == '=' || i > 0 && strings.IndexByte("=!<>", s[i-1]) >= 0
		if !compares {
			at, ok = i, strings.TrimSpace(s[:i]) != ""
		}
		return false
	})
	return at, ok
}

// effect is a compiled change that a rule makes.
type effect struct {
	pos   Pos
	kind  EffectKind
	src   string
	fact  *symbol
	steps []step // set: the path into the document
	value *cond  // set
	typ   *schema.Schema
	glob  *path
	older time.Duration
	run   []*path

	memory *symbol // remember

	name   string // of an own effect
	schema *schema.Schema
	args   *template
}

// template is a value to fill in: a string with placeholders, an object, a list, or a constant.
type template struct {
	text     *text
	names    []string // of an object, in the policy's order
	items    []*template
	list     bool
	constant any
}

// step is one step of a path: a field or an expression for an index.
type step struct {
	field string
	index *cond
}
