package rules

import (
	"reflect"
	"slices"
	"time"

	"github.com/expr-lang/expr/ast"
)

// durations reports durations in a checked expression that expr's checker accepts and its machine does not.
func (l *leaves) durations(n, parent ast.Node) {
	warn := func(n ast.Node, message string) {
		from, to, _ := l.text(n)
		l.warn(from, to, "bad-argument", "use a number: .Minutes() and .Seconds() of a duration are numbers", message+", so this cannot be evaluated")
	}
	switch t := n.(type) {
	case *ast.BuiltinNode:
		if len(t.Arguments) == 0 {
			break
		}
		arg := t.Arguments[len(t.Arguments)-1]
		switch {
		case slices.Contains([]string{"abs", "ceil", "floor", "round", "float"}, t.Name) && isDuration(arg):
			warn(t, t.Name+" takes a number; got a duration")
		case slices.Contains([]string{"sum", "min", "max"}, t.Name) && holdsDurations(arg):
			warn(t, t.Name+" takes numbers; got durations")
		}
	case *ast.BinaryNode:
		_, used := parent.(*ast.BinaryNode)
		for _, sides := range [...][2]ast.Node{{t.Left, t.Right}, {t.Right, t.Left}} {
			if used && t.Operator == "*" && isDuration(sides[0]) && sides[1].Type().Kind() == reflect.Float64 {
				warn(sides[1], "a duration cannot be multiplied by a fraction")
			}
		}
	}
	children(n, func(c *ast.Node) { l.durations(*c, n) })
}

// holdsDurations reports whether the elements of a list, or the results of its predicate, are durations. min and max
// work for durations that are not in a list.
func holdsDurations(n ast.Node) bool {
	switch t := n.(type) {
	case *ast.ArrayNode:
		return slices.ContainsFunc(t.Nodes, isDuration)
	case *ast.PredicateNode:
		return isDuration(t.Node)
	case *ast.BuiltinNode:
		return t.Name == "map" && holdsDurations(t.Arguments[len(t.Arguments)-1])
	}
	return false
}

func isDuration(n ast.Node) bool { return n.Type() == reflect.TypeFor[time.Duration]() }
