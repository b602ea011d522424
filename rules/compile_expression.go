package rules

import (
	"reflect"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker/nature"
	exprparser "github.com/expr-lang/expr/parser"
)

// expression compiles a snippet into a skeleton and returns it with the type of its value. boolean says that it is used
// as a condition. The skeleton is nil if there is a problem, which is reported.
func (c *compiler) expression(s snippet, boolean bool) (*cond, nature.Nature) {
	if strings.TrimSpace(s.src) == "" {
		c.index.expression(&s, nil)
		c.report(s.scope.file, s.at(0), s.at(len([]rune(s.src))), Error, "empty", "write an expression", "the expression is empty")
		return nil, nature.Nature{}
	}
	c.index.expression(&s, nil)
	tree, err := c.engine.parse(s.src)
	if err != nil {
		err = refine(err, s.src)
		message, help := reword(err.message)
		c.mistaken(&s, err.from, err.to, "syntax", help, message)
		return nil, nature.Nature{}
	}
	if !c.load.affords(nodesOf(tree.Node)) {
		c.report(s.scope.file, s.at(0), s.at(1), Error, "too-big", "shorten the policy, or raise the limit of the program that loads it", "the policy is too large: it has more than "+strconv.Itoa(c.load.limits.Nodes)+" values and parts of expressions")
		return nil, nature.Nature{}
	}
	c.index.expression(&s, tree)
	l := &leaves{c: c, snippet: s, tree: tree}
	root := l.skeleton(tree.Node, boolean)
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
	runes   []rune // of the expression, converted when needed
	failed  bool
	natures []leafNature
}

type leafNature struct {
	operand *operand
	nature  nature.Nature
}

func (l *leaves) fail(from, to int, check, help, message string) {
	l.failed = true
	l.c.mistaken(&l.snippet, from, to, check, help, message)
}

// mistaken reports an error in an expression; for a common mistake it adds what the user probably means.
func (c *compiler) mistaken(s *snippet, from, to int, check, help, message string) {
	if c.diags.full(Error) {
		return
	}
	from, to, message, help = c.usual.find(s.src, from, to, message, help)
	c.report(s.scope.file, s.at(from), s.at(to), Error, check, help, message)
}

// warn reports doubtful code, for checks only.
func (l *leaves) warn(from, to int, check, help, message string) {
	if s := &l.snippet; !l.c.lazy {
		l.c.report(s.scope.file, s.at(from), s.at(to), Warning, check, help, message)
	}
}

// text returns the runes of the expression that n covers, and their text.
func (l *leaves) text(n ast.Node) (from, to int, text string) {
	if l.runes == nil {
		l.runes = []rune(l.snippet.src)
	}
	from, to = spanOf(l.runes, n)
	if len(l.runes) == len(l.snippet.src) { // ASCII: no copy
		return from, to, l.snippet.src[from:to]
	}
	return from, to, string(l.runes[from:to])
}

func (l *leaves) operand(n ast.Node, boolean bool) *operand {
	o := &operand{src: excerpt{snippet: &l.snippet}, boolean: boolean}
	o.src.from, o.src.to, o.src.text = l.text(n)
	o.src.shown = o.src.text
	l.c.operands = append(l.c.operands, o)
	o.id = len(l.c.operands)
	r := &resolver{c: l.c, scope: l.snippet.scope, src: l.snippet.src, to: l}
	if !l.c.lazy {
		r.literals(n)
	}
	r.node(&n)
	if !r.failed {
		o.typ = r.typed(n)
		r.checkTypes(n)
		if boolean {
			r.checkCondition(n)
		}
	}
	if o.uses.syms, o.uses.calls = r.syms, r.calls; r.failed {
		l.failed = true
		return o
	}
	leaf := &exprparser.Tree{Node: n, Source: l.tree.Source}
	nt, err := l.c.engine.check(leaf)
	if err != nil {
		if err.to <= err.from {
			err.from, err.to = o.src.from, o.src.to
		}
		message, help := reword(err.message)
		l.fail(err.from, err.to, "type", help, message)
		return o
	}
	n = leaf.Node
	if !l.c.lazy {
		l.durations(n, nil)
	}
	if boolean && !isBool(nt) && !isUnknown(nt) {
		l.fail(o.src.from, o.src.to, "not-bool", asCondition(o.src.text, typeName(nt)), "a condition must be true or false; got "+typeName(nt))
		return o
	}
	if !boolean {
		l.natures = append(l.natures, leafNature{o, nt})
	}
	o.uses.props, o.uses.sections = r.props, r.sections
	r.accesses(n, nil, &o.uses.reads, &o.uses.named)
	o.uses.paths = constantPaths(n)
	o.sides = l.sides(n)
	if t, ok := termOf(n, l.c.table); ok {
		plain := t // usually nil, to save space
		o.plain = &plain
	}
	o.direct = comparisonOf(n, o.plain, l.c.table)
	o.code.tree = leaf
	if !l.c.lazy && o.direct == nil {
		o.code.once.Do(func() {
			if o.code.prog, o.code.err = l.c.engine.compile(leaf); o.code.err != nil {
				message, help := reword(o.code.err.message)
				l.fail(o.src.from, o.src.to, "type", help, message)
			}
		})
	}
	return o
}

// asCondition returns a condition to suggest for a value that is not one.
func asCondition(value, kind string) string {
	if strings.ContainsAny(value, " \n") {
		value = "(" + value + ")"
	}
	switch kind {
	case "a string":
		return "compare it with something, such as " + value + ` != ""`
	case "a number":
		return "compare it with something, such as " + value + " > 0"
	case "an array":
		return "compare it with something, such as len(" + value + ") > 0"
	}
	return "compare it with something"
}

// sides returns the sides of a comparison that Explain shows: those that are neither literals nor plain paths, whose
// values are shown anyway.
func (l *leaves) sides(n ast.Node) (out []side) {
	b, ok := n.(*ast.BinaryNode)
	if !ok {
		return nil
	}
	for _, n := range [...]ast.Node{b.Left, b.Right} {
		switch n.(type) {
		case *ast.BuiltinNode, *ast.CallNode, *ast.BinaryNode:
			_, _, text := l.text(n)
			out = append(out, side{text: text, code: code{tree: &exprparser.Tree{Node: n, Source: l.tree.Source}}})
		}
	}
	return out
}

// nature returns the type of a whole expression.
func (l *leaves) nature(c *cond) nature.Nature {
	switch c.op {
	case leaf:
		for _, n := range l.natures {
			if n.operand == c.operand {
				return n.nature
			}
		}
		return nature.Nature{}
	case choose:
		a, b := l.nature(c.kids[1]), l.nature(c.kids[2])
		if sameNature(a, b) {
			return a
		}
		return nature.Nature{}
	}
	return natureOfGo(reflect.TypeFor[bool]())
}

// letType compiles a let if necessary, so that its type is known.
func (c *compiler) letType(s *symbol) {
	l := s.let
	if l.state != letNew {
		return // a cycle, reported by checkCycles
	}
	l.state = letOpen
	c.engine.declare(s.key, nature.Nature{}) // until it is compiled, and if that fails
	snip := snippetOf(l.scope, l.decl.expr)
	root, nt := c.expression(snip, false)
	l.root = root
	l.state = letDone
	if root == nil {
		return
	}
	root.walk(func(o *operand) { o.branch = root.op != leaf })
	if s.typ != nil { // a param with its own type
		c.checkValue(snip, root, nt, s.typ, "the param "+quote(l.decl.name), "param-value")
	} else if root.op == leaf {
		s.typ = root.operand.typ
	}
	c.engine.declare(s.key, nt)
}
