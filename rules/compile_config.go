package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/expr-lang/expr/builtin"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/schema"
)

// checkConfig reports problems with what the embedding program adds, and declares its functions to expressions.
func (c *compiler) checkConfig() {
	fail := func(format string, args ...any) {
		*c.diags = append(*c.diags, Diagnostic{
			Pos: Pos{File: c.program.Name}, Check: "config", Message: fmt.Sprintf(format, args...), Help: "change the Config of the program that loads the policy",
		})
	}
	cfg := c.load.cfg
	for i, k := range cfg.Sources {
		if !isIdentifier(k.Name) || slices.ContainsFunc(append(SourceKinds(), cfg.Sources[:i]...), func(o SourceKind) bool { return o.Name == k.Name }) {
			fail("the source %q cannot be added: its name is not an identifier, or is already used", k.Name)
		} else if every := (SourceKind{Schema: true, Editable: true, Value: SourceValue{Returns: true, Body: true}}); slices.ContainsFunc(every.keys(), func(o form.Key) bool { return o.Name == k.Name }) {
			fail("the source %q cannot be added: its name is a key of facts", k.Name)
		} else if shapes := argumentShapes(); !slices.Contains(shapes, k.Argument) {
			fail("the source %q cannot be added: its Argument must be one of %s; got %q", k.Name, list(shapes), k.Argument)
		}
	}
	first := vocab.Events()[:3] // a program that declares one of the later events keeps it
	for i, name := range cfg.Events {
		if name == "" || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) || slices.Contains(append(first, cfg.Events[:i]...), name) {
			fail("the event %q cannot be added: its name is empty, has a space, or is already used", name)
		}
	}
	for i, e := range cfg.Effects {
		if !isKebab(e.Name) || isEffect(e.Name) || slices.ContainsFunc(cfg.Effects[:i], func(o EffectDecl) bool { return o.Name == e.Name }) {
			fail("the effect %q cannot be added: its name is not kebab-case, or is already used", e.Name)
		}
	}
	for _, f := range cfg.Functions {
		if !isIdentifier(f.Name) || c.names.taken(f.Name) || c.engine.hasFunction(f.Name) && !c.names.young[f.Name] {
			fail("the function %q cannot be added: its name is not an identifier, or is already used", f.Name)
			continue
		}
		own, err := newFunction(f)
		if err != nil {
			fail("the function %q cannot be added: %s", f.Name, err)
			continue
		}
		c.engine.conf.Functions[f.Name] = own
		c.names.own = append(c.names.own, f.Name)
	}
}

var (
	contextType = reflect.TypeFor[context.Context]()
	errorType   = reflect.TypeFor[error]()
)

// newFunction returns a function of the embedding program in the form that expressions call.
func newFunction(f Function) (*builtin.Function, error) {
	fn := reflect.ValueOf(f.Func)
	if fn.Kind() != reflect.Func || fn.IsNil() {
		return nil, fmt.Errorf("its Func must be a function; got %T", f.Func)
	}
	t := fn.Type()
	if n := t.NumOut(); n == 0 || n > 2 || n == 2 && t.Out(1) != errorType || t.Out(0) == errorType {
		return nil, fmt.Errorf("%s must return a result, or a result and an error", t)
	}
	first := 0
	if t.NumIn() > 0 && t.In(0) == contextType {
		first = 1
	}
	var in []reflect.Type
	for i := first; i < t.NumIn(); i++ {
		p := t.In(i)
		if !converts(p) {
			return nil, fmt.Errorf("expressions have no type for a %s", p)
		}
		if t.IsVariadic() && i == t.NumIn()-1 {
			in = append(in, reflect.SliceOf(seen(p.Elem())))
			continue
		}
		in = append(in, seen(p))
	}
	if !converts(t.Out(0)) {
		return nil, fmt.Errorf("expressions have no type for a %s", t.Out(0))
	}
	call := func(m *meter, args []any) (any, error) { return m.call(f.Name, fn, first == 1, args) }
	return meteredFunction(f.Name, call, reflect.FuncOf(in, []reflect.Type{seen(t.Out(0))}, t.IsVariadic())), nil
}

// converts reports whether values of a Go type can convert to those of expressions, as far as the type shows.
func converts(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Chan, reflect.Func, reflect.Complex64, reflect.Complex128, reflect.UnsafePointer:
		return false
	case reflect.Slice, reflect.Array, reflect.Pointer, reflect.Map:
		return converts(t.Elem())
	}
	return true
}

// seen returns the type of a Go type in expressions.
func seen(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Bool, reflect.String:
		if t.PkgPath() == "" {
			return t
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if t == reflect.TypeFor[int]() {
			return t
		}
		if t.PkgPath() == "" {
			return reflect.TypeFor[int]()
		}
	}
	return reflect.TypeFor[any]() // lists, objects, floats and named types convert when the function is called
}

// call calls a function of the embedding program, once for the same arguments.
func (m *meter) call(name string, fn reflect.Value, withContext bool, args []any) (_ any, err error) {
	m.ask(0)
	m.write(args)
	question, err := json.Marshal(args)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	key := name + string(question)
	if a, ok := m.answers[key]; ok {
		return a.value, a.err
	}
	if m.answers == nil {
		m.answers = map[string]answer{}
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: it panicked: %v", name, r)
			m.answers[key] = answer{nil, err}
		}
		m.look = 0 // the call may have taken long
	}()
	value, err := m.callOnce(fn, withContext, args)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	m.answers[key] = answer{value, err}
	return value, err
}

func (m *meter) callOnce(fn reflect.Value, withContext bool, args []any) (any, error) {
	t := fn.Type()
	var in []reflect.Value
	if withContext {
		in = append(in, reflect.ValueOf(m.ctx))
	}
	for i, a := range args {
		at := i
		if withContext {
			at++
		}
		want := t.In(min(at, t.NumIn()-1))
		if t.IsVariadic() && at >= t.NumIn()-1 {
			want = want.Elem()
		}
		v := reflect.New(want)
		if err := give(a, v); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
		in = append(in, v.Elem())
	}
	out := fn.Call(in)
	if len(out) == 2 && !out[1].IsNil() {
		return nil, out[1].Interface().(error)
	}
	plain, err := plainOf(with(m.ctx), out[0].Interface(), 0)
	if err != nil {
		return nil, err
	}
	return new(schema.Schema).Check(schema.Document{Value: plain}).Value, nil
}

// give stores a value of an expression in *to.
func give(v any, to reflect.Value) error {
	rv := reflect.ValueOf(v)
	elem := to.Elem()
	switch {
	case !rv.IsValid():
		return nil // the zero value
	case rv.Type().AssignableTo(elem.Type()):
		elem.Set(rv)
		return nil
	case rv.Kind() == elem.Kind() && rv.CanConvert(elem.Type()) && elem.Kind() <= reflect.Float64 && !elem.CanInt():
		elem.Set(rv.Convert(elem.Type()))
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if f, ok := v.(float64); ok && (elem.CanInt() || elem.CanUint()) && f == math.Trunc(f) {
		b = fmt.Appendf(nil, "%.0f", f)
	}
	if err := json.Unmarshal(b, to.Interface()); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return fmt.Errorf("expected a %s; got %s", elem.Type(), kindOf(v))
		}
		return err
	}
	return nil
}
