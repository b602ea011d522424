package rules

import (
	"reflect"
	"slices"
	"unicode"

	"github.com/expr-lang/expr/ast"
)

// children calls f with the address of each direct child of n, so that a child
// can be replaced.
func children(n ast.Node, f func(*ast.Node)) {
	each := func(list []ast.Node) {
		for i := range list {
			f(&list[i])
		}
	}
	opt := func(p *ast.Node) {
		if *p != nil {
			f(p)
		}
	}
	switch n := n.(type) {
	case *ast.UnaryNode:
		f(&n.Node)
	case *ast.BinaryNode:
		f(&n.Left)
		f(&n.Right)
	case *ast.ChainNode:
		f(&n.Node)
	case *ast.MemberNode:
		f(&n.Node)
		f(&n.Property)
	case *ast.SliceNode:
		f(&n.Node)
		opt(&n.From)
		opt(&n.To)
	case *ast.CallNode:
		f(&n.Callee)
		each(n.Arguments)
	case *ast.BuiltinNode:
		each(n.Arguments)
	case *ast.PredicateNode:
		f(&n.Node)
	case *ast.ConditionalNode:
		f(&n.Cond)
		f(&n.Exp1)
		f(&n.Exp2)
	case *ast.VariableDeclaratorNode:
		f(&n.Value)
		f(&n.Expr)
	case *ast.SequenceNode:
		each(n.Nodes)
	case *ast.ArrayNode:
		each(n.Nodes)
	case *ast.MapNode:
		each(n.Pairs)
	case *ast.PairNode:
		f(&n.Key)
		f(&n.Value)
	}
}

// copied returns a copy of n and its descendants, with their types.
func copied(n ast.Node) ast.Node {
	from := reflect.ValueOf(n).Elem()
	to := reflect.New(from.Type())
	to.Elem().Set(from)
	n = to.Interface().(ast.Node)
	switch n := n.(type) { // its list is still that of the original
	case *ast.CallNode:
		n.Arguments = slices.Clone(n.Arguments)
	case *ast.BuiltinNode:
		n.Arguments = slices.Clone(n.Arguments)
	case *ast.SequenceNode:
		n.Nodes = slices.Clone(n.Nodes)
	case *ast.ArrayNode:
		n.Nodes = slices.Clone(n.Nodes)
	case *ast.MapNode:
		n.Pairs = slices.Clone(n.Pairs)
	}
	children(n, func(c *ast.Node) { *c = copied(*c) })
	return n
}

// spanOf returns the runes of src that n and its descendants cover. A node's location is that of its operator or name,
// so the ends come from its children and from closing the brackets that they leave open.
func spanOf(src []rune, n ast.Node) (from, to int) {
	from, to = n.Location().From, n.Location().To
	eachNode(n, func(within ast.Node) {
		if l := within.Location(); l.To > 0 {
			from, to = min(from, l.From), max(to, l.To)
		}
	})
	from, to = max(0, min(from, len(src))), max(0, min(to, len(src)))
	if !slices.ContainsFunc(src, func(c rune) bool { return c == '(' || c == '[' || c == '{' }) {
		return from, to
	}
	to = emptyCall(src, to)
	from = openBrackets(src, from, to)
	return from, closeBrackets(src, from, to)
}

// emptyCall returns the end of the brackets of a call without arguments, whose function ends at to; to if there are
// none.
func emptyCall(src []rune, to int) int {
	open := false
	for i := to; i < len(src); i++ {
		switch c := src[i]; {
		case c == '(' && !open:
			open = true
		case c == ')' && open:
			return i + 1
		case !unicode.IsSpace(c):
			return to
		}
	}
	return to
}

// openBrackets returns the beginning of the brackets right before from that src closes between from and to.
func openBrackets(src []rune, from, to int) int {
	missing := 0
	unquoted(src[:to], from, func(_, depth int) bool {
		missing = max(missing, -depth)
		return true
	})
	start := from
	for i := from - 1; i >= 0 && missing > 0; i-- {
		switch c := src[i]; {
		case c == '(' || c == '[' || c == '{':
			start, missing = i, missing-1
		case !unicode.IsSpace(c):
			return start
		}
	}
	return start
}

// closeBrackets returns the end of the brackets that src opens between from and to, or to if all are closed.
func closeBrackets(src []rune, from, to int) int {
	end, open := to, 0
	unquoted(src, from, func(i, depth int) bool {
		if i >= to && (open <= 0 || depth == 0) {
			if open > 0 {
				end = i + 1
			}
			return false
		}
		open = depth
		return true
	})
	return end
}

// unquoted calls visit for each character from an index on that is not in a string literal, until visit returns false.
// depth is the number of brackets open after the character, negative if more are closed than opened.
func unquoted[T byte | rune](src []T, from int, visit func(i, depth int) bool) {
	depth := 0
	var quoted T
	for i := from; i < len(src); i++ {
		c := src[i]
		if quoted != 0 {
			if c == '\\' && quoted != '`' {
				i++
			} else if c == quoted {
				quoted = 0
			}
			continue
		}
		switch c {
		case '"', '\'', '`':
			quoted = c
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		if !visit(i, depth) {
			return
		}
	}
}

// eachNode calls f with n and its descendants.
func eachNode(n ast.Node, f func(ast.Node)) {
	f(n)
	children(n, func(c *ast.Node) { eachNode(*c, f) })
}

// literalCall returns the function and argument of a call with one literal string, or "".
func literalCall(n ast.Node) (name, argument string) {
	if call, ok := n.(*ast.CallNode); ok && len(call.Arguments) == 1 {
		id, _ := call.Callee.(*ast.IdentifierNode)
		if s, ok := call.Arguments[0].(*ast.StringNode); ok && id != nil {
			return id.Value, s.Value
		}
	}
	return "", ""
}

// nodesOf counts a node and its descendants.
func nodesOf(n ast.Node) (count int) {
	eachNode(n, func(ast.Node) { count++ })
	return count
}
