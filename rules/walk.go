package rules

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/schema"
)

// walk goes through the operands of one expression before expr's checker does: it resolves names, collects what each operand reads, and
// prepares the tree. It reports names and functions that there are not.
type walk struct {
	c       *compiler
	x       *expression
	operand *operand
	part    map[ast.Node]bool // nodes that are read as a part of another: of a path, of a call
	covered map[ast.Node]bool // nodes whose value ?? lets be missing
	text    map[ast.Node]bool // names that something is compared with, so that they may be meant for texts
	local   map[string]bool   // names of let NAME = …; within the expression
}

// names resolves the names of an operand. A node comes before those below it, since it says what these are part of; what is read is noted
// in the order of the text.
func (w *walk) names(o *operand) {
	w.operand = o
	slots := make([]*ast.Node, 0, 16) // enough for most operands
	ast.Walk(o.slot, visitor(func(slot *ast.Node) { slots = append(slots, slot) }))
	for _, slot := range slices.Backward(slots) {
		switch n := (*slot).(type) {
		case *ast.VariableDeclaratorNode:
			w.local[n.Name] = true
		case *ast.BinaryNode:
			w.text[n.Right] = n.Operator == "==" || n.Operator == "!="
			if n.Operator == "??" {
				w.covered[inChain(n.Left)], w.covered[inChain(n.Right)] = true, w.covered[n]
			}
		case *ast.CallNode:
			w.call(n)
		case *ast.MemberNode:
			w.part[inChain(n.Node)] = true
			w.value(slot)
		case *ast.IdentifierNode:
			w.value(slot)
		}
	}
	slices.Reverse(o.reads)
}

type visitor func(*ast.Node)

func (v visitor) Visit(n *ast.Node) { v(n) }

// value resolves a name with the fields below it.
func (w *walk) value(slot *ast.Node) {
	members, root := chain(*slot)
	id, ok := root.(*ast.IdentifierNode)
	if !ok || w.local[id.Value] || w.part[*slot] {
		return
	}
	if id.Value == "env" {
		w.variable(slot, members)
		return
	}
	s := w.resolve(id)
	if s == nil {
		return
	}
	var steps []string // of the path that is known before it is evaluated
	for _, m := range members {
		name, ok := m.Property.(*ast.StringNode)
		if !ok || m.Method {
			break
		}
		steps = append(steps, name.Value)
	}
	optional, i := len(members)+1, len(members) // the first ?., which covers what is below it within the same chain
	for m, ok := (*slot).(*ast.MemberNode); ok; m, ok = m.Node.(*ast.MemberNode) {
		if i--; m.Optional {
			optional = i
		}
	}
	covered := w.covered[*slot]
	if !covered && optional > 0 && optional <= len(steps) {
		w.read(s, steps[:optional-1], false)
	}
	w.read(s, steps, covered || optional <= len(steps))
	if covered && len(members) > 0 {
		for _, m := range members {
			m.Optional = true
		}
		ast.Patch(slot, &ast.ChainNode{Node: *slot})
	}
}

// variable resolves env.NAME, which is a name of its own.
func (w *walk) variable(slot *ast.Node, members []*ast.MemberNode) {
	name, ok := (*ast.StringNode)(nil), len(members) == 1
	if ok {
		name, ok = members[0].Property.(*ast.StringNode)
	}
	if !ok {
		w.report(*slot, "unknown-name", "env is read by the names of its variables", "write env.NAME")
		return
	}
	full := "env." + name.Value
	s := w.c.symbols[full]
	if s == nil {
		s = w.c.symbol(full, ralphName, typeOf(""))
		s.value = ""
	}
	ast.Patch(slot, &ast.IdentifierNode{Value: full})
	w.need(s, *slot)
	w.read(s, nil, false)
}

// chain returns the members of a path, the outermost last, and what it begins with.
func chain(n ast.Node) (members []*ast.MemberNode, root ast.Node) {
	for {
		m, ok := inChain(n).(*ast.MemberNode)
		if !ok {
			slices.Reverse(members)
			return members, n
		}
		members, n = append(members, m), m.Node
	}
}

// inChain returns the node within the mark that expr puts around a path with ?. up to the last field after it.
func inChain(n ast.Node) ast.Node {
	if c, ok := n.(*ast.ChainNode); ok {
		return c.Node
	}
	return n
}

// resolve finds what a name means, nil for one that is reported.
func (w *walk) resolve(id *ast.IdentifierNode) *symbol {
	c, name := w.c, id.Value
	s := c.name(name)
	if name == "text" && w.x.text != nil {
		s, id.Value = w.x.text, w.x.text.name
	}
	switch {
	case s == nil && c.engine.conf.Builtins[name] != nil, s != nil && s.meaning == function:
		help := fmt.Sprintf("write %s(…)", name)
		if f := c.withField(name); f != nil {
			help = fmt.Sprintf("write %s.%s for the field", f.Name, name)
		}
		w.report(id, "unknown-name", fmt.Sprintf("%s is a function", name), help)
	case s == nil && c.anyName:
		w.need(c.symbol(name, constant, nil), id)
	case s == nil:
		w.report(id, "unknown-name", "there is no name "+name, cmp.Or(habits[name], w.instead(id)))
	case s.meaning == fieldName && len(s.fieldOf) > 1:
		w.report(id, "ambiguous-name", fmt.Sprintf("%s is a field of the facts %s and %s", name, s.fieldOf[0].name, s.fieldOf[1].name),
			fmt.Sprintf("write %s.%s or %s.%s", s.fieldOf[0].name, name, s.fieldOf[1].name, name))
	default:
		w.need(s, id)
		if s.let != nil {
			w.x.missing = append(w.x.missing, s.let.missing...)
		}
		return s
	}
	return nil
}

// instead says what to write for a name that there is not.
func (w *walk) instead(id *ast.IdentifierNode) string {
	c, name := w.c, id.Value
	if f := c.withField(name); f != nil {
		return fmt.Sprintf("write %s.%s, or set inline: true on the fact %[1]s", f.Name, name)
	}
	near := text.Nearest(name, c.named(constant, ralphName, factName, fieldName, letName, givenName))
	if w.text[id] {
		return strings.TrimPrefix(near+fmt.Sprintf(" Or write %q with the quotes if it is a text", name), " Or ")
	}
	return cmp.Or(near, "facts are declared below facts:; within any(…) and the like, write .FIELD for a field of the element")
}

// withField returns a fact with a field of a name, nil if there is none.
func (c *compiler) withField(name string) *Fact {
	i := slices.IndexFunc(c.p.Facts, func(f *Fact) bool { return f.symbol.typ != nil && f.symbol.typ.Properties[name] != nil })
	if i < 0 {
		return nil
	}
	return c.p.Facts[i]
}

// need notes that the expression depends on a name, and compiles what this depends on. A name depends on itself where that has begun.
func (w *walk) need(s *symbol, n ast.Node) {
	if _, ok := s.read[w.x]; ok {
		return
	}
	s.read[w.x] = w.x.at.plus(n.Location().From)
	if s.meaning == fieldName {
		s.fact.symbol.read[w.x] = s.read[w.x]
	}
	for _, x := range behind(w.c, s) {
		if x.problem == errBroken {
			help := ""
			if len(s.fieldOf) > 0 {
				help = fmt.Sprintf("write %s.%s for the field", s.fieldOf[0].name, s.name)
			}
			w.report(n, "cycle", s.name+" depends on itself", help)
		} else if s.let != nil || !w.c.Lazy {
			w.c.compile(x)
		}
	}
}

func (w *walk) read(s *symbol, steps []string, covered bool) {
	o, p := w.operand, w.c.path(s, steps)
	if i := slices.IndexFunc(o.reads, func(r read) bool { return r.path == p }); i >= 0 {
		covered = covered && o.reads[i].covered
		o.reads = slices.Delete(o.reads, i, i+1)
	}
	o.reads = append(o.reads, read{p, covered})
}

// call resolves the function of a call.
func (w *walk) call(n *ast.CallNode) {
	c := w.c
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok { // a field, which is read
		return
	}
	w.part[id] = true
	switch s := c.name(id.Value); {
	case s != nil && (s.meaning == function || s.meaning == constant):
		w.need(s, id)
		w.read(s, nil, false)
	case s != nil:
		w.report(id, "unknown-function", fmt.Sprintf("%s is no function", id.Value), "leave the brackets out")
	default:
		help := cmp.Or(habits[id.Value+"("], text.Nearest(id.Value, append(c.named(function), sortedKeys(c.engine.conf.Builtins)...)))
		w.report(id, "unknown-function", "there is no function "+id.Value, help)
	}
	if asking[id.Value] {
		w.ask(n, id.Value)
	}
}

// ask replaces the name of a fact by its text: ok(state) is about state and does not read it.
func (w *walk) ask(n *ast.CallNode, function string) {
	var s *symbol
	name, help, at := "this", "", ast.Node(n)
	if len(n.Arguments) == 1 {
		w.part[n.Arguments[0]] = true
		if id, ok := n.Arguments[0].(*ast.IdentifierNode); ok {
			s, name, at = w.c.symbols[id.Value], id.Value, id
		}
	}
	if s == nil || s.meaning != factName {
		if s != nil && s.meaning == fieldName {
			help = fmt.Sprintf("write %s(%s), the fact with this field", function, s.fact.Name)
		} else if name != "this" {
			help = text.Nearest(name, w.c.named(factName))
		}
		help = cmp.Or(help, "facts are declared below facts:; exists(…) takes a path")
		w.report(at, "fact", fmt.Sprintf("%s takes the name of a fact, and %s is none", function, name), help)
		return
	}
	w.need(s, n.Arguments[0])
	w.operand.asks = append(w.operand.asks, s)
	if function == "missing" {
		w.x.missing = append(w.x.missing, s)
	}
	ast.Patch(&n.Arguments[0], &ast.StringNode{Value: s.name})
}

// report adds a finding at a node.
func (w *walk) report(n ast.Node, check, message, help string) {
	width := 1
	if id, ok := n.(*ast.IdentifierNode); ok {
		width = utf8.RuneCountInString(id.Value)
	}
	w.c.report(w.x.at.plus(start(n)), width, check, message, help)
}

// start returns where the text of a node begins: a binary node is placed at its operator.
func start(n ast.Node) int {
	from := n.Location().From
	ast.Walk(&n, visitor(func(m *ast.Node) {
		if l := (*m).Location(); l.To > 0 { // the parser leaves some nodes without a place
			from = min(from, l.From)
		}
	}))
	return from
}

// types reports, in a checked tree, comparisons with a value that there never is, an operand that is not true or false, and a value that
// does not fit where it is set.
func (w *walk) types(tree ast.Node, root *cond) {
	known, x := w.c.engine.schemas, w.x
	ast.Walk(&tree, visitor(func(n *ast.Node) {
		if b, ok := (*n).(*ast.BinaryNode); ok && (b.Operator == "==" || b.Operator == "!=" || b.Operator == "in") {
			w.compare(known[b.Left.Nature().TypeData], b.Right)
			w.compare(known[b.Right.Nature().TypeData], b.Left)
		}
	}))
	for _, o := range x.leaves {
		n := *o.slot
		switch condition := x.condition || root.op != ""; {
		case condition && n.Nature().Kind == reflect.Bool, !condition && x.target == nil, typeName(n) == aValue:
		case condition:
			w.c.report(x.at.plus(start(n)), 1, "type", fmt.Sprintf("a condition is true or false, and %s is %s", o.text, typeName(n)), "compare it with something, or ask for a fact with ok(FACT)")
		case x.target.Kind != "" && typeWord(x.target.Kind) != typeName(n):
			w.c.report(x.at.plus(start(n)), 1, "type", fmt.Sprintf("%s is needed here, and %s is %s", typeWord(x.target.Kind), o.text, typeName(n)), "")
		default:
			w.compare(x.target, n)
		}
	}
}

// compare reports constants of a node that a value of the type never equals.
func (w *walk) compare(t *schema.Type, n ast.Node) {
	if t == nil || len(t.Enum)+len(t.Examples) == 0 {
		return
	}
	known := texts(slices.Concat(t.Enum, t.Examples))
	if t.HasDefault && !slices.Contains(known, show(t.Default)) {
		known = append(known, show(t.Default))
	}
	constants := []ast.Node{n}
	if list, ok := n.(*ast.ArrayNode); ok {
		constants = list.Nodes
	}
	for _, x := range constants {
		if s, ok := x.(*ast.StringNode); ok && s.Value != "" && !slices.Contains(known, s.Value) {
			w.c.report(w.x.at.plus(start(x)), utf8.RuneCountInString(s.Value)+2, "never-equal", fmt.Sprintf("this is never %q", s.Value), text.Nearest(s.Value, known))
		}
	}
}

// checkNames reports names of ralph that may be meant for a field: a fact has a field of the name, which is nowhere read by its whole path.
func (c *compiler) checkNames() {
	for _, s := range c.order {
		for _, first := range s.read {
			if s.meaning != ralphName || len(s.fieldOf) == 0 || c.paths[s.fieldOf[0].name+"\x00"+s.name] != nil {
				break
			}
			c.report(first, len(s.name), "ambiguous-name", fmt.Sprintf("%s is ralph's name, and a field of the fact %s", s.name, s.fieldOf[0].name),
				fmt.Sprintf("write %s.%s for the field; where both are read, %s is ralph's", s.fieldOf[0].name, s.name, s.name))
		}
	}
}

// behind returns the expressions that the value of a name depends on.
func behind(c *compiler, s *symbol) (out []*expression) {
	switch {
	case s.let != nil:
		return []*expression{s.let}
	case s.name == "loop":
		return c.p.progress
	case s.fact != nil:
		for _, args := range append(slices.Collect(maps.Values(s.fact.options)), s.fact.args) {
			for _, t := range args {
				out = append(out, t.exprs...)
			}
		}
	}
	return out
}
