package rules

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// zeroed adds declared fields that a value lacks: a program that provides a fact omits what it does not know.
func zeroed(t *schema.Schema, v any) any {
	if t == nil {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		for name, field := range t.Fields {
			if e := v[name]; e != nil {
				v[name] = zeroed(field, e)
			} else if !field.Optional && !field.HasDefault && !field.Nullable && field.Kind != schema.Any {
				v[name] = field.Zero()
			}
		}
	case []any:
		for i, e := range v {
			v[i] = zeroed(t.Elem, e)
		}
	}
	return v
}

// errDeep says that a value is too deep, or contains itself.
var errDeep = fmt.Errorf("is nested deeper than %d levels", schema.MaxDepth)

// lazy is what a program gives instead of a value that takes time to get.
type lazy = func(context.Context) (any, error)

// caller calls such a function.
type caller func(lazy) (any, error)

// with returns a caller with a context.
func with(ctx context.Context) caller {
	return func(f lazy) (v any, err error) {
		defer func() {
			if r := recover(); r != nil {
				v, err = nil, fmt.Errorf("it panicked: %v", r)
			}
		}()
		return f(ctx)
	}
}

// lazyOf returns a value as such a function.
func lazyOf(v reflect.Value) (f lazy, ok bool) {
	if v.Kind() != reflect.Func || v.IsNil() || !v.Type().ConvertibleTo(lazyType) {
		return nil, false
	}
	return v.Convert(lazyType).Interface().(lazy), true
}

var (
	lazyType     = reflect.TypeFor[lazy]()
	durationType = reflect.TypeFor[time.Duration]()
	numeralType  = reflect.TypeFor[json.Number]()
)

// called returns what such a function returns, an error included, and any other value as it is.
func called(ctx context.Context, v any) any {
	f, ok := lazyOf(reflect.ValueOf(v))
	if !ok {
		return v
	}
	v, err := with(ctx)(f)
	if err != nil {
		return err
	}
	return v
}

// plainOf converts a Go value to JSON types, in new maps and slices, as encoding/json writes it, except that []byte is a
// string, a nil slice or map is an empty one, a duration stays one, since rules compare it with duration(…), and a
// function is called.
func plainOf(call caller, v any, depth int) (any, error) {
	switch v := v.(type) {
	case nil, bool, string, int, json.Number, time.Duration:
		return v, nil
	case []any:
		if v != nil && depth < schema.MaxDepth {
			var err error
			out := make([]any, len(v))
			for i := 0; i < len(v) && err == nil; i++ {
				out[i], err = plainOf(call, v[i], depth+1)
			}
			return out, err
		}
	case map[string]any:
		if depth < schema.MaxDepth {
			var err error
			out := make(map[string]any, len(v))
			for name, e := range v {
				if out[name], err = plainOf(call, e, depth+1); err != nil {
					return nil, err
				}
			}
			return out, nil
		}
	}
	return plainValue(call, reflect.ValueOf(v), depth)
}

// plainValue is plainOf for a reflected value.
func plainValue(call caller, v reflect.Value, depth int) (any, error) {
	if depth > schema.MaxDepth {
		return nil, errDeep
	}
	v, err := found(v, call)
	if err != nil || !v.IsValid() {
		return nil, err
	}
	switch t := v.Type(); {
	case t == durationType:
		return time.Duration(v.Int()), nil
	case t == numeralType:
		return json.Number(v.String()), nil
	}
	switch shapeOf(v) {
	case anObject:
		out := map[string]any{}
		for name, e := range entries(v) {
			if out[name], err = plainValue(call, e, depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case aList:
		out := make([]any, v.Len())
		for i := range out {
			if out[i], err = plainValue(call, v.Index(i), depth+1); err != nil {
				return nil, err
			}
		}
		return out, nil
	case aScalar:
		switch {
		case v.Kind() == reflect.Slice:
			return string(v.Bytes()), nil
		case v.Kind() == reflect.String:
			return v.String(), nil
		case v.Kind() == reflect.Bool:
			return v.Bool(), nil
		case v.CanInt() && int64(int(v.Int())) == v.Int():
			return int(v.Int()), nil
		case v.CanUint() && v.Uint() <= math.MaxInt:
			return int(v.Uint()), nil
		case v.Kind() == reflect.Float64 && !math.IsNaN(v.Float()) && !math.IsInf(v.Float(), 0):
			return v.Float(), nil
		}
	}
	return marshalled(v)
}

// marshalled converts a value by what encoding/json writes.
func marshalled(v reflect.Value) (plain any, err error) {
	defer func() {
		if r := recover(); r != nil {
			plain, err = nil, errors.New(panicked(r))
		}
	}()
	if v.CanAddr() && goTypeOf(v.Type()).addressed {
		v = v.Addr()
	}
	b, err := json.Marshal(v.Interface())
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	if b[0] == '"' { // as most such values: times, addresses
		var text string
		err := json.Unmarshal(b, &text)
		return text, err
	}
	doc, err := schema.ParseJSON(b)
	if err != nil {
		return nil, err
	}
	return doc.Value, nil
}

// errLazy says that a value has a function in it.
var errLazy = errors.New("is a function")

func panicked(r any) string { return fmt.Sprintf("could not be read: it panicked: %v", r) }

// found follows pointers, and calls functions if call is not nil, up to a value that they do not hide; it is invalid for nil.
func found(v reflect.Value, call caller) (reflect.Value, error) {
	for range schema.MaxDepth {
		switch {
		case !v.IsValid():
			return v, nil
		case v.Kind() == reflect.Interface:
			v = v.Elem()
		case v.Kind() == reflect.Pointer && v.IsNil():
			return reflect.Value{}, nil
		case v.Kind() == reflect.Pointer && !goTypeOf(v.Type()).marshals:
			v = v.Elem()
		default:
			f, ok := lazyOf(v)
			if !ok {
				return v, nil
			}
			if call == nil {
				return v, errLazy
			}
			got, err := call(f)
			if err != nil {
				return reflect.Value{}, lazyError{err}
			}
			v = reflect.ValueOf(got)
		}
	}
	return v, errDeep
}

// lazyError is the error of a function that a program gave instead of a value.
type lazyError struct{ err error }

func (e lazyError) Error() string { return "could not be read: " + e.err.Error() }

// shape is how a Go value is read.
type shape uint8

const (
	written shape = iota // as encoding/json writes it, at once
	aScalar
	aList
	anObject
)

// shapeOf returns the shape of a value that is not a pointer.
func shapeOf(v reflect.Value) shape {
	t := v.Type()
	if g := goTypeOf(t); g.marshals || g.addressed && v.CanAddr() {
		return written
	}
	switch t.Kind() {
	case reflect.Struct:
		return anObject
	case reflect.Map:
		if key := t.Key(); key.Kind() == reflect.String && !key.Implements(texterType) {
			return anObject
		}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() != reflect.Uint8 || t.Kind() == reflect.Array || goTypeOf(t.Elem()).marshals || goTypeOf(t.Elem()).addressed {
			return aList
		}
		return aScalar
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Float64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr, reflect.Float32:
		return aScalar
	}
	return written
}

// entry returns a field of an object; ok is false if the object lacks it.
func entry(v reflect.Value, name string) (e reflect.Value, ok bool) {
	if v.Kind() == reflect.Map {
		if m, ok := v.Interface().(map[string]any); ok {
			e, ok := m[name]
			return reflect.ValueOf(e), ok
		}
		key := reflect.ValueOf(name)
		if t := v.Type().Key(); t != key.Type() {
			key = key.Convert(t)
		}
		e = v.MapIndex(key)
		return e, e.IsValid()
	}
	t := goTypeOf(v.Type())
	i, ok := t.byName[name]
	if !ok {
		return e, false
	}
	return t.fields[i].entry(v)
}

// entry is of, with a value that is written as a string.
func (f *goField) entry(v reflect.Value) (e reflect.Value, ok bool) {
	if e, ok = f.of(v); !ok || !f.quoted {
		return e, ok
	}
	if e.Kind() == reflect.Pointer && !e.IsNil() {
		e = e.Elem()
	}
	if e.Kind() != reflect.Pointer && shapeOf(e) == aScalar {
		b, err := json.Marshal(e.Interface())
		if err == nil {
			e = reflect.ValueOf(string(b))
		}
	}
	return e, true
}

// entries returns the fields of an object.
func entries(v reflect.Value) iter.Seq2[string, reflect.Value] {
	return func(yield func(string, reflect.Value) bool) {
		if v.Kind() == reflect.Map {
			for it := v.MapRange(); it.Next(); {
				if !yield(it.Key().String(), it.Value()) {
					return
				}
			}
			return
		}
		t := goTypeOf(v.Type())
		for i := range t.fields {
			if e, ok := t.fields[i].entry(v); ok && !yield(t.fields[i].name, e) {
				return
			}
		}
	}
}
