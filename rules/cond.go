package rules

import (
	"sync"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// connective is how a condition joins its parts.
type connective uint8

const (
	leaf connective = iota
	and
	or
	not
	choose // cond ? a : b
)

// cond is ralph's own skeleton over expr operands. and, or, not and a top-level
// conditional are not left to expr because they have three values here: an
// operand can be unknown, and facts are gathered only when an operand is reached.
type cond struct {
	op      connective
	kids    []*cond
	operand *operand
}

// operand is a leaf of a skeleton: one expr expression that is evaluated whole.
type operand struct {
	text    string
	scope   *scope
	pos     Pos
	end     Pos
	at      func(offset int) Pos // of a rune of the expression it is part of
	boolean bool                 // its value must be true or false
	prog    *vm.Program
	syms    []*symbol
	reads   []access
	counter bool            // it compares a number with a limit
	props   map[string]bool // property names that occur anywhere in it
	sides   []string        // sub-expressions that Explain shows
	once    sync.Once       // compiles them
	parts   []*part
}

// access is a static path into a fact: state.specs.*.name.
type access struct {
	fact *symbol
	path []string
	name string // as it is written
}

// part is a sub-expression whose value Explain shows.
type part struct {
	text string
	prog *vm.Program
}

// walk calls f for every operand of c.
func (c *cond) walk(f func(*operand)) {
	if c == nil {
		return
	}
	if c.op == leaf {
		f(c.operand)
	}
	for _, k := range c.kids {
		k.walk(f)
	}
}

// skeleton splits an expression at its connectives. leafOf makes an operand of
// what is not split; boolean tells it that the value is used as a condition.
func skeleton(n ast.Node, boolean bool, leafOf func(n ast.Node, boolean bool) *operand) *cond {
	switch n := n.(type) {
	case *ast.BinaryNode:
		var op connective
		switch n.Operator {
		case "and", "&&":
			op = and
		case "or", "||":
			op = or
		}
		if op != leaf {
			c := &cond{op: op}
			for _, side := range []ast.Node{n.Left, n.Right} {
				k := skeleton(side, true, leafOf)
				if k.op == op {
					c.kids = append(c.kids, k.kids...)
				} else {
					c.kids = append(c.kids, k)
				}
			}
			return c
		}
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			return &cond{op: not, kids: []*cond{skeleton(n.Node, true, leafOf)}}
		}
	case *ast.ConditionalNode:
		return &cond{op: choose, kids: []*cond{
			skeleton(n.Cond, true, leafOf),
			skeleton(n.Exp1, boolean, leafOf),
			skeleton(n.Exp2, boolean, leafOf),
		}}
	}
	return &cond{op: leaf, operand: leafOf(n, boolean)}
}
