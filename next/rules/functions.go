package rules

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/expr-lang/expr/builtin"

	"github.com/ralph-sdk/ralph/next/internal/text"
)

// asking are the functions about a fact. Their argument is its name, and they are always decided.
var asking = map[string]bool{"ok": true, "missing": true, "invalid": true, "problem": true, "path": true, "age": true}

// within are the functions that need the evaluation: a call gets it before its arguments.
var within = map[string]bool{"said": true, "mentions": true, "exists": true, "which": true, "now": true, "date": true}

// functions returns what expressions call besides the functions of expr.
func functions() []*builtin.Function {
	fs := []*builtin.Function{
		about("ok", func(e *evaluation, g *gathered) bool { return g.state == yes }),
		about("missing", func(e *evaluation, g *gathered) bool { return g.state == missing }),
		about("invalid", func(e *evaluation, g *gathered) bool { return g.state == failed }),
		about("problem", func(e *evaluation, g *gathered) string { return g.problem() }),
		about("path", func(e *evaluation, g *gathered) string { return g.found.Path }),
		about("age", func(e *evaluation, g *gathered) time.Duration {
			if g.found.Time.IsZero() {
				return 0
			}
			return e.in.Now.Sub(g.found.Time)
		}),
		function("now", func(e *evaluation) time.Time { return e.in.Now }, func(args []any) (any, error) { return args[0].(*evaluation).in.Now, nil }),
		function("date", func(e *evaluation, s string, layout ...string) time.Time { return e.in.Now }, date),
		function("cut", text.Cut, func(args []any) (any, error) { return bounded(args, text.Cut) }),
		function("tail", text.Tail, func(args []any) (any, error) { return bounded(args, text.Tail) }),
		function("folded", folded, func(args []any) (any, error) { return folded(show(args[0])), nil }),
		function("bullets", func(list []any, most ...int) string { return "" }, bullets),
	}
	for _, name := range []string{"said", "mentions", "exists"} {
		fs = append(fs, function(name, func(e *evaluation, s string) bool { return false }, asks[bool](name)))
	}
	return append(fs, function("which", func(e *evaluation, s string) string { return "" }, asks[string]("which")))
}

// function makes a function of expr, whose type is that of the Go function signature.
func function(name string, signature any, f func(args []any) (any, error)) *builtin.Function {
	return &builtin.Function{Name: name, Types: []reflect.Type{reflect.TypeOf(signature)}, Func: func(args ...any) (any, error) { return f(args) }}
}

// about makes a function about a fact.
func about[R any](name string, f func(*evaluation, *gathered) R) *builtin.Function {
	return function(name, func(*evaluation, *symbol) (r R) { return r }, func(args []any) (any, error) {
		e := args[0].(*evaluation)
		return f(e, e.get(args[1].(*symbol))), nil
	})
}

// asks makes a function that the world answers.
func asks[R any](name string) func(args []any) (any, error) {
	return func(args []any) (any, error) {
		s, ok := args[1].(string)
		if !ok {
			return nil, fmt.Errorf("%s takes a text, and this is %s", name, kindOf(args[1]))
		}
		return args[0].(*evaluation).ask(name, s, *new(R))
	}
}

// bounded calls a function of a text and a number.
func bounded(args []any, f func(string, int) string) (any, error) {
	n, ok := wholeNumber(args[1])
	if !ok {
		return nil, fmt.Errorf("%v is no whole number", args[1])
	}
	return f(show(args[0]), n), nil
}

func folded(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

const (
	bulletsAtMost = 20  // unless the call says another number
	bulletLength  = 200 // characters
)

// bullets makes a list of Markdown: each element on a line, cut, and how many more there are.
func bullets(args []any) (any, error) {
	list, ok := args[0].([]any)
	if !ok && args[0] != nil {
		return nil, fmt.Errorf("bullets takes a list, and this is %s", kindOf(args[0]))
	}
	most := bulletsAtMost
	if len(args) > 1 {
		most, _ = wholeNumber(args[1])
	}
	var lines []string
	for i, x := range list {
		if i == most {
			lines = append(lines, fmt.Sprintf("- … and %d more", len(list)-most))
			break
		}
		lines = append(lines, "- "+text.Cut(strings.Join(strings.Fields(show(x)), " "), bulletLength))
	}
	return strings.Join(lines, "\n"), nil
}

// date reads a time. One without zone is in the zone of Input.Now.
func date(args []any) (any, error) {
	s, ok := args[1].(string)
	if !ok {
		return nil, fmt.Errorf("date takes a text, and this is %s", kindOf(args[1]))
	}
	layouts := []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly, time.RFC1123Z, time.RFC1123, time.RFC822Z, time.RFC822}
	if len(args) > 2 {
		layouts = []string{show(args[2])}
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, strings.TrimSpace(s), args[0].(*evaluation).in.Now.Location()); err == nil {
			return t, nil
		}
	}
	return nil, fmt.Errorf("%q is no date such as 2006-01-02 or 2006-01-02T15:04:05Z", text.Cut(s, 40))
}

// declareFunctions adds the functions of the embedding program.
func (c *compiler) declareFunctions() {
	for _, name := range sortedKeys(c.functions) {
		v := reflect.ValueOf(c.functions[name])
		problem := ""
		switch {
		case v.Kind() != reflect.Func || v.IsNil():
			problem = "is no function"
		case v.Type().NumOut() != 1 && (v.Type().NumOut() != 2 || v.Type().Out(1) != reflect.TypeFor[error]()):
			problem = "must return a value, or a value and an error"
		case c.symbols[name] != nil || c.engine.isFunction(name):
			problem = "has a name that is taken"
		}
		if problem != "" {
			c.add(Finding{Line: 1, Col: 1, Check: "name", Message: fmt.Sprintf("the function %s of the program %s", name, problem)})
			continue
		}
		c.engine.declareFunction(function(name, c.functions[name], func(args []any) (any, error) { return call(v, args) }))
	}
}

// call calls a Go function with values of an expression.
func call(f reflect.Value, args []any) (any, error) {
	in := make([]reflect.Value, len(args))
	for i, a := range args {
		t := f.Type().In(min(i, f.Type().NumIn()-1))
		if f.Type().IsVariadic() && i >= f.Type().NumIn()-1 {
			t = t.Elem()
		}
		v := reflect.ValueOf(a)
		switch {
		case a == nil:
			v = reflect.Zero(t)
		case v.Type().AssignableTo(t):
		case v.CanConvert(t) && v.Kind() != reflect.String && t.Kind() != reflect.String:
			v = v.Convert(t)
		default:
			return nil, fmt.Errorf("argument %d is %s", i+1, kindOf(a))
		}
		in[i] = v
	}
	out := f.Call(in)
	if len(out) == 2 && !out[1].IsNil() {
		return nil, out[1].Interface().(error)
	}
	return out[0].Interface(), nil
}
