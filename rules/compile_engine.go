package rules

import (
	"errors"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/checker/nature"
	exprcompiler "github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/conf"
	exprfile "github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/optimizer"
	exprparser "github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/ralph-sdk/ralph/schema"
)

// This file is the only one that calls expr's conf, checker, optimizer and compiler packages, which are public but not
// stable. They are used directly because expr.Compile copies its table of builtins for every expression, which costs
// more than the compilation itself. TestExprUpgrade fails if an upgrade changes what this file relies on.

// Limits on one expression. A million opening parentheses overflow the stack of expr's parser, which no recover can
// catch, so the length is checked first.
const (
	maxExprLength = 4 << 10
	maxExprNodes  = 1000
)

// engine compiles expressions of one program. It is not safe for concurrent use.
type engine struct {
	conf     *conf.Config
	patterns *patterns
}

func newEngine(instructions int) *engine {
	c := conf.CreateNew()
	c.MaxNodes = maxExprNodes
	c.Strict = true
	c.Env = nature.NatureOf(map[string]any{}) // without declared names so far
	c.Env.TypeData = &nature.TypeData{Fields: make(map[string]nature.Nature, 64)}
	c.Env.Strict = true
	for _, f := range functions() {
		c.Functions[f.Name] = f.Function
	}
	for _, f := range metered() {
		c.Functions[f.Name] = f
	}
	return &engine{conf: c, patterns: &patterns{made: map[string]*pattern{}, room: instructions}}
}

// declare declares key to expressions.
func (e *engine) declare(key string, n nature.Nature) { e.conf.Env.Fields[key] = n }

// knows reports whether key was declared to this engine.
func (e *engine) knows(key string) bool {
	_, ok := e.conf.Env.Fields[key]
	return ok
}

// override makes the parser leave calls of a builtin to the resolver.
func (e *engine) override(name string) {
	e.conf.Env.Fields[name] = natureOfGo(reflect.TypeFor[time.Time]())
}

// hasFunction reports whether ralph itself defines a function for expressions.
func (e *engine) hasFunction(name string) bool { return e.conf.Functions[name] != nil }

func isBuiltin(name string) bool { _, ok := builtin.Index[name]; return ok }

// exprError is a problem at a rune offset of an expression.
type exprError struct {
	from, to int
	message  string
}

func toExprError(err error, length int) *exprError {
	var fe *exprfile.Error
	if errors.As(err, &fe) {
		to := fe.To
		if to <= fe.From {
			to = fe.From + 1
		}
		return &exprError{fe.From, to, fe.Message}
	}
	return &exprError{0, length, err.Error()}
}

func (e *engine) parse(src string) (*exprparser.Tree, *exprError) {
	length := utf8.RuneCountInString(src)
	if len(src) > maxExprLength {
		return nil, &exprError{0, length, fmt.Sprintf("the expression is longer than %d bytes", maxExprLength)}
	}
	if isName(src) { // as most placeholders are
		name := &ast.IdentifierNode{Value: src}
		name.SetLocation(exprfile.Location{From: 0, To: len(src)})
		return &exprparser.Tree{Node: name, Source: exprfile.NewSource(src)}, nil
	}
	tree, err := exprparser.ParseWithConfig(src, e.conf)
	if err != nil {
		return nil, toExprError(err, length)
	}
	return tree, nil
}

// isName reports whether an expression is certainly a single name.
func isName(src string) bool {
	for i := range len(src) {
		switch c := src[i]; {
		case c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z':
		case i == 0 || c < '0' || c > '9':
			return false
		}
	}
	return src != "" && !isKeyword(src)
}

// check returns the type of one leaf of a tree.
func (e *engine) check(leaf *exprparser.Tree) (nature.Nature, *exprError) {
	if _, err := checker.Check(leaf, e.conf); err != nil {
		return nature.Nature{}, toExprError(err, 0)
	}
	return *leaf.Node.Nature(), nil
}

// compile compiles a checked leaf, which charges for its work.
func (e *engine) compile(leaf *exprparser.Tree) (*vm.Program, *exprError) {
	n := copied(leaf.Node) // metering and optimizing change it
	e.meter(&n)
	if err := optimizer.Optimize(&n, e.conf); err != nil {
		return nil, toExprError(err, 0)
	}
	p, err := exprcompiler.Compile(&exprparser.Tree{Node: n, Source: leaf.Source}, e.conf)
	if err != nil {
		return nil, toExprError(err, 0)
	}
	return p, nil
}

// natureOf returns the type of data of a schema type in expressions. What can be nil at run time is any, because expr's
// typed code would fail on it.
func natureOf(t *schema.Schema) nature.Nature {
	if t == nil || t.Nullable || t.Optional {
		return nature.Nature{}
	}
	switch t.Kind {
	case schema.Bool:
		return nature.FromType(reflect.TypeFor[bool]())
	case schema.Int:
		return nature.FromType(reflect.TypeFor[int]())
	case schema.String:
		return nature.FromType(reflect.TypeFor[string]())
	case schema.Array:
		n := nature.NatureOf([]any{})
		elem := natureOf(t.Elem)
		n.Ref = &elem
		return n
	case schema.Object:
		n := nature.NatureOf(map[string]any{})
		if len(t.Fields) == 0 && t.Extra == nil {
			return n
		}
		n.TypeData = &nature.TypeData{Fields: make(map[string]nature.Nature, len(t.Fields))}
		n.Strict = t.Extra == nil
		for name, f := range t.Fields {
			n.Fields[name] = natureOf(f)
		}
		if t.Extra != nil {
			extra := natureOf(t.Extra)
			n.DefaultMapValue = &extra
		}
		return n
	}
	// A number, too: 2.0 may be an int or a float64, and expr's comparison of a declared float with an int fails at run
	// time.
	return nature.Nature{}
}

func natureOfGo(t reflect.Type) nature.Nature { return nature.FromType(t) }

// typeName returns the name of an expression's type for messages.
func typeName(n nature.Nature) string {
	if n.Nil {
		return "nil"
	}
	return typeWord(n.String())
}

func isBool(n nature.Nature) bool { return n.Kind == reflect.Bool }

func isUnknown(n nature.Nature) bool {
	return n.Type == nil && !n.Nil || n.Kind == reflect.Interface
}

// sameNature reports whether two branches of a conditional have one type.
func sameNature(a, b nature.Nature) bool {
	return a.Type == b.Type && a.Kind == b.Kind && a.Ref == nil && b.Ref == nil && a.Kind != reflect.Map
}
