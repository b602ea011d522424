package rules

import (
	"fmt"
	"reflect"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/schema"
)

// nameInfo is a name that every policy has, with its type.
type nameInfo struct {
	*vocab.Entry
	typ    *schema.Schema // of plain data
	goType reflect.Type   // of functions, times, durations and the loop memory
	zero   any            // the value if the world has none
	mark   *mask          // of the value; nil shows all
}

// knownNames returns the names that every policy has, without env.NAME, which is open.
func knownNames() []nameInfo {
	all := vocab.Names()
	out := make([]nameInfo, len(all))
	for i := range all {
		n := &out[i]
		n.Entry = &all[i]
		if n.typ = typeOfZero(n.Zero); n.Memory || n.typ == nil {
			n.typ, n.goType = nil, reflect.TypeOf(n.Zero)
		}
		n.complete()
	}
	return out
}

// The types of most names.
var (
	textType = &schema.Schema{Kind: schema.String}
	boolType = &schema.Schema{Kind: schema.Bool}
	intType  = &schema.Schema{Kind: schema.Int}
)

// typeOfZero returns the schema type of a name's value, nil if there is none.
func typeOfZero(zero any) *schema.Schema {
	fields := func(of map[string]any) map[string]*schema.Schema {
		out := make(map[string]*schema.Schema, len(of))
		for name, v := range of {
			out[name] = typeOfZero(v)
		}
		return out
	}
	switch zero := zero.(type) {
	case nil:
		return &schema.Schema{}
	case string:
		return textType
	case bool:
		return boolType
	case int:
		return intType
	case *float64:
		return &schema.Schema{Kind: schema.Number, Nullable: true}
	case []string:
		return &schema.Schema{Kind: schema.Array, Elem: typeOfZero("")}
	case vocab.Enum:
		t := &schema.Schema{Kind: schema.String}
		for _, w := range zero {
			t.Enum = append(t.Enum, w)
		}
		return t
	case vocab.Items:
		return &schema.Schema{Kind: schema.Array, Elem: &schema.Schema{Kind: schema.Object, Fields: fields(zero)}}
	case vocab.Object:
		return &schema.Schema{Kind: schema.Object, Fields: fields(zero), Nullable: true}
	}
	return nil
}

// called reports whether the name is a function.
func (n *nameInfo) called() bool {
	return n.goType != nil && n.goType.Kind() == reflect.Func || n.Name == vocab.Now
}

// complete sets what follows from the rest, once instead of in each evaluation.
func (n *nameInfo) complete() *nameInfo {
	if n.zero = n.Zero; n.goType == nil {
		n.zero = n.typ.Zero()
	}
	if n.Private {
		n.mark = hidden()
	} else if n.Shown != nil {
		n.mark = showing(n.Shown...)
	}
	if n.mark != nil {
		n.mark.words = !n.Secret
	}
	return n
}

// take converts what the world returned for a name to the type in rules. Functions charge for every call. problem says
// why it does not have that type.
func (n *nameInfo) take(v any, m *meter) (taken any, problem string) {
	if n.goType == nil {
		switch n.typ.Kind {
		case schema.String:
			if _, ok := v.(string); ok {
				return v, ""
			}
		case schema.Bool:
			if _, ok := v.(bool); ok {
				return v, ""
			}
		}
		plain, err := plainOf(with(m.ctx), v, 0)
		if err != nil {
			return nil, "cannot be used: " + err.Error()
		}
		if plain == nil {
			return n.zero, ""
		}
		r := n.typ.Check(schema.Document{Value: zeroed(n.typ, plain), Typed: true})
		if len(r.Unusable) > 0 {
			return nil, r.Unusable[0].Text()
		}
		return r.Value, ""
	}
	rv := reflect.ValueOf(v)
	if rv.Kind() == reflect.Func && rv.IsNil() {
		return n.zero, ""
	}
	if !rv.CanConvert(n.goType) || rv.Kind() != n.goType.Kind() {
		return nil, fmt.Sprintf("cannot be used: expected a %s; got a %T", n.goType, v)
	}
	switch f := rv.Convert(n.goType).Interface().(type) {
	case func(string) bool:
		return func(s string) bool { m.ask(len(s)); return f(s) }, ""
	case func(string) string:
		return func(s string) string { m.ask(len(s)); return f(s) }, ""
	case func(int) []any:
		return func(n int) []any { m.ask(0); return f(n) }, ""
	default:
		return f, ""
	}
}
