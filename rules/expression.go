package rules

import (
	"errors"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/ralph-sdk/ralph/schema"
)

// expression is an expression of the policy: its text, and when it is compiled, the operands that it consists of.
type expression struct {
	at        spot
	source    string
	condition bool         // it must be true or false
	symbol    *symbol      // of a let
	text      *symbol      // of start
	parsed    *parser.Tree // of an index, which is part of a larger expression
	target    *schema.Type // of a value to set

	begun   bool // compiling it has begun
	root    *cond
	leaves  []*operand // of root, from left to right
	missing []*symbol  // facts that it asks missing(…) of
	problem error      // why it cannot be used
}

// cond is a condition of three-valued logic, or a single operand.
type cond struct {
	op   string // "and", "or", "not"; "" for an operand
	l, r *cond  // not has l only
	leaf *operand
}

// operand is what expr evaluates as a whole.
type operand struct {
	text    string
	slot    *ast.Node // in the tree of its expression
	program *vm.Program
	reads   []read
	asks    []*symbol // facts that it asks about, as ok(state) does
}

// read is a path that an operand reads. What covers it, ?? or ?., lets it be missing.
type read struct {
	path    *valuePath
	covered bool
}

// valuePath is a name, or a field below one. All operands share the paths of a policy, so that each is tested once in an evaluation.
type valuePath struct {
	id       int
	root     *symbol
	steps    []string // below the root
	written  []string // the name that expressions read, which is that of the root or of an inline field, and what is below it
	typ      *schema.Type
	defaults bool // there are defaults below it
}

func (p *valuePath) String() string {
	return strings.Join(append([]string{p.root.name}, p.steps...), ".")
}

// absent says that there is no such field.
type absent valuePath

func (p *absent) Error() string { return (*valuePath)(p).String() + " is absent" }

// in returns the value of the path's name, and that of the path, in the value of its root.
func (p *valuePath) in(v any) (top, at any, ok bool) {
	if len(p.written) > len(p.steps) { // the name is that of the root
		at, ok = fieldAt(v, p.steps)
		return v, at, ok
	}
	if top, ok = fieldAt(v, p.steps[:1]); ok && len(p.steps) > 1 {
		at, ok = fieldAt(top, p.steps[1:])
		return top, at, ok
	}
	return top, top, ok
}

// path returns the shared path of a name and its fields.
func (c *compiler) path(root *symbol, steps []string) *valuePath {
	written := append([]string{root.name}, steps...)
	key := strings.Join(written, "\x00")
	p := c.paths[key]
	if p == nil {
		p = &valuePath{id: len(c.paths), root: root, steps: steps, written: written}
		if root.meaning == fieldName {
			p.root, p.steps = root.fact.symbol, written
		}
		p.typ = p.root.typ.At(p.steps...)
		p.defaults = p.typ != nil && p.typ.Go == nil && hasDefaults(p.typ, map[*schema.Type]bool{})
		c.paths[key] = p
	}
	return p
}

// hasDefaults reports whether there are defaults within a type.
func hasDefaults(t *schema.Type, seen map[*schema.Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	for _, field := range t.Properties {
		if field != nil && field.HasDefault || hasDefaults(field, seen) {
			return true
		}
	}
	return hasDefaults(t.Items, seen) || hasDefaults(t.Extra, seen)
}

func (c *compiler) newExpression(at spot, source string) *expression {
	x := &expression{at: at, source: source, text: c.startText}
	c.expressions = append(c.expressions, x)
	return x
}

// ready compiles an expression of a lazy policy when it is first reached.
func (x *expression) ready(c *compiler) {
	if c.Lazy {
		c.lock.Lock()
		defer c.lock.Unlock()
		c.compile(x)
	}
}

var errBroken = errors.New("the expression cannot be used")

// compile makes operands of an expression. What is wrong with it is reported, and is the problem of the expression from then on.
func (c *compiler) compile(x *expression) {
	if x.begun {
		return
	}
	x.begun = true
	x.problem = errBroken
	found := len(c.findings)
	root := c.operands(x)
	if len(c.findings) == found {
		x.root, x.problem = root, nil
		return
	}
	x.problem = Findings{c.findings[found]}
	if c.Lazy {
		c.findings = c.findings[:found]
	}
}

// operands parses, resolves and checks an expression as a whole, and then compiles the parts of the same tree.
func (c *compiler) operands(x *expression) *cond {
	tree, err := x.parsed, error(nil)
	if tree == nil {
		tree, err = c.engine.parse(x.source)
	}
	if err != nil {
		c.explain(x, nil, err)
		return nil
	}
	found := len(c.findings)
	root, leaves := split(&tree.Node)
	x.leaves = leaves
	w := &walk{c: c, x: x, part: map[ast.Node]bool{}, covered: map[ast.Node]bool{}, text: map[ast.Node]bool{}, local: map[string]bool{}}
	for _, o := range leaves {
		w.names(o)
	}
	if len(c.findings) > found {
		return nil // what expr says of it would follow from this
	}
	if err = c.engine.check(tree); err == nil {
		if x.symbol != nil {
			c.engine.conf.Env.Fields[x.symbol.name] = *tree.Node.Nature()
		}
		w.types(tree.Node, root)
	}
	for _, o := range leaves {
		if err == nil {
			o.program, err = c.engine.compile(*o.slot, tree.Source)
		}
	}
	if err != nil {
		c.explain(x, tree, err)
	}
	return root
}

// split finds the operands of a tree: the parts below and, or, not.
func split(slot *ast.Node) (*cond, []*operand) {
	switch n := (*slot).(type) {
	case *ast.BinaryNode:
		if op := map[string]string{"and": "and", "&&": "and", "or": "or", "||": "or"}[n.Operator]; op != "" {
			l, left := split(&n.Left)
			r, right := split(&n.Right)
			return &cond{op: op, l: l, r: r}, append(left, right...)
		}
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			l, left := split(&n.Node)
			return &cond{op: "not", l: l}, left
		}
	}
	o := &operand{text: (*slot).String(), slot: slot}
	return &cond{leaf: o}, []*operand{o}
}

func (s spot) plus(n int) spot { return spot{s.node, s.off + n} }
