package rules

import (
	"fmt"
	"reflect"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/checker/nature"
	exprcompiler "github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/ralph-sdk/ralph/schema"
)

// This file is the only one that uses expr's packages for configuration, checking and compiling, which are public but not stable. They
// are used directly because expr.Compile copies its table of functions for each expression, and because a condition is checked as a
// whole and compiled in parts. TestEngine fails if an upgrade changes what this file relies on.

// Limits of one expression. The parser recurses for each bracket, so the length is tested first.
const (
	maxExpressionBytes = 4 << 10
	maxExpressionNodes = 1000
	memoryBudget       = 1_000_000 // of one run: elements of lists and objects that it makes
)

// engine checks and compiles the expressions of one policy. It is not safe for concurrent use.
type engine struct {
	conf    *conf.Config
	schemas map[*nature.TypeData]*schema.Type // of texts with known values
}

func newEngine() *engine {
	c := conf.CreateNew()
	c.MaxNodes, c.Strict = maxExpressionNodes, true
	c.Env = nature.NatureOf(map[string]any{})
	c.Env.TypeData = &nature.TypeData{Fields: make(map[string]nature.Nature, 64)}
	c.Env.Strict = true
	return &engine{c, map[*nature.TypeData]*schema.Type{}}
}

// declare gives a name its type.
func (e *engine) declare(s *symbol) {
	n := s.typ.Expr().Nature()
	if s.typ != nil && s.typ.Go != nil && n.Type != nil { // of a struct the compiler finds the fields in the cache only
		n = e.conf.NtCache.FromType(n.Type)
	}
	e.mark(&n, s.typ)
	e.conf.Env.Fields[s.name] = n
}

// mark ties the types of texts to their schemas, so that the schema can be found where the checker has found the type. Texts have no
// TypeData of their own.
func (e *engine) mark(n *nature.Nature, t *schema.Type) {
	switch {
	case t == nil || t.Go != nil:
	case n.Kind == reflect.String && len(t.Enum)+len(t.Examples) > 0:
		n.TypeData = &nature.TypeData{}
		e.schemas[n.TypeData] = t
	case n.Kind == reflect.Slice && n.Ref != nil:
		e.mark(n.Ref, t.Items)
	case n.Kind == reflect.Map && n.TypeData != nil:
		for name, field := range n.Fields {
			e.mark(&field, t.Properties[name])
			n.Fields[name] = field
		}
	}
}

// isName reports whether expressions can write a name.
func (e *engine) isName(s string) bool {
	tree, err := e.parse(s)
	if err != nil {
		return false
	}
	id, ok := tree.Node.(*ast.IdentifierNode)
	return ok && id.Value == s && s[0] != '$'
}

// recovered makes an error of a panic of expr. Its other errors have places, in characters: see file.Error.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("expr cannot read this: %v", r)
	}
}

// parse reads an expression without looking at its names and types.
func (e *engine) parse(src string) (tree *parser.Tree, err error) {
	if len(src) > maxExpressionBytes {
		return nil, fmt.Errorf("an expression has at most %d bytes, and this has %d", maxExpressionBytes, len(src))
	}
	defer recovered(&err)
	return parser.ParseWithConfig(src, e.conf)
}

// check finds the types of a whole tree.
func (e *engine) check(tree *parser.Tree) (err error) {
	defer recovered(&err)
	_, err = new(checker.Checker).PatchAndCheck(tree, e.conf)
	return err
}

// fieldsAt returns the fields of a checked tree of which one may stand at a place.
func fieldsAt(tree *parser.Tree, from int) (fields []string) {
	ast.Walk(&tree.Node, visitor(func(n *ast.Node) {
		if m, ok := (*n).(*ast.MemberNode); ok && m.Property.Location().From == from && m.Node.Nature().TypeData != nil {
			fields = sortedKeys(m.Node.Nature().Fields)
		}
	}))
	return fields
}

// compile makes a program of a part of a checked tree.
func (e *engine) compile(n ast.Node, src file.Source) (p *vm.Program, err error) {
	defer recovered(&err)
	ast.Walk(&n, soften{})
	if err = optimizer.Optimize(&n, e.conf); err != nil {
		return nil, err
	}
	return exprcompiler.Compile(&parser.Tree{Node: n, Source: src}, e.conf)
}

// soften keeps the compiler from instructions that rely on the exact Go type of a value: where the schema says integer there may be 2.0,
// and in an element of a list, or after ?. and ??, nothing.
type soften struct{}

type anyString string

func (soften) Visit(n *ast.Node) {
	switch (*n).(type) {
	case *ast.IntegerNode, *ast.StringNode:
		return
	}
	switch (*n).Type() {
	case reflect.TypeFor[int]():
		(*n).SetType(reflect.TypeFor[float64]())
	case reflect.TypeFor[string]():
		(*n).SetType(reflect.TypeFor[anyString]())
	}
}

// jsonNames lets expressions name the fields of Go structs as JSON does. expr knows the type of a field's value only after the next
// check, so it is repeated.
type jsonNames struct{ again bool }

func (j *jsonNames) Reset()             { j.again = false }
func (j *jsonNames) ShouldRepeat() bool { return j.again }

func (j *jsonNames) Visit(n *ast.Node) {
	m, ok := (*n).(*ast.MemberNode)
	if !ok {
		return
	}
	t := m.Node.Type()
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name, ok := m.Property.(*ast.StringNode)
	if !ok || t.Kind() != reflect.Struct {
		return
	}
	if f, ok := structField(t, name.Value); ok && f.Name != name.Value && f.Tag.Get("expr") == "" {
		name.Value, j.again = f.Name, true
	}
}
