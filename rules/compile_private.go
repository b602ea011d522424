package rules

import (
	"slices"

	"github.com/expr-lang/expr/ast"
)

// flow is a part of what an expression makes: the value of a symbol, or what stands at
// a path in it. Whether that is private shows when it was gathered.
type flow struct {
	sym  *symbol
	path []string // of fields; elements of lists have no step
	made bool     // something was made of it, so that its parts are not known any more
}

// flows says where the values go that an operand reads.
type flows struct {
	value []flow // into its own value
	seen  []flow // no further: into comparisons and counts
	asked []flow // into questions to the world, such as exists
	sums  []flow // into digests, as they are
}

// flowsOf follows the values that a resolved expression reads. Truth values, counts and
// positions give nothing away, so the way ends there.
func flowsOf(n ast.Node, syms []*symbol, t *table) flows {
	if !slices.ContainsFunc(syms, (*symbol).mayHide) {
		return flows{}
	}
	f := &follower{table: t}
	f.out.value = f.node(n)
	return f.out
}

// mayHide reports whether a value of the symbol may be private.
func (s *symbol) mayHide() bool {
	switch s.kind {
	case constSymbol:
		return false
	case nameSymbol:
		return s.info.secrecy() != nil
	case askSymbol:
		return s.ask == "problem" || s.ask == "path"
	}
	return true
}

// follower walks an expression.
type follower struct {
	table    *table
	out      flows
	elements [][]flow   // of the lists that the predicates around the node go through
	sums     [][]flow   // of #acc, beside them
	vars     []variable // that expr's own let has bound
}

type variable struct {
	name string
	of   []flow
}

// made is what is made of values as a whole.
func made(of ...[]flow) []flow {
	all := slices.Concat(of...)
	for i := range all {
		all[i].made = true
	}
	return all
}

// end is where values end that are only looked at.
func (f *follower) end(of ...[]flow) []flow {
	f.out.seen = append(f.out.seen, slices.Concat(of...)...)
	return nil
}

func (f *follower) all(nodes []ast.Node) []flow {
	var out []flow
	for _, n := range nodes {
		out = append(out, f.node(n)...)
	}
	return out
}

// node gives what the value of n is made of.
func (f *follower) node(n ast.Node) []flow {
	switch n := n.(type) {
	case nil:
		return nil
	case *ast.IdentifierNode:
		for _, v := range slices.Backward(f.vars) {
			if v.name == n.Value {
				return v.of
			}
		}
		if s := f.table.find(n.Value); s != nil && s.mayHide() {
			return []flow{{sym: s}}
		}
		return nil
	case *ast.PointerNode:
		of := f.elements
		switch {
		case n.Name == "acc":
			of = f.sums
		case n.Name != "":
			return nil
		}
		if len(of) == 0 {
			return nil
		}
		return of[len(of)-1]
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			return f.end(f.node(n.Node))
		}
		return made(f.node(n.Node))
	case *ast.BinaryNode:
		left, right := f.node(n.Left), f.node(n.Right)
		switch n.Operator {
		case "+", "-", "*", "/", "%", "^", "**", "..":
			return made(left, right)
		case "??":
			return slices.Concat(left, right)
		}
		return f.end(left, right)
	case *ast.ChainNode:
		return f.node(n.Node)
	case *ast.MemberNode:
		return f.member(f.node(n.Node), n.Property)
	case *ast.SliceNode:
		return slices.Concat(f.node(n.Node), made(f.node(n.From), f.node(n.To)))
	case *ast.CallNode:
		return f.call(n)
	case *ast.BuiltinNode:
		return f.builtin(n)
	case *ast.PredicateNode:
		return f.node(n.Node)
	case *ast.ConditionalNode:
		f.end(f.node(n.Cond))
		return slices.Concat(f.node(n.Exp1), f.node(n.Exp2))
	case *ast.VariableDeclaratorNode:
		f.vars = append(f.vars, variable{n.Name, f.node(n.Value)})
		defer func() { f.vars = f.vars[:len(f.vars)-1] }()
		return f.node(n.Expr)
	case *ast.SequenceNode:
		var last []flow
		for _, part := range n.Nodes {
			last = f.node(part)
		}
		return last
	}
	var parts []flow
	children(n, func(c *ast.Node) { parts = append(parts, f.node(*c)...) })
	return made(parts)
}

// member is what stands at a field or index of a value.
func (f *follower) member(of []flow, property ast.Node) []flow {
	name, ok := property.(*ast.StringNode)
	if !ok { // an index, or a name that is only known later
		return slices.Concat(of, made(f.node(property)))
	}
	out := slices.Clone(of)
	for i := range out {
		if !out[i].made {
			out[i].path = append(slices.Clone(out[i].path), name.Value)
		}
	}
	return out
}

// call is what a function gives: one of ralph's names, or one that sees only its
// arguments.
func (f *follower) call(n *ast.CallNode) []flow {
	arguments := f.all(n.Arguments)
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok { // a method
		return made(f.node(n.Callee), arguments)
	}
	s := f.table.find(id.Value)
	if s == nil && id.Value == "digest" { // only a guess can be held against it
		if slices.ContainsFunc(arguments, func(a flow) bool { return a.made }) {
			return f.end(arguments)
		}
		f.out.sums = append(f.out.sums, arguments...)
		return nil
	}
	if s == nil || s.kind != nameSymbol || !s.info.called() {
		return made(arguments)
	}
	f.out.asked = append(f.out.asked, arguments...)
	if s.info.answersYesNo() {
		return f.end(arguments)
	}
	return made(f.node(id), arguments)
}

// builtin is what one of expr's functions gives.
func (f *follower) builtin(n *ast.BuiltinNode) []flow {
	if len(n.Arguments) == 0 {
		return nil
	}
	list := f.node(n.Arguments[0])
	more := n.Arguments[1:]
	if n.Name == "get" && len(more) == 1 {
		return f.member(list, more[0])
	}
	if n.Name == "reduce" {
		start := f.all(more[1:])
		f.elements, f.sums = append(f.elements, list), append(f.sums, made(list, start))
		sum := f.node(more[0])
		f.elements, f.sums = f.elements[:len(f.elements)-1], f.sums[:len(f.sums)-1]
		return made(list, start, sum)
	}
	f.elements = append(f.elements, list)
	rest := f.all(more)
	f.elements = f.elements[:len(f.elements)-1]
	switch n.Name {
	case "len", "type": // of a list or object itself, not of what it holds
		return f.end(slices.DeleteFunc(slices.Clone(list), func(l flow) bool { return !l.made })) // list may be that of a variable
	case "all", "none", "any", "one", "count", "findIndex", "findLastIndex":
		return f.end(rest)
	case "hasPrefix", "hasSuffix", "indexOf", "lastIndexOf":
		return f.end(list, rest)
	case "filter", "find", "findLast", "sortBy":
		f.end(rest)
		return list
	case "first", "last", "take", "reverse", "sort", "uniq":
		return list
	case "map":
		return rest
	}
	return made(list, rest)
}
