package rules

import (
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker/nature"
)

// meter makes a checked leaf charge for its work: what can take long for large values becomes a call that receives the
// meter. The leaf is not checked again, so calls keep the types of what they replace. Operations on numbers, and
// comparisons with a constant, always take the same time and stay.
func (e *engine) meter(n *ast.Node) { e.meterWithin(n, false) }

func (e *engine) meterWithin(n *ast.Node, loop bool) {
	switch t := (*n).(type) {
	case *ast.PredicateNode:
		loop = true
	case *ast.BinaryNode:
		if p, ok := t.Right.(*ast.StringNode); ok && t.Operator == "matches" {
			if made, err := e.patterns.of(p.Value); err == nil {
				constant := &ast.ConstantNode{Value: made}
				constant.SetLocation(p.Location())
				constant.SetNature(nature.Nature{})
				t.Right = constant
			}
		}
	}
	children(*n, func(c *ast.Node) { e.meterWithin(c, loop) })
	switch t := (*n).(type) {
	case *ast.BinaryNode:
		if isCostly(t) {
			replace(n, operatorKey, &ast.StringNode{Value: t.Operator}, t.Left, t.Right)
		}
	case *ast.BuiltinNode:
		e.meterBuiltin(n, t)
	case *ast.CallNode:
		switch callee := t.Callee.(type) {
		case *ast.IdentifierNode:
			if e.hasFunction(callee.Value) {
				t.Arguments = append([]ast.Node{theMeter(t)}, t.Arguments...)
				callee.SetNature(nature.Nature{}) // the types of its parameters no longer count
			}
		case *ast.MemberNode: // a method of a time or a duration
			for i := range t.Arguments {
				replace(&t.Arguments[i], argumentKey, t.Arguments[i])
			}
		}
	case *ast.MemberNode:
		meterKeyOf(&t.Property)
	case *ast.PairNode:
		meterKeyOf(&t.Key)
	case *ast.SliceNode:
		meterLiteral(n, 1+keySteps, loop)
	case *ast.ArrayNode:
		meterLiteral(n, 1+len(t.Nodes)*keySteps, loop)
	case *ast.MapNode:
		meterLiteral(n, objectSteps+len(t.Pairs)*keySteps, loop)
	}
}

// meterBuiltin makes a builtin charge: one with a predicate for the length of its list times the weight of the
// predicate, and for the keys that it hashes or sorts by; any other one for its arguments.
func (e *engine) meterBuiltin(n *ast.Node, b *ast.BuiltinNode) {
	f := builtin.Builtins[builtin.Index[b.Name]]
	switch {
	case f.Predicate && len(b.Arguments) > 0:
		weight := 0
		for i := range b.Arguments[1:] {
			weight += weightOf(&b.Arguments[i+1])
		}
		replace(&b.Arguments[0], loopKey, &ast.StringNode{Value: b.Name}, &ast.IntegerNode{Value: 1 + weight/nodesPerStep}, b.Arguments[0])
		if p, ok := b.Arguments[min(1, len(b.Arguments)-1)].(*ast.PredicateNode); ok && (b.Name == "groupBy" || b.Name == "sortBy") {
			replace(&p.Node, keyKey, p.Node)
		}
	case b.Name == "len" && len(b.Arguments) == 1 && (b.Arguments[0].Nature().IsArray() || b.Arguments[0].Nature().IsMap()):
	case f.Fast != nil || f.Safe != nil || f.Func != nil:
		replace(n, builtinKey, append([]ast.Node{&ast.IntegerNode{Value: builtin.Index[b.Name]}}, b.Arguments...)...)
	}
}

// nodesPerStep is how many nodes of an expression the machine evaluates in a step.
const nodesPerStep = 4

// weightOf returns how many nodes evaluating n visits. A predicate within n charges for itself, and finding a field is
// more work than the rest.
func weightOf(n *ast.Node) int {
	weight := 1
	if _, ok := (*n).(*ast.MemberNode); ok {
		weight = nodesPerStep
	}
	if b, ok := (*n).(*ast.BuiltinNode); ok && len(b.Arguments) > 0 && builtin.Builtins[builtin.Index[b.Name]].Predicate {
		return weight + weightOf(&b.Arguments[0])
	}
	children(*n, func(c *ast.Node) { weight += weightOf(c) })
	return weight
}

// meterKeyOf makes the expression for a key charge: it may be a long string.
func meterKeyOf(key *ast.Node) {
	switch (*key).(type) {
	case *ast.StringNode, *ast.IntegerNode:
		return
	}
	if t := (*key).Nature(); !t.IsInteger {
		replace(key, keyKey, *key)
	}
}

// meterLiteral makes a list or object charge that a loop builds repeatedly.
func meterLiteral(n *ast.Node, steps int, loop bool) {
	if !loop {
		return
	}
	literal := *n
	charge := literal
	replace(&charge, chargeKey, &ast.IntegerNode{Value: steps})
	sequence := &ast.SequenceNode{Nodes: []ast.Node{charge, literal}}
	sequence.SetLocation(literal.Location())
	sequence.SetNature(*literal.Nature())
	*n = sequence
}

// replace replaces *n with a call of ralph's own function of the same type.
func replace(n *ast.Node, name string, args ...ast.Node) {
	old := *n
	callee := &ast.IdentifierNode{Value: name}
	callee.SetLocation(old.Location())
	for _, a := range args {
		if a.Location() == (old.Location()) || a.Location().To == 0 {
			a.SetLocation(old.Location())
		}
	}
	call := &ast.CallNode{Callee: callee, Arguments: append([]ast.Node{theMeter(old)}, args...)}
	call.SetLocation(old.Location())
	call.SetNature(*old.Nature())
	*n = call
}

// theMeter returns the argument that passes on the meter.
func theMeter(at ast.Node) ast.Node {
	id := &ast.IdentifierNode{Value: meterKey}
	id.SetLocation(at.Location())
	return id
}

// isCostly reports whether an operator can take long: it reads strings or lists that are not constants.
func isCostly(b *ast.BinaryNode) bool {
	switch b.Operator {
	case "+":
		return b.Nature().IsString() || isUnknown(*b.Nature())
	case "..", "contains", "startsWith", "endsWith", "matches":
		return true
	case "in":
		return !isLiteralList(b.Right) || !isScalar(b.Left)
	case "==", "!=", "<", "<=", ">", ">=":
		return !isConstant(b.Left) && !isConstant(b.Right) && !isScalar(b.Left) && !isScalar(b.Right)
	}
	return false
}

// isScalar reports whether a node is certainly a number or a boolean, which compares with anything in one step.
func isScalar(n ast.Node) bool {
	if isConstant(n) {
		return true
	}
	t := n.Nature()
	return isBool(*t) || t.IsNumber() || t.IsDuration() || t.IsTime() || t.Nil
}

func isConstant(n ast.Node) bool {
	switch n.(type) {
	case *ast.NilNode, *ast.BoolNode, *ast.IntegerNode, *ast.FloatNode, *ast.StringNode:
		return true
	}
	return false
}

// isLiteralList reports whether a node is a list of constants.
func isLiteralList(n ast.Node) bool {
	list, ok := n.(*ast.ArrayNode)
	return ok && !slices.ContainsFunc(list.Nodes, func(e ast.Node) bool { return !isConstant(e) })
}
