package rules

import (
	"errors"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"

	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// resolver replaces the names of one leaf with their symbols, and records what the leaf reads. It reports names that it
// cannot resolve.
type resolver struct {
	c        *compiler
	scope    *scope
	src      string // of the expression
	syms     []*symbol
	props    []string // names of fields
	sections []string // that .section is compared with
	calls    []string // functions of the embedding program
	vars     []string // bound by expr's own let around the current node
	loops    int      // predicates around the current node
	failed   bool
	to       *leaves
}

func (r *resolver) fail(n ast.Node, check, help, message string) {
	r.failed = true
	l := n.Location()
	r.to.fail(l.From, max(l.To, l.From+1), check, help, message)
}

func (r *resolver) use(s *symbol) {
	s.used.Store(true)
	if !slices.Contains(r.syms, s) {
		r.syms = append(r.syms, s)
	}
}

func (r *resolver) names(field string) {
	if !slices.Contains(r.props, field) {
		r.props = append(r.props, field)
	}
}

// node resolves *n in place.
func (r *resolver) node(n *ast.Node) {
	switch t := (*n).(type) {
	case *ast.IdentifierNode:
		r.identifier(n, t)
	case *ast.MemberNode:
		if s, ok := t.Property.(*ast.StringNode); ok {
			if id, ok := t.Node.(*ast.IdentifierNode); ok && r.isNamespace(id.Value) {
				r.member(n, id.Value, s)
				return
			}
			r.names(s.Value)
		}
		r.node(&t.Node)
		r.node(&t.Property)
	case *ast.CallNode:
		r.call(n, t)
	case *ast.BuiltinNode:
		if t.Name == "get" && len(t.Arguments) == 2 {
			if s, ok := t.Arguments[1].(*ast.StringNode); ok {
				r.names(s.Value)
			}
		}
		for i := range t.Arguments {
			r.node(&t.Arguments[i])
		}
	case *ast.PredicateNode:
		r.loops++
		r.node(&t.Node)
		r.loops--
	case *ast.BinaryNode:
		if p, ok := t.Right.(*ast.StringNode); ok && t.Operator == "matches" {
			if _, err := r.c.engine.patterns.of(p.Value); errors.Is(err, errPatterns) {
				r.fail(p, "too-big", "write shorter patterns: a counted repetition is that many copies, which nest", err.Error())
				return
			}
		}
		r.comparesSection(t)
		children(*n, r.node)
	case *ast.VariableDeclaratorNode:
		r.node(&t.Value)
		r.vars = append(r.vars, t.Name)
		r.node(&t.Expr)
		r.vars = r.vars[:len(r.vars)-1]
	default:
		children(*n, r.node)
	}
}

func (r *resolver) isNamespace(name string) bool {
	_, ok := r.c.names.namespaces[name]
	return ok && !slices.Contains(r.vars, name) && !r.scope.hides(name)
}

func (r *resolver) identifier(n *ast.Node, id *ast.IdentifierNode) {
	name := id.Value
	if slices.Contains(r.vars, name) {
		return
	}
	if s := r.scope.symbols[name]; s != nil {
		if s.kind == letSymbol {
			r.c.letType(s)
		}
		r.use(s)
		r.c.index.named(&r.to.snippet, id.Location().From, id.Location().To, name)
		ast.Patch(n, &ast.IdentifierNode{Value: s.key})
		return
	}
	if info := r.c.names.byName[name]; info != nil && !r.scope.hides(name) && (!info.called() || name == vocab.Now) {
		if name == vocab.Now {
			r.fail(id, "call", "write now()", `"now" is a function`)
			return
		}
		r.indexBuiltin(id, id, name)
		r.name(n, name)
		return
	}
	if r.scope.fields[name] != nil {
		s := r.scope.inline
		r.use(s)
		r.names(name)
		base := &ast.IdentifierNode{Value: s.key}
		prop := &ast.StringNode{Value: name}
		base.SetLocation(id.Location())
		prop.SetLocation(id.Location())
		ast.Patch(n, &ast.MemberNode{Node: base, Property: prop})
		return
	}
	if r.scope.open { // possibly a field of an invalid schema
		ast.Patch(n, &ast.NilNode{})
		r.failed = true
		return
	}
	check, help, message := r.unknown(name)
	r.fail(id, check, help, message)
}

// unknown returns the finding on an unknown name, and what to write instead.
func (r *resolver) unknown(name string) (check, help, message string) {
	if members, ok := r.c.names.namespaces[name]; ok {
		help = "write " + name + ".NAME"
		if len(members) > 0 {
			help = "it has " + list(members)
		}
		return "unknown-name", help, quote(name) + " is a group of names, not a value"
	}
	if name == "$env" {
		return "unknown-name", "name the fact or field that you mean", "$env is not available in policies"
	}
	if in := r.scope.inline; in != nil && in.typ != nil && in.typ.Fields[name] != nil {
		what := "a name that every policy has"
		switch {
		case name == "body":
			what = "no field of the front matter"
		case r.c.names.isFunction(name):
			what = "a function"
		}
		return "unknown-name", "write " + in.name + "." + name, quote(name) + " is " + what + ", so the field of that name needs its fact before it"
	}
	if isAsk(name) {
		return "call", "write " + name + "(FACT)", quote(name) + " takes a fact"
	}
	if r.c.names.isFunction(name) {
		return "call", "write " + name + "(…)", quote(name) + " is a function"
	}
	if r.loops > 0 {
		for _, s := range r.syms {
			if elem := elementOf(s.typ); elem != nil && elem.Fields[name] != nil || hasListOf(s.typ, name) {
				return "unknown-name", "write ." + name + " for the field of each element", "unknown name " + quote(name)
			}
		}
	}
	if r.c.diags != nil && r.c.diags.full(Error) {
		return "unknown-name", "", "unknown name " + quote(name)
	}
	if help := r.scope.fieldOfFact(name); help != "" {
		return "unknown-name", help, "unknown name " + quote(name)
	}
	declared := r.scope.declared()
	if word := boolWord(name); word != "" {
		help = "write " + word
	} else if help = nearest.DidYouMean(name, slices.Concat(declared, r.c.names.flat(), []string{"true", "false", "nil"})); help != "" {
		return "unknown-name", help, "unknown name " + quote(name)
	} else if members := r.c.names.members(name); members != nil {
		help = "did you mean " + strings.Join(members, " or ") + "?"
	} else if len(declared) > 0 {
		help = theyAre("the names of this file", declared)
	}
	return "unknown-name", help, "unknown name " + quote(name)
}

// boolWord returns the boolean that yes, No and similar words mean, or "".
func boolWord(name string) string {
	switch name {
	case "yes", "Yes", "YES", "on", "On", "ON", "True", "TRUE":
		return "true"
	case "no", "No", "NO", "off", "Off", "OFF", "False", "FALSE":
		return "false"
	case "null", "Null", "None", "none", "undefined", "NULL":
		return "nil"
	}
	return ""
}

// member resolves transcript.last, loop.repeats, env.HOME and similar names.
func (r *resolver) member(n *ast.Node, space string, prop *ast.StringNode) {
	full := space + "." + prop.Value
	if space != "env" && r.c.names.byName[full] == nil {
		members := r.c.names.namespaces[space]
		r.fail(prop, "unknown-field", nearest.DidYouMean(prop.Value, members), space+" has no "+quote(prop.Value)+"; it has "+list(members))
		return
	}
	if space == "start" && !r.scope.starts {
		r.fail(prop, "early-name", "use it below loop.start", quote(full)+" is known only while a loop starts")
		return
	}
	if info := r.c.names.byName[full]; info != nil && info.called() {
		r.fail(prop, "call", "write "+full+"(…)", quote(full)+" is a function")
		return
	}
	if full == vocab.HookRaw {
		l := prop.Location()
		r.to.warn(l.From, l.To, "hook-raw", "use names that are the same on every host", "hook.raw is untyped and differs between hosts")
	}
	r.indexBuiltin((*n).(*ast.MemberNode).Node, prop, full)
	r.name(n, full)
}

func (r *resolver) name(n *ast.Node, name string) {
	s := r.c.nameSymbol(name)
	r.use(s)
	ast.Patch(n, &ast.IdentifierNode{Value: s.key})
}

func (r *resolver) call(n *ast.Node, call *ast.CallNode) {
	id, ok := call.Callee.(*ast.IdentifierNode)
	switch {
	case ok && !slices.Contains(r.vars, id.Value):
		r.indexBuiltin(id, id, id.Value)
		if isAsk(id.Value) {
			r.ask(n, id, call)
			return
		}
		if id.Value == vocab.Now {
			if len(call.Arguments) > 0 {
				r.fail(id, "call", "write now()", "now takes no arguments")
				return
			}
			r.name(n, vocab.Now)
			return
		}
		info := r.c.names.byName[id.Value]
		switch {
		case r.c.engine.hasFunction(id.Value):
			if slices.Contains(r.c.names.own, id.Value) {
				r.calls = append(r.calls, id.Value)
			}
		case info != nil && info.called():
			r.name(&call.Callee, id.Value)
		case r.isValue(id.Value):
			r.fail(id, "unknown-function", "write "+quote(id.Value)+" without parentheses", quote(id.Value)+" is a value, not a function")
			return
		default:
			known := slices.Concat(builtin.Names, r.c.names.functions())
			r.fail(id, "unknown-function", nearest.DidYouMean(id.Value, known), "unknown function "+quote(id.Value))
			return
		}
	case ok:
		r.fail(id, "unknown-function", "", quote(id.Value)+" is a value, not a function")
		return
	default:
		full := callee(call.Callee)
		space, _, _ := strings.Cut(full, ".")
		if info := r.c.names.byName[full]; info != nil && info.called() && r.isNamespace(space) {
			r.indexBuiltin(call.Callee.(*ast.MemberNode).Node, call.Callee.(*ast.MemberNode).Property, full)
			r.name(&call.Callee, full)
			break
		}
		r.node(&call.Callee)
	}
	for i := range call.Arguments {
		r.node(&call.Arguments[i])
	}
}

// isValue reports whether a name is something other than a function.
func (r *resolver) isValue(name string) bool {
	_, space := r.c.names.namespaces[name]
	return r.scope.symbols[name] != nil || r.scope.fields[name] != nil || r.c.names.byName[name] != nil || space
}

func (r *resolver) ask(n *ast.Node, id *ast.IdentifierNode, call *ast.CallNode) {
	facts := r.scope.facts(nil)
	if len(call.Arguments) == 1 {
		if arg, ok := call.Arguments[0].(*ast.IdentifierNode); ok {
			if s := r.scope.symbols[arg.Value]; s != nil && s.kind == factSymbol {
				r.c.index.named(&r.to.snippet, arg.Location().From, arg.Location().To, arg.Value)
				a := r.c.askSymbol(id.Value, s)
				r.use(a)
				ast.Patch(n, &ast.IdentifierNode{Value: a.key})
				return
			}
			r.fail(arg, "unknown-fact", nearest.DidYouMean(arg.Value, facts), id.Value+"(…) takes a fact; got "+quote(arg.Value)+"; "+theyAre("the facts", facts))
			return
		}
	}
	r.fail(id, "unknown-fact", "", id.Value+" takes the name of one fact: "+id.Value+"(FACT); "+theyAre("the facts", facts))
}

// comparesSection notes the section that items are compared with, if it is known.
func (r *resolver) comparesSection(n *ast.BinaryNode) {
	for _, sides := range [][2]ast.Node{{n.Left, n.Right}, {n.Right, n.Left}} {
		m, ok := sides[0].(*ast.MemberNode)
		if !ok || n.Operator != "==" {
			continue
		}
		if name, ok := m.Property.(*ast.StringNode); !ok || name.Value != "section" {
			continue
		}
		switch t := sides[1].(type) {
		case *ast.StringNode:
			r.sections = append(r.sections, t.Value)
		case *ast.IdentifierNode:
			if s := r.scope.symbols[t.Value]; s != nil && s.kind == constSymbol {
				if text, ok := s.value.(string); ok {
					r.sections = append(r.sections, text)
				}
			}
		}
	}
}
