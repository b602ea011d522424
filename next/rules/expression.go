package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/ralph-sdk/ralph/next/schema"
)

// wanted says what an expression must come to.
type wanted int

const (
	anyValue wanted = iota
	aCondition
	aNumber
)

// expression is an expression of the policy: its text, and when it is compiled, the operands that it consists of.
type expression struct {
	at     spot
	source string
	wanted wanted
	symbol *symbol      // of a let
	parsed *parser.Tree // of an index, which is part of a larger expression
	target *schema.Type // of a value to set
	start  bool         // it is in start, where text is a name

	once    sync.Once
	state   int // of compiling; guarded by the compiler's lock
	root    *cond
	typ     *schema.Type
	needs   []*symbol // what it reads or asks about
	missing []*symbol // facts that it asks missing(…) of
	problem error     // why it cannot be used
}

const (
	raw = iota
	compiling
	compiled
)

// cond is a condition of three-valued logic, or a single operand.
type cond struct {
	op   operator
	l, r *cond // not has l only
	leaf *operand
}

type operator byte

const (
	isLeaf operator = iota
	isAnd
	isOr
	isNot
)

// operand is what expr evaluates as a whole.
type operand struct {
	text    string
	node    ast.Node
	program *vm.Program
	reads   []read
	asks    []*symbol // facts that ok, missing, … are about
}

// read is a path that an operand reads. What covers it, ?? or ?., lets it be missing.
type read struct {
	path    *valuePath
	covered bool
}

// valuePath is a name, or a field below one. All operands share the paths of a policy, so that each is tested once in an evaluation.
type valuePath struct {
	id     int
	root   *symbol
	steps  []string
	typ    *schema.Type
	inline string // the name of an inline field, if it was written as such
	absent error  // says that there is no such field
}

func (p *valuePath) String() string {
	return strings.Join(append([]string{p.root.name}, p.steps...), ".")
}

func (c *compiler) newExpression(at spot, source string, w wanted) *expression {
	x := &expression{at: at, source: source, wanted: w, start: c.inStart}
	c.expressions = append(c.expressions, x)
	return x
}

// ready compiles an expression of a lazy policy when it is first reached.
func (x *expression) ready(c *compiler) *expression {
	x.once.Do(func() {
		if !c.lazy {
			return
		}
		c.lock <- struct{}{}
		defer func() { <-c.lock }()
		c.compile(x)
	})
	return x
}

// compile makes operands of an expression. What is wrong with it is reported once, and is the problem of the expression from then on.
func (c *compiler) compile(x *expression) {
	if x.state != raw {
		return
	}
	x.state = compiling
	found := len(c.findings)
	c.findings = slices.Clip(c.findings)
	c.compileParts(x)
	if len(c.findings) > found {
		f := c.findings[found]
		x.root, x.problem = nil, fmt.Errorf("%s:%d:%d: %s", f.File, f.Line, f.Col, f.Message)
		if c.lazy {
			c.findings = c.findings[:found]
		}
	} else if x.root == nil && x.problem == nil {
		x.problem = errBroken
	}
	x.state = compiled
}

var errBroken = errors.New("the expression cannot be used")

func (c *compiler) compileParts(x *expression) {
	tree, problem := x.parsed, (*exprError)(nil)
	if tree == nil {
		if tree, problem = c.engine.parse(x.source); problem != nil {
			c.explain(x, problem)
			return
		}
	}
	found := len(c.findings)
	root, leaves := split(&tree.Node)
	w := &walk{c: c, x: x}
	for _, l := range leaves {
		w.operand = l.operand
		w.names(l.slot, false)
	}
	if len(c.findings) == found {
		x.typ = (&typeWalk{c: c, x: x}).visit(tree.Node)
	}
	if len(c.findings) > found {
		return // what expr says of it would follow from this
	}
	if problem := c.engine.check(tree); problem != nil {
		c.explain(x, problem)
		return
	}
	if x.symbol != nil {
		c.engine.declareAs(x.symbol.name, tree)
	}
	c.checkWanted(x, root, leaves)
	if x.target != nil {
		c.checkTarget(x, tree.Node)
	}
	for _, l := range leaves {
		l.operand.node = *l.slot
		if l.operand.program, problem = c.engine.compile(*l.slot, tree.Source); problem != nil {
			c.explain(x, problem)
			return
		}
	}
	x.root = root
}

// leaf is an operand with the place of its node in the tree.
type leaf struct {
	slot    *ast.Node
	operand *operand
}

// split finds the operands of a tree: the parts below and, or, not.
func split(slot *ast.Node) (*cond, []leaf) {
	switch n := (*slot).(type) {
	case *ast.BinaryNode:
		op := isLeaf
		switch n.Operator {
		case "and", "&&":
			op = isAnd
		case "or", "||":
			op = isOr
		}
		if op != isLeaf {
			l, left := split(&n.Left)
			r, right := split(&n.Right)
			return &cond{op: op, l: l, r: r}, append(left, right...)
		}
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			l, left := split(&n.Node)
			return &cond{op: isNot, l: l}, left
		}
	}
	o := &operand{text: (*slot).String()}
	return &cond{leaf: o}, []leaf{{slot, o}}
}

// checkWanted reports a condition or an operand that is not true or false, and a value that is no number where one is needed.
func (c *compiler) checkWanted(x *expression, root *cond, leaves []leaf) {
	for _, l := range leaves {
		n := *l.slot
		switch {
		case isUnknown(n):
		case (x.wanted == aCondition || root.op != isLeaf) && !isBool(n):
			help := "compare it with something"
			if name, ok := n.(*ast.IdentifierNode); ok && c.symbols[name.Value] != nil && c.symbols[name.Value].fact != nil && c.symbols[name.Value].inlined == nil {
				help = fmt.Sprintf("write ok(%s) to ask for the fact, or compare it with something", name.Value)
			}
			c.report(x.at.plus(start(n)), 1, "type", fmt.Sprintf("a condition is true or false, and %s is %s", l.operand.text, typeName(n)), help)
		case x.wanted == aNumber && !isNumber(n):
			c.report(x.at.plus(start(n)), 1, "type", fmt.Sprintf("a number is needed, and %s is %s", l.operand.text, typeName(n)), "")
		}
	}
}

// start returns where the text of a node begins: a binary node is placed at its operator.
func start(n ast.Node) int {
	from := n.Location().From
	ast.Walk(&n, visitor(func(m ast.Node) {
		if l := m.Location(); l.To > 0 { // the parser leaves some nodes without a place
			from = min(from, l.From)
		}
	}))
	return from
}

type visitor func(ast.Node)

func (v visitor) Visit(n *ast.Node) { v(*n) }

// path returns the shared path of a name and its fields.
func (c *compiler) path(root *symbol, steps []string) *valuePath {
	key := root.name + "\x00" + strings.Join(steps, "\x00")
	if p := c.paths[key]; p != nil {
		return p
	}
	p := &valuePath{id: len(c.paths), root: root, steps: steps, typ: root.typ}
	if len(root.inlined) == 1 && root.meaning == factName && root.fact.Name != root.name { // an inline field
		p.inline, p.root, p.steps = root.name, root.inlined[0], append([]string{root.name}, steps...)
		p.typ = p.root.typ
	}
	p.typ = p.typ.At(p.steps...)
	p.absent = fmt.Errorf("%s is absent", p)
	c.paths[key] = p
	return p
}
