package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/schema"
)

// resolver replaces the names of one leaf by the symbols they mean, and notes
// what the leaf reads. It reports what it cannot resolve at the place of the name.
type resolver struct {
	c      *compiler
	scope  *scope
	syms   []*symbol
	props  map[string]bool
	failed bool
	report func(from, to int, check, help, format string, args ...any)
}

func (r *resolver) fail(n ast.Node, check, help, format string, args ...any) {
	r.failed = true
	l := n.Location()
	r.report(l.From, l.To, check, help, format, args...)
}

func (r *resolver) use(s *symbol) {
	s.used.Store(true)
	if !slices.Contains(r.syms, s) {
		r.syms = append(r.syms, s)
	}
}

// node resolves *n in place. vars are the names that expr's own let has bound.
func (r *resolver) node(n *ast.Node, vars []string) {
	switch t := (*n).(type) {
	case *ast.IdentifierNode:
		r.identifier(n, t, vars)
	case *ast.MemberNode:
		if s, ok := t.Property.(*ast.StringNode); ok {
			r.props[s.Value] = true
			if id, ok := t.Node.(*ast.IdentifierNode); ok && r.isNamespace(id.Value, vars) {
				r.member(n, id.Value, s)
				return
			}
		}
		r.node(&t.Node, vars)
		r.node(&t.Property, vars)
	case *ast.CallNode:
		r.call(n, t, vars)
	case *ast.BuiltinNode:
		if t.Name == "now" {
			r.name(n, "now")
			return
		}
		for i := range t.Arguments {
			r.node(&t.Arguments[i], vars)
		}
	case *ast.VariableDeclaratorNode:
		r.node(&t.Value, vars)
		r.node(&t.Expr, append(slices.Clone(vars), t.Name))
	default:
		children(*n, func(child *ast.Node) { r.node(child, vars) })
	}
}

func (r *resolver) isNamespace(name string, vars []string) bool {
	_, ok := r.c.names.namespaces[name]
	return ok && !slices.Contains(vars, name)
}

func (r *resolver) identifier(n *ast.Node, id *ast.IdentifierNode, vars []string) {
	name := id.Value
	if slices.Contains(vars, name) {
		return
	}
	if s := r.scope.symbols[name]; s != nil {
		if s.kind == letSymbol {
			r.c.letType(s)
		}
		r.use(s)
		ast.Patch(n, &ast.IdentifierNode{Value: s.key})
		return
	}
	if info := r.c.names.byName[name]; info != nil {
		if info.goType != nil && name != "now" {
			r.fail(id, "call", "", "%q is a function, write %s(…)", name, name)
			return
		}
		r.name(n, name)
		return
	}
	if members, ok := r.c.names.namespaces[name]; ok {
		help := "write " + name + ".NAME"
		if len(members) > 0 {
			help = "it has " + list(members)
		}
		r.fail(id, "unknown-name", help, "%q is a group of names, not a value", name)
		return
	}
	if r.scope.field(name) != nil {
		s := r.scope.inline
		r.use(s)
		r.props[name] = true
		base := &ast.IdentifierNode{Value: s.key}
		prop := &ast.StringNode{Value: name}
		base.SetLocation(id.Location())
		prop.SetLocation(id.Location())
		ast.Patch(n, &ast.MemberNode{Node: base, Property: prop})
		return
	}
	if name == "$env" {
		r.fail(id, "unknown-name", "name the fact or field that you mean", "$env is not available in policies")
		return
	}
	if _, ok := asks()[name]; ok {
		r.fail(id, "call", "", "%q asks about a fact, write %s(FACT)", name, name)
		return
	}
	known := slices.Concat(r.scope.declared(), r.c.names.flat())
	help := didYouMean(name, known)
	if help == "" {
		help = "this file declares " + list(r.scope.declared())
	}
	r.fail(id, "unknown-name", help, "unknown name %q", name)
}

// member resolves transcript.last, loop.repeats, env.HOME and their like.
func (r *resolver) member(n *ast.Node, space string, prop *ast.StringNode) {
	full := space + "." + prop.Value
	if space != "env" && r.c.names.byName[full] == nil {
		members := r.c.names.namespaces[space]
		r.fail(prop, "unknown-field", didYouMean(prop.Value, members), "%s has no %q, it has %s", space, prop.Value, list(members))
		return
	}
	r.name(n, full)
}

func (r *resolver) name(n *ast.Node, name string) {
	s := r.c.nameSymbol(name)
	r.use(s)
	ast.Patch(n, &ast.IdentifierNode{Value: s.key})
}

func (r *resolver) call(n *ast.Node, call *ast.CallNode, vars []string) {
	id, ok := call.Callee.(*ast.IdentifierNode)
	if ok && !slices.Contains(vars, id.Value) {
		if _, isAsk := asks()[id.Value]; isAsk {
			r.ask(n, id, call)
			return
		}
		if id.Value == "now" {
			if len(call.Arguments) > 0 {
				r.fail(id, "call", "write now()", "now takes no arguments")
				return
			}
			r.name(n, "now")
			return
		}
		info := r.c.names.byName[id.Value]
		switch {
		case r.c.engine.conf.Functions[id.Value] != nil:
		case info != nil && info.goType != nil:
			r.name(&call.Callee, id.Value)
		default:
			known := slices.Concat(builtinNames(), r.c.names.functions())
			r.fail(id, "unknown-function", didYouMean(id.Value, known), "unknown function %q", id.Value)
			return
		}
	} else {
		r.node(&call.Callee, vars)
	}
	for i := range call.Arguments {
		r.node(&call.Arguments[i], vars)
	}
}

func (r *resolver) ask(n *ast.Node, id *ast.IdentifierNode, call *ast.CallNode) {
	facts := r.scope.facts()
	if len(call.Arguments) == 1 {
		if arg, ok := call.Arguments[0].(*ast.IdentifierNode); ok {
			if s := r.scope.symbols[arg.Value]; s != nil && s.kind == factSymbol {
				a := r.c.askSymbol(id.Value, s)
				r.use(a)
				ast.Patch(n, &ast.IdentifierNode{Value: a.key})
				return
			}
			if len(facts) > 0 {
				r.fail(arg, "unknown-fact", didYouMean(arg.Value, facts), "%s(…) asks about a fact, and %q is none; the facts are %s", id.Value, arg.Value, list(facts))
				return
			}
		}
	}
	r.fail(id, "unknown-fact", "", "%s takes the name of one fact: %s(FACT)", id.Value, id.Value)
}

// accesses finds the static paths that a resolved leaf reads from facts.
func (r *resolver) accesses(n ast.Node) []access {
	var out []access
	var visit func(ast.Node)
	visit = func(n ast.Node) {
		if s, path := r.chain(n); s != nil {
			name := s.name
			if r.scope.inline == s && len(path) > 0 {
				name = strings.Join(path, ".")
			} else if len(path) > 0 {
				name += "." + strings.Join(path, ".")
			}
			if !slices.ContainsFunc(out, func(a access) bool { return a.name == name }) {
				out = append(out, access{fact: s, path: path, name: name})
			}
			// An index may read facts itself.
			for m := n; m != nil; {
				switch t := m.(type) {
				case *ast.MemberNode:
					if _, ok := t.Property.(*ast.StringNode); !ok {
						visit(t.Property)
					}
					m = t.Node
				case *ast.ChainNode:
					m = t.Node
				default:
					m = nil
				}
			}
			return
		}
		children(n, func(c *ast.Node) { visit(*c) })
	}
	visit(n)
	return out
}

// chain gives the fact and path that a chain of members reads, or nil.
func (r *resolver) chain(n ast.Node) (*symbol, []string) {
	switch t := n.(type) {
	case *ast.IdentifierNode:
		if s := r.c.table.find(t.Value); s != nil && s.kind == factSymbol {
			return s, nil
		}
	case *ast.ChainNode:
		return r.chain(t.Node)
	case *ast.MemberNode:
		s, path := r.chain(t.Node)
		if s == nil {
			return nil, nil
		}
		step := "*"
		switch p := t.Property.(type) {
		case *ast.StringNode:
			step = p.Value
		case *ast.IntegerNode:
			if p.Value >= 0 {
				step = fmt.Sprint(p.Value)
			}
		}
		return s, append(slices.Clone(path), step)
	}
	return nil, nil
}

// typeOf gives the schema type of a resolved expression where it is plain: a
// chain of members, or a builtin that keeps or takes the elements of a list.
// elems are the element types of the predicates around it. nil means unknown.
func (r *resolver) typeOf(n ast.Node, elems []*schema.Type) *schema.Type {
	switch t := n.(type) {
	case *ast.IdentifierNode:
		if s := r.c.table.find(t.Value); s != nil {
			return s.typ
		}
	case *ast.PointerNode:
		if t.Name == "" && len(elems) > 0 {
			return elems[len(elems)-1]
		}
	case *ast.ChainNode:
		return r.typeOf(t.Node, elems)
	case *ast.MemberNode:
		base := r.typeOf(t.Node, elems)
		if base == nil {
			return nil
		}
		if p, ok := t.Property.(*ast.StringNode); ok {
			if f := base.Fields[p.Value]; f != nil {
				return f
			}
			return base.Extra
		}
		return base.Elem
	case *ast.SliceNode:
		return r.typeOf(t.Node, elems)
	case *ast.BuiltinNode:
		if len(t.Arguments) == 0 {
			return nil
		}
		switch t.Name {
		case "filter", "sortBy", "sort", "reverse", "uniq":
			return r.typeOf(t.Arguments[0], elems)
		case "find", "findLast", "first", "last", "get":
			if base := r.typeOf(t.Arguments[0], elems); base != nil {
				if base.Kind == schema.Object && len(t.Arguments) == 2 {
					if p, ok := t.Arguments[1].(*ast.StringNode); ok {
						return base.Fields[p.Value]
					}
				}
				return base.Elem
			}
		}
	}
	return nil
}

// checkTypes finds what expr's checker does not: fields that are not declared,
// with the nearest name, and comparisons with a value that an enum never has.
func (r *resolver) checkTypes(n ast.Node, elems []*schema.Type) {
	switch t := n.(type) {
	case *ast.MemberNode:
		if p, ok := t.Property.(*ast.StringNode); ok {
			if base := r.typeOf(t.Node, elems); base != nil && len(base.Fields) > 0 && base.Extra == nil && base.Fields[p.Value] == nil {
				names := fieldNames(base)
				r.fail(p, "unknown-field", didYouMean(p.Value, names), "unknown field %q, the declared ones are %s", p.Value, list(names))
			}
		}
	case *ast.BinaryNode:
		switch t.Operator {
		case "==", "!=":
			r.checkEnum(t.Left, t.Right, elems)
			r.checkEnum(t.Right, t.Left, elems)
		case "in":
			if a, ok := t.Right.(*ast.ArrayNode); ok {
				for _, e := range a.Nodes {
					r.checkEnum(t.Left, e, elems)
				}
			}
		}
	case *ast.BuiltinNode:
		if len(t.Arguments) > 1 {
			if _, ok := t.Arguments[1].(*ast.PredicateNode); ok {
				r.checkTypes(t.Arguments[0], elems)
				var elem *schema.Type
				if base := r.typeOf(t.Arguments[0], elems); base != nil {
					elem = base.Elem
				}
				inner := append(slices.Clone(elems), elem)
				for _, a := range t.Arguments[1:] {
					r.checkTypes(a, inner)
				}
				return
			}
		}
	}
	children(n, func(c *ast.Node) { r.checkTypes(*c, elems) })
}

// checkEnum reports a literal that the other side can never be.
func (r *resolver) checkEnum(side, literal ast.Node, elems []*schema.Type) {
	var v any
	switch l := literal.(type) {
	case *ast.StringNode:
		v = l.Value
	case *ast.IntegerNode:
		v = l.Value
	case *ast.BoolNode:
		v = l.Value
	default:
		return
	}
	t := r.typeOf(side, elems)
	if t == nil || len(t.Enum) == 0 || slices.Contains(t.Enum, v) || t.HasDefault && t.Default == v {
		return
	}
	var values []string
	for _, e := range t.Enum {
		values = append(values, fmt.Sprint(e))
	}
	r.fail(literal, "enum", didYouMean(fmt.Sprint(v), values), "this is never %s, it is one of %s", literal.String(), list(values))
}

func fieldNames(t *schema.Type) []string {
	var out []string
	for name := range t.Fields {
		out = append(out, name)
	}
	return out
}
