package rules

import (
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/checker/nature"
	exprcompiler "github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/optimizer"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/ralph-sdk/ralph/next/schema"
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
type engine struct{ conf *conf.Config }

func newEngine() *engine {
	c := conf.CreateNew()
	c.MaxNodes, c.Strict = maxExpressionNodes, true
	c.Env = nature.NatureOf(map[string]any{})
	c.Env.TypeData = &nature.TypeData{Fields: make(map[string]nature.Nature, 64)}
	c.Env.Strict = true
	c.Env.Fields[selfName] = nature.FromType(reflect.TypeFor[*evaluation]())
	for _, f := range functions() {
		c.Functions[f.Name] = f
	}
	return &engine{c}
}

// selfName is the name of the evaluation in the environment. No expression can write it: it has a space.
const selfName = " evaluation"

// declare gives a name its type.
func (e *engine) declare(name string, t *schema.Type) { e.conf.Env.Fields[name] = t.Expr().Nature() }

// declareAs gives a name the type of an expression.
func (e *engine) declareAs(name string, tree *parser.Tree) {
	e.conf.Env.Fields[name] = *tree.Node.Nature()
}

// declareFunction adds a function of the embedding program.
func (e *engine) declareFunction(f *builtin.Function) { e.conf.Functions[f.Name] = f }

func (e *engine) isFunction(name string) bool {
	return e.conf.Functions[name] != nil || e.conf.Builtins[name] != nil
}

// functionNames returns the names of all functions, for guesses.
func (e *engine) functionNames() []string {
	return append(sortedKeys(e.conf.Functions), sortedKeys(e.conf.Builtins)...)
}

// exprError is a problem at a place of an expression, in characters.
type exprError struct {
	from, width int
	message     string
}

func toExprError(err error, src string) *exprError {
	if fe := (*file.Error)(nil); errors.As(err, &fe) {
		return &exprError{fe.From, max(1, fe.To-fe.From), fe.Message}
	}
	return &exprError{0, utf8.RuneCountInString(src), err.Error()}
}

// parse reads an expression without looking at its names and types.
func (e *engine) parse(src string) (tree *parser.Tree, problem *exprError) {
	if len(src) > maxExpressionBytes {
		return nil, &exprError{0, 1, fmt.Sprintf("an expression has at most %d bytes, and this has %d", maxExpressionBytes, len(src))}
	}
	defer recovered(&problem)
	tree, err := parser.ParseWithConfig(src, e.conf)
	if err != nil {
		return nil, toExprError(err, src)
	}
	return tree, nil
}

// check finds the types of a whole tree.
func (e *engine) check(tree *parser.Tree) (problem *exprError) {
	defer recovered(&problem)
	if _, err := new(checker.Checker).PatchAndCheck(tree, e.conf); err != nil {
		return toExprError(err, tree.Source.String())
	}
	return nil
}

// compile makes a program of a part of a checked tree.
func (e *engine) compile(n ast.Node, src file.Source) (p *vm.Program, problem *exprError) {
	defer recovered(&problem)
	ast.Walk(&n, soften{})
	err := optimizer.Optimize(&n, e.conf)
	if err == nil {
		p, err = exprcompiler.Compile(&parser.Tree{Node: n, Source: src}, e.conf)
	}
	if err != nil {
		return nil, toExprError(err, src.String())
	}
	return p, nil
}

func recovered(problem **exprError) {
	if r := recover(); r != nil {
		*problem = &exprError{0, 1, fmt.Sprintf("expr cannot read this: %v", r)}
	}
}

// soften keeps the compiler from instructions that rely on the exact Go type of a value: where the schema says integer there may be 2.0,
// and in an element of a list nothing.
type soften struct{}

type anyString string

func (soften) Visit(n *ast.Node) {
	switch (*n).(type) {
	case *ast.IdentifierNode, *ast.MemberNode, *ast.PointerNode:
		switch (*n).Type() {
		case reflect.TypeFor[int]():
			(*n).SetType(reflect.TypeFor[float64]())
		case reflect.TypeFor[string]():
			(*n).SetType(reflect.TypeFor[anyString]())
		}
	}
}

// Kinds of results that the checker found.
func isBool(n ast.Node) bool   { return n.Nature().Kind == reflect.Bool }
func isString(n ast.Node) bool { return n.Nature().Kind == reflect.String }
func isNumber(n ast.Node) bool { return n.Nature().IsInteger || n.Nature().IsFloat }
func isUnknown(n ast.Node) bool {
	return n.Nature().Type == nil && !n.Nature().Nil || n.Nature().Kind == reflect.Interface
}

// typeName returns the name of a checked type for people.
func typeName(n ast.Node) string {
	if n.Nature().Nil {
		return "nil"
	}
	return typeWord(n.Nature().String())
}
