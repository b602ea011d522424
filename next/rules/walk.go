package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/next/internal/text"
)

// walk resolves the names of one expression: it collects what each operand reads, and prepares the tree for expr's checker.
type walk struct {
	c       *compiler
	x       *expression
	operand *operand
	locals  []string // of let NAME = …; within the expression
}

// names visits a node. covered says that ?? lets its value be missing.
func (w *walk) names(slot *ast.Node, covered bool) {
	switch n := (*slot).(type) {
	case *ast.IdentifierNode, *ast.MemberNode:
		w.value(slot, covered)
	case *ast.ChainNode:
		w.names(&n.Node, covered)
	case *ast.BinaryNode:
		w.names(&n.Left, covered && n.Operator == "??" || n.Operator == "??")
		w.names(&n.Right, covered && n.Operator == "??")
	case *ast.CallNode:
		w.call(n)
	case *ast.VariableDeclaratorNode:
		w.names(&n.Value, false)
		w.locals = append(w.locals, n.Name)
		w.names(&n.Expr, covered)
		w.locals = w.locals[:len(w.locals)-1]
	default:
		for _, child := range children(*slot) {
			w.names(child, false)
		}
	}
}

// value visits a name with the fields below it.
func (w *walk) value(slot *ast.Node, covered bool) {
	members, root := chain(*slot)
	steps, optional := []string{}, -1
	static := true
	for i, m := range members {
		if m.Optional && optional < 0 && static {
			optional = i
		}
		name, isField := m.Property.(*ast.StringNode)
		if static = static && isField && !m.Method; static {
			steps = append(steps, name.Value)
		}
		if !isField {
			w.names(&m.Property, false)
		}
	}
	id, ok := root.(*ast.IdentifierNode)
	if !ok {
		if len(members) > 0 {
			w.names(&members[0].Node, covered)
		}
		return
	}
	s := w.resolve(id)
	if s == nil {
		return
	}
	switch {
	case covered:
		w.read(s, steps, true)
		for _, m := range members {
			m.Optional = true
		}
		if len(members) > 0 {
			ast.Patch(slot, &ast.ChainNode{Node: *slot})
		}
	case optional >= 0:
		w.read(s, steps, true)
		if optional > 0 {
			w.read(s, steps[:optional-1], false)
		}
	default:
		w.read(s, steps, false)
	}
}

// chain returns the members of a path, the outermost last, and what it begins with.
func chain(n ast.Node) (members []*ast.MemberNode, root ast.Node) {
	for {
		m, ok := n.(*ast.MemberNode)
		if !ok {
			slices.Reverse(members)
			return members, n
		}
		members, n = append(members, m), m.Node
	}
}

// resolve finds what a name means; it is nil for a local name, and for one that is reported.
func (w *walk) resolve(id *ast.IdentifierNode) *symbol {
	c, name := w.c, id.Value
	if slices.Contains(w.locals, name) {
		return nil
	}
	s := c.symbols[name]
	if w.x.start && name == "text" {
		s, id.Value = c.startText, startTextName
	}
	switch {
	case strings.HasPrefix(name, "$"):
		w.report(id, "unknown-name", name+" cannot be read", "write the name itself")
		return nil
	case s == nil && c.engine.isFunction(name):
		w.report(id, "unknown-name", fmt.Sprintf("%s is a function", name), fmt.Sprintf("write %s(…)", name))
		return nil
	case s == nil:
		message, help := habit(name)
		if message == "" {
			message, help = "there is no name "+name, text.Nearest(name, c.names())
		}
		w.report(id, "unknown-name", message, help)
		return nil
	case s.meaning == factName && len(s.inlined) > 1 && s.fact.Name != name:
		w.report(id, "ambiguous-name", fmt.Sprintf("%s is a field of the facts %s and %s", name, s.inlined[0].name, s.inlined[1].name),
			fmt.Sprintf("write %s.%s or %[3]s.%[2]s", s.inlined[0].name, name, s.inlined[1].name))
		return nil
	}
	w.need(s)
	if !s.inside {
		s.inside, s.first = true, w.x.at.plus(id.Location().From)
	}
	if s.let != nil && s.let.state != compiling {
		c.compile(s.let)
	}
	return s
}

// need notes that the expression depends on a name.
func (w *walk) need(s *symbol) {
	s.used = true
	if s.fact != nil {
		s.fact.symbol.used = true
		s = s.fact.symbol
	}
	if !slices.Contains(w.x.needs, s) {
		w.x.needs = append(w.x.needs, s)
	}
}

func (w *walk) read(s *symbol, steps []string, covered bool) {
	p := w.c.path(s, steps)
	for i, r := range w.operand.reads {
		if r.path == p {
			w.operand.reads[i].covered = r.covered && covered
			return
		}
	}
	w.operand.reads = append(w.operand.reads, read{p, covered})
}

// call visits a call, and gives it what it needs besides its arguments.
func (w *walk) call(n *ast.CallNode) {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		w.names(&n.Callee, false)
	} else if !w.function(id) {
		return
	}
	if ok && asking[id.Value] {
		w.ask(n, id.Value)
		return
	}
	for i := range n.Arguments {
		w.names(&n.Arguments[i], false)
	}
	if ok && within[id.Value] {
		n.Arguments = append([]ast.Node{self(n)}, n.Arguments...)
	}
}

// function reports whether a name can be called.
func (w *walk) function(id *ast.IdentifierNode) bool {
	c, name := w.c, id.Value
	if c.engine.isFunction(name) {
		return true
	}
	message, help := habit(name + "()")
	switch {
	case message != "":
	case c.symbols[name] != nil:
		message, help = fmt.Sprintf("%s is no function", name), "leave the brackets out"
	default:
		message, help = "there is no function "+name, text.Nearest(name, c.engine.functionNames())
	}
	w.report(id, "unknown-function", message, help)
	return false
}

// ask replaces the name of a fact by the fact: ok(state) is about state and does not read it.
func (w *walk) ask(n *ast.CallNode, function string) {
	c := w.c
	if len(n.Arguments) != 1 {
		w.report(n, "fact", function+" takes the name of one fact", fmt.Sprintf("write %s(FACT)", function))
		return
	}
	id, ok := n.Arguments[0].(*ast.IdentifierNode)
	var s *symbol
	if ok {
		s = c.symbols[id.Value]
	}
	if s == nil || s.fact == nil || s.fact.Name != s.name {
		what, help := "this", text.Nearest("", c.factNames())
		if ok {
			what, help = id.Value, nearestFact(c, id.Value)
		}
		if s != nil && s.fact != nil {
			help = fmt.Sprintf("write %s(%s), the fact that it is a field of", function, s.fact.Name)
		}
		w.report(n.Arguments[0], "fact", fmt.Sprintf("%s takes the name of a fact, and %s is none", function, what), help)
		return
	}
	w.need(s)
	if function == "missing" {
		w.x.missing = append(w.x.missing, s)
	}
	if !slices.Contains(w.operand.asks, s) {
		w.operand.asks = append(w.operand.asks, s)
	}
	fact := &ast.ConstantNode{Value: s}
	fact.SetLocation(id.Location())
	n.Arguments = []ast.Node{self(n), fact}
}

func self(n ast.Node) ast.Node {
	id := &ast.IdentifierNode{Value: selfName}
	id.SetLocation(n.Location())
	return id
}

func (w *walk) report(n ast.Node, check, message, help string) {
	width := 1
	if id, ok := n.(*ast.IdentifierNode); ok {
		width = utf8.RuneCountInString(id.Value)
	}
	w.c.report(w.x.at.plus(start(n)), width, check, message, help)
}

// children returns the places of the nodes below a node.
func children(n ast.Node) (out []*ast.Node) {
	list := func(nodes []ast.Node) {
		for i := range nodes {
			out = append(out, &nodes[i])
		}
	}
	switch n := n.(type) {
	case *ast.UnaryNode:
		out = append(out, &n.Node)
	case *ast.BinaryNode:
		out = append(out, &n.Left, &n.Right)
	case *ast.ChainNode:
		out = append(out, &n.Node)
	case *ast.MemberNode:
		out = append(out, &n.Node, &n.Property)
	case *ast.SliceNode:
		out = append(out, &n.Node)
		if n.From != nil {
			out = append(out, &n.From)
		}
		if n.To != nil {
			out = append(out, &n.To)
		}
	case *ast.CallNode:
		out = append(out, &n.Callee)
		list(n.Arguments)
	case *ast.BuiltinNode:
		list(n.Arguments)
	case *ast.PredicateNode:
		out = append(out, &n.Node)
	case *ast.VariableDeclaratorNode:
		out = append(out, &n.Value, &n.Expr)
	case *ast.SequenceNode:
		list(n.Nodes)
	case *ast.ConditionalNode:
		out = append(out, &n.Cond, &n.Exp1, &n.Exp2)
	case *ast.ArrayNode:
		list(n.Nodes)
	case *ast.MapNode:
		list(n.Pairs)
	case *ast.PairNode:
		out = append(out, &n.Key, &n.Value)
	}
	return out
}
