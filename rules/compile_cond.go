package rules

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// connective is how a condition joins its parts.
type connective uint8

const (
	leaf connective = iota
	and
	or
	not
	choose // cond ? a : b
	untrue // true unless its part is true: what is missing is not true yet, what is unusable stays unknown
)

// cond is ralph's skeleton over operands in expr. and, or, not and a top-level conditional are evaluated here, not by
// expr, because they have three values: an operand can be unknown, and facts are gathered only when an operand is
// reached.
type cond struct {
	op      connective
	kids    []*cond
	operand *operand // of a leaf
}

// unless returns a condition that holds where c does, unless until is true. nil is a condition that is always true, or an
// until that does not compile.
func (c *cond) unless(until *cond) *cond {
	if until == nil {
		return c
	}
	yet := &cond{op: untrue, kids: []*cond{until}}
	switch {
	case c == nil:
		return yet
	case c.op == and:
		return &cond{op: and, kids: append(c.kids[:len(c.kids):len(c.kids)], yet)}
	}
	return &cond{op: and, kids: []*cond{c, yet}}
}

// has reports whether an operand is in c.
func (c *cond) has(o *operand) (yes bool) {
	c.walk(func(own *operand) { yes = yes || own == o })
	return yes
}

// walk calls f for every operand of c. A nil condition has none.
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

// values calls f for each operand that can be the value of an expression.
func (c *cond) values(f func(*operand)) {
	switch c.op {
	case leaf:
		f(c.operand)
	case choose:
		c.kids[1].values(f)
		c.kids[2].values(f)
	}
}

// sole returns the operand of a leaf, or of a negated leaf; nil for other conditions.
func (c *cond) sole() *operand {
	for c.op == not {
		c = c.kids[0]
	}
	return c.operand
}

// last returns the last operand of a condition, at which an or ended.
func (c *cond) last() *operand {
	for c.op != leaf {
		c = c.kids[len(c.kids)-1]
	}
	return c.operand
}

// skeleton splits an expression at its connectives into operands. boolean says that the value is used as a condition.
func (l *leaves) skeleton(n ast.Node, boolean bool) *cond {
	switch n := n.(type) {
	case *ast.BinaryNode:
		op := leaf
		switch n.Operator {
		case "and", "&&":
			op = and
		case "or", "||":
			op = or
		}
		if op == leaf {
			break
		}
		c := &cond{op: op, kids: make([]*cond, 0, 2)}
		for _, side := range [...]ast.Node{n.Left, n.Right} {
			k := l.skeleton(side, true)
			if k.op == op { // a and b and c is one condition of three parts
				c.kids = append(c.kids, k.kids...)
			} else {
				c.kids = append(c.kids, k)
			}
		}
		return c
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			_, _, text := l.text(n)
			k := l.skeleton(n.Node, true)
			if o := k.sole(); o != nil {
				o.src.shown, o.src.negated = text, !o.src.negated
			}
			return &cond{op: not, kids: []*cond{k}}
		}
	case *ast.ConditionalNode:
		return &cond{op: choose, kids: []*cond{
			l.skeleton(n.Cond, true),
			l.skeleton(n.Exp1, boolean),
			l.skeleton(n.Exp2, boolean),
		}}
	}
	return &cond{op: leaf, operand: l.operand(n, boolean)}
}

func (c *cond) texts() []string {
	var out []string
	c.walk(func(o *operand) {
		if !slices.Contains(out, o.src.shown) {
			out = append(out, o.src.shown)
		}
	})
	return out
}

// place returns the positions of a condition, from its first operand to its last.
func (c *cond) place() (from, to Pos) {
	c.walk(func(o *operand) {
		if from.Line == 0 {
			from = o.src.pos()
		}
		to = o.src.end()
	})
	return from, to
}
