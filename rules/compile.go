package rules

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker/nature"
	exprparser "github.com/expr-lang/expr/parser"

	"github.com/ralph-sdk/ralph/rules/internal/source"
	"github.com/ralph-sdk/ralph/schema"
)

// compiler makes a Program of documents. It keeps the tables that texts need
// when they compile later.
type compiler struct {
	cfg     Config
	engine  *engine
	names   *names
	program *Program
	table   *table
	diags   *Diagnostics
}

// table holds the symbols of a program. Rules compile in parallel and add names
// as they meet them, so it is safe for concurrent use.
type table struct {
	mu      sync.RWMutex
	byKey   map[string]*symbol
	symbols []*symbol
}

func (t *table) find(key string) *symbol {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byKey[key]
}

// add gives the symbol with the key of s, which is s if there was none.
func (t *table) add(s *symbol) *symbol {
	t.mu.Lock()
	defer t.mu.Unlock()
	if old := t.byKey[s.key]; old != nil {
		return old
	}
	s.slot = len(t.symbols)
	t.symbols = append(t.symbols, s)
	t.byKey[s.key] = s
	return s
}

func (t *table) size() int {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return len(t.symbols)
}

func (t *table) all() []*symbol {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return slices.Clone(t.symbols)
}

// nameSymbol gives the symbol of one of ralph's names, made at its first use.
func (c *compiler) nameSymbol(name string) *symbol {
	s := c.table.find(name)
	if s == nil {
		info := c.names.byName[name]
		if info == nil { // env.NAME
			info = &NameInfo{Name: name, Private: true, typ: &schema.Type{Kind: schema.String}}
		}
		s = c.table.add(&symbol{kind: nameSymbol, name: name, key: name, typ: info.typ, info: info, private: info.Private})
	}
	if !c.engine.knows(name) {
		if s.info.goType != nil {
			c.engine.declare(name, natureOfGo(s.info.goType))
		} else {
			c.engine.declare(name, natureOf(s.typ))
		}
	}
	return s
}

func (c *compiler) askSymbol(ask string, fact *symbol) *symbol {
	if ask == "invalid" || ask == "ok" || ask == "problem" {
		fact.fact.asked.Store(true)
	}
	fact.used.Store(true)
	key := ask + "(" + fact.key + ")"
	if !c.engine.knows(key) {
		c.engine.declare(key, natureOfGo(asks()[ask]))
	}
	return c.table.add(&symbol{kind: askSymbol, name: ask + "(" + fact.name + ")", key: key, ask: ask, fact: fact.fact})
}

func (c *compiler) place(f *file, at source.Pos) Pos {
	return Pos{File: f.name, Line: at.Line, Col: at.Col}
}

func (c *compiler) report(f *file, from, to source.Pos, sev Severity, check, help, message string) {
	*c.diags = append(*c.diags, Diagnostic{
		Pos: c.place(f, from), End: c.place(f, to), Severity: sev, Check: check,
		Message: message, Help: help, Line: source.Line(f.src, from.Line),
	})
}

func (c *compiler) errorf(sc *scope, n *source.Node, check, help, format string, args ...any) {
	c.report(sc.file, n.Start, n.End(), Error, check, help, fmt.Sprintf(format, args...))
}

func (c *compiler) warnf(sc *scope, n *source.Node, check, help, format string, args ...any) {
	c.report(sc.file, n.Start, n.End(), Warning, check, help, fmt.Sprintf(format, args...))
}

// snippet is an expression within a file: the whole of a scalar, or a hole.
type snippet struct {
	scope  *scope
	src    string
	node   *source.Node
	offset int // of src in the node's value, in runes
}

func (s snippet) at(offset int) source.Pos { return s.node.At(s.offset + offset) }

func (s snippet) pos(c *compiler, offset int) Pos { return c.place(s.scope.file, s.at(offset)) }

func whole(sc *scope, n *source.Node) snippet { return snippet{scope: sc, src: n.Value, node: n} }

// expression compiles a snippet. boolean says that its value is a condition.
// The result is nil if it cannot be used; that was reported then.
func (c *compiler) expression(s snippet, boolean bool) (*cond, nature.Nature) {
	fail := func(from, to int, check, help, format string, args ...any) {
		c.report(s.scope.file, s.at(from), s.at(to), Error, check, help, fmt.Sprintf(format, args...))
	}
	if strings.TrimSpace(s.src) == "" {
		fail(0, 0, "empty", "write an expression", "the expression is empty")
		return nil, nature.Nature{}
	}
	tree, err := c.engine.parse(s.src)
	if err != nil {
		message, help := explainSyntax(err.message, s.src)
		fail(err.from, err.to, "syntax", help, "%s", message)
		return nil, nature.Nature{}
	}
	l := leaves{c: c, snippet: s, tree: tree, runes: []rune(s.src), fail: fail}
	root := skeleton(tree.Node, boolean, l.operand)
	if l.failed {
		return nil, nature.Nature{}
	}
	return root, l.nature(root)
}

// leaves compiles the operands of one expression.
type leaves struct {
	c       *compiler
	snippet snippet
	tree    *exprparser.Tree
	runes   []rune
	fail    func(from, to int, check, help, format string, args ...any)
	failed  bool
	natures map[*operand]nature.Nature
}

func (l *leaves) operand(n ast.Node, boolean bool) *operand {
	from, to := span(l.runes, n)
	o := &operand{
		text: string(l.runes[from:to]), scope: l.snippet.scope, pos: l.snippet.pos(l.c, from), end: l.snippet.pos(l.c, to),
		props: map[string]bool{}, boolean: boolean,
		at: func(offset int) Pos { return l.snippet.pos(l.c, offset) },
	}
	r := &resolver{c: l.c, scope: l.snippet.scope, props: o.props, report: l.fail}
	r.node(&n, nil)
	if !r.failed {
		r.checkTypes(n, nil)
	}
	o.syms = r.syms
	if r.failed {
		l.failed = true
		return o
	}
	o.reads = r.accesses(n)
	o.counter = r.isCounter(n)
	leafTree := &exprparser.Tree{Node: n, Source: l.tree.Source}
	nt, err := l.c.engine.check(leafTree)
	if err != nil {
		l.failed = true
		if err.to <= err.from {
			err.from, err.to = from, to
		}
		l.fail(err.from, err.to, "type", "", "%s", err.message)
		return o
	}
	if boolean && !isBool(nt) && !isUnknown(nt) {
		l.failed = true
		l.fail(from, to, "not-bool", "compare it with something", "a condition is true or false, this is %s", typeName(nt))
		return o
	}
	if l.natures == nil {
		l.natures = map[*operand]nature.Nature{}
	}
	l.natures[o] = nt
	o.sides = l.sides(n)
	prog, err := l.c.engine.compile(leafTree)
	if err != nil {
		l.failed = true
		l.fail(from, to, "type", "", "%s", err.message)
		return o
	}
	o.prog = prog
	return o
}

// sides finds the sides of a comparison that Explain shows: what is neither a
// literal nor a plain path, whose value the reads show already.
func (l *leaves) sides(n ast.Node) []string {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return nil
	}
	var out []string
	for _, side := range []ast.Node{b.Left, b.Right} {
		switch side.(type) {
		case *ast.BuiltinNode, *ast.CallNode, *ast.BinaryNode:
			from, to := span(l.runes, side)
			out = append(out, string(l.runes[from:to]))
		}
	}
	return out
}

// parts compiles the sides of an operand, for Explain. What cannot stand alone,
// such as a side that reads a variable of an outer let, is left out.
func (c *compiler) parts(o *operand) []*part {
	var out []*part
	for _, src := range o.sides {
		tree, err := c.engine.parse(src)
		if err != nil {
			continue
		}
		r := &resolver{c: c, scope: o.scope, props: map[string]bool{}, report: func(int, int, string, string, string, ...any) {}}
		r.node(&tree.Node, nil)
		if r.failed {
			continue
		}
		if _, err := c.engine.check(tree); err != nil {
			continue
		}
		if prog, err := c.engine.compile(tree); err == nil {
			out = append(out, &part{text: src, prog: prog})
		}
	}
	return out
}

// nature gives the type of a whole expression.
func (l *leaves) nature(c *cond) nature.Nature {
	switch c.op {
	case leaf:
		return l.natures[c.operand]
	case choose:
		a, b := l.nature(c.kids[1]), l.nature(c.kids[2])
		if sameNature(a, b) {
			return a
		}
		return nature.Nature{}
	}
	return natureOfGo(asks()["missing"])
}

func typeName(n nature.Nature) string {
	switch n.String() {
	case "string":
		return "a text"
	case "int", "float64":
		return "a number"
	case "[]interface {}":
		return "a list"
	case "map[string]interface {}":
		return "an object"
	case "nil":
		return "nil"
	}
	return n.String()
}

// letType makes sure that a let was compiled, so that its type is known.
func (c *compiler) letType(s *symbol) {
	if s.let.state != letNew {
		return // open: a cycle, reported by checkCycles
	}
	s.let.state = letOpen
	root, nt := c.expression(whole(s.let.scope, s.let.decl.expr), false)
	s.let.root = root
	s.let.state = letDone
	if root != nil && root.op == leaf && s.typ == nil {
		s.typ = c.plainType(s.let)
	}
	c.engine.declare(s.key, nt)
}

// plainType gives the schema type of a let that is a plain path, so that enums
// and fields behind it are still checked.
func (c *compiler) plainType(l *let) *schema.Type {
	tree, err := c.engine.parse(l.decl.expr.Value)
	if err != nil {
		return nil
	}
	r := &resolver{c: c, scope: l.scope, props: map[string]bool{}, report: func(int, int, string, string, string, ...any) {}}
	r.node(&tree.Node, nil)
	return r.typeOf(tree.Node, nil)
}

// conditions compiles a when: one expression, or several that must all hold.
func (c *compiler) conditions(sc *scope, nodes []*source.Node) (*cond, bool) {
	var kids []*cond
	ok := true
	for _, n := range nodes {
		root, _ := c.expression(whole(sc, n), true)
		if root == nil {
			ok = false
			continue
		}
		if root.op == and {
			kids = append(kids, root.kids...)
		} else {
			kids = append(kids, root)
		}
	}
	switch len(kids) {
	case 0:
		return nil, ok
	case 1:
		return kids[0], ok
	}
	return &cond{op: and, kids: kids}, ok
}

// explainSyntax turns expr's terse syntax errors into what to do about them.
func explainSyntax(message, src string) (string, string) {
	switch {
	case strings.Contains(message, `Operator("=")`):
		return "= is not an operator here", "write == to compare"
	case strings.Contains(message, `Operator("&")`):
		return "& is not an operator here", "write and"
	case strings.Contains(message, "unexpected token EOF"):
		return "the expression ends too early", ""
	case strings.HasPrefix(message, "unexpected token Identifier(") && slices.Contains([]string{"AND", "OR", "NOT"}, between(message, `"`)):
		word := between(message, `"`)
		return fmt.Sprintf("%s is not an operator here", word), "write " + strings.ToLower(word)
	}
	message = strings.TrimPrefix(message, "compilation failed: ")
	if kind, rest, ok := strings.Cut(message, "("); ok && strings.HasPrefix(message, "unexpected token ") {
		_ = kind
		return "unexpected " + strings.TrimSuffix(rest, ")"), ""
	}
	return message, ""
}

func between(s, sep string) string {
	parts := strings.SplitN(s, sep, 3)
	if len(parts) < 3 {
		return ""
	}
	return parts[1]
}
