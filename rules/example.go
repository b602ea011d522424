package rules

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/schema"
)

// note notes the constants of an operand, and which fields of elements it reads: such values are likely to make a difference.
func (m *model) note(p *Policy, n ast.Node) {
	ast.Walk(&n, visitor(func(n *ast.Node) {
		last := max(0, len(m.constants)-1)
		switch x := (*n).(type) {
		case *ast.CallNode:
			if _, fact := asked(x); fact != "" {
				m.constants = m.constants[:last]
			}
		case *ast.MemberNode:
			name, ok := x.Property.(*ast.StringNode)
			if !ok {
				return
			}
			m.constants = m.constants[:last]
			_, root := chain(x)
			if id, ok := root.(*ast.IdentifierNode); !ok || p.compiler.symbols[id.Value] != nil && p.compiler.symbols[id.Value].let != nil {
				m.fields = append(m.fields, name.Value)
			}
		case *ast.StringNode:
			m.constants = append(m.constants, x.Value)
		case *ast.IntegerNode:
			m.constants = append(m.constants, x.Value-1, x.Value, x.Value+1)
		case *ast.BinaryNode:
			if s, ok := x.Right.(*ast.StringNode); ok && (x.Operator == "startsWith" || x.Operator == "contains") {
				m.constants = append(m.constants, s.Value+" x")
			}
		}
	}))
}

// likely returns likely values of a type, "" if it has no kind of its own. depth bounds what is within it: a list has elements down to 2.
func (m *model) likely(t *schema.Type, kind string, depth int) []any {
	if t == nil {
		t = &schema.Type{}
	}
	kind = cmp.Or(kind, t.Kind)
	out := map[string][]any{"boolean": {false, true}, "integer": {0, 1, 2}, "number": {0, 1, 2}, "string": {"another"}, "array": {[]any{}}}[kind]
	for _, k := range m.constants {
		number, isNumber := k.(int)
		low := isNumber && t.Minimum != nil && float64(number) < *t.Minimum
		if kind == "" || !low && (isNumber && (kind == "integer" || kind == "number") || !isNumber && kind == "string") {
			out = append(out, k)
		}
	}
	switch {
	case len(t.Enum) > 0:
		return t.Enum
	case kind == "array" && depth >= 2:
		items := m.likely(t.Items, "", depth-1)
		for i, x := range items {
			if out = append(out, []any{x}); i > 0 {
				out = append(out, []any{items[0], x})
			}
		}
	case kind == "object" && depth > 0, kind == "" && depth == 3:
		out = m.objects(t, depth)
	case kind == "":
		out = append(out, true, "another")
	}
	return out
}

// objects returns an object, and others that differ from it in one field.
func (m *model) objects(t *schema.Type, depth int) []any {
	first, others := map[string]any{}, []any{}
	for _, name := range m.fields {
		field, ok := t.Properties[name]
		if _, done := first[name]; done || !ok && len(t.Properties) > 0 {
			continue
		}
		values := m.likely(field, "", depth-1)
		first[name] = values[0]
		for _, x := range values[1:] {
			others = append(others, map[string]any{name: x})
		}
	}
	for i := range others {
		others[i] = merged(first, others[i].(map[string]any))
	}
	return append([]any{first}, others...)
}

// input is what an evaluation gets in the situation of a model for examples.
func (m *model) input(policy int) Input {
	in := Input{World: m, Now: time.Date(2026, time.January, 1, 12, 0, 0, 0, time.UTC), Values: map[string]any{}}
	for _, s := range m.policies[policy].compiler.order {
		switch {
		case s.goType != nil:
			in.Values[s.name] = reflect.Zero(s.goType).Interface()
		case s.meaning == givenName:
			in.Values[s.name] = ""
		case s.meaning == factName && (m.filled || m.status(s.fact).now != nil): // what is open is not read
			in.Values[s.name] = m.factValue(s)
		case s.name == "loop":
			counts, _ := m.given(s, true).(map[string]any)
			in.Memory.Continuations, _ = counts["continuations"].(int)
			in.Memory.Repeats, _ = counts["repeats"].(int)
			in.Total, _ = counts["total"].(int)
		}
	}
	for _, v := range m.vars {
		if n, _ := v.value().value.(int); v.what == ofCount {
			in.Memory.Prompt = merged(in.Memory.Prompt, map[string]int{v.name: n})
			in.Memory.Applied = merged(in.Memory.Applied, map[string][]time.Time{v.name: slices.Repeat([]time.Time{in.Now}, n)})
		}
	}
	return in
}

// factValue returns the value of a fact as JSON, nil if it is missing.
func (m *model) factValue(s *symbol) any {
	switch m.status(s.fact).value().state {
	case missing:
		return nil
	case failed:
		return json.RawMessage("?")
	}
	b, _ := json.Marshal(m.given(s, true)) // of JSON values
	return json.RawMessage(b)
}

// given builds the value of a name from the variables of its fields. With all, open ones have their first value.
func (m *model) given(s *symbol, all bool) any {
	var out any = map[string]any{}
	if s.typ != nil && (s.typ.Kind == "array" || s.typ.Kind == "string") {
		out = m.likely(nil, s.typ.Kind, 0)[0]
	}
	for _, v := range m.vars {
		r := v.value()
		if v.what != ofValue || v.name != s.name || v.now == nil && !all || r.state == missing {
			continue
		}
		if r.state == failed { // a value of another kind
			r.value = map[bool]any{true: 7, false: "?"}[v.kind == "string"]
		}
		out = put(out, v.path, copied(r.value))
	}
	return out
}

// copied returns a copy of a JSON value, in which put may change objects.
func copied(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := maps.Clone(object)
	for k, x := range out {
		out[k] = copied(x)
	}
	return out
}

// Fact is not asked for a value: the facts that are read are in the input.
func (m *model) Fact(context.Context, Query) Found { return Found{} }

// Name returns what the situation gives.
func (m *model) Name(_ context.Context, name string) (any, error) {
	s := m.policies[len(m.policies)-1].compiler.symbols[name]
	if s == nil {
		s = m.policies[0].compiler.symbols[name]
	}
	return m.given(s, true), nil
}

// Ask returns what the situation gives. No program is found.
func (m *model) Ask(_ context.Context, function, argument string) (any, error) {
	if function == "which" {
		return nil, nil
	}
	v := m.variable(variable{what: ofAnswer, name: function, path: []string{argument}, values: []result{{value: false, state: yes}, {value: true, state: yes}}})
	if m.isOpen(v) {
		return nil, errOpen
	}
	return v.value().value, nil
}

// line shows the situation as the given of a test of a policy.
func (m *model) line(p *Policy) string {
	given := map[string]any{}
	for _, v := range m.vars {
		s := p.compiler.symbols[v.name]
		switch {
		case v.now == nil:
		case v.what == ofCount && v.now.value != 0:
			put(given, []string{"memory", "applied", v.name}, v.now.value)
		case v.what == ofAnswer && v.now.value == true:
			m.answer(given, v.name, v.path[0])
		case s == nil:
		case v.what == ofStatus:
			m.fact(given, s, v.now.state)
		case s.meaning == ralphName && v.name == "loop":
			put(given, append([]string{"memory"}, v.path...), v.now.value)
		case s.meaning == ralphName && strings.HasPrefix(v.name, "env."):
			put(given, strings.SplitN(v.name, ".", 2), v.now.value)
		case s.meaning == ralphName:
			put(given, []string{"event", v.name}, m.given(s, false))
		}
	}
	var n yaml.Node
	_ = n.Encode(given) // of JSON values
	n.Style = yaml.FlowStyle
	b, _ := yaml.Marshal(&n)
	return "given: " + strings.TrimSpace(string(b))
}

// fact adds a fact to what is given. Where the file of an invalid one would be, there is a directory.
func (m *model) fact(given map[string]any, f *symbol, t truth) {
	v := m.given(f, false)
	if slices.ContainsFunc(m.policies, func(p *Policy) bool { // a field is required
		s := p.compiler.symbols[f.name]
		if s == nil || s.fact == nil {
			return false
		}
		_, problems := s.fact.read(copied(v))
		_, bad := problems.Whole()
		return bad
	}) {
		v = m.given(f, true)
	}
	switch {
	case t == missing:
		put(given, []string{"facts", f.name}, nil)
	case t == failed && isReplaced(f.fact):
		put(given, []string{"invalid", f.name}, "it cannot be read")
	case t == failed:
		put(given, []string{"files", f.fact.args[0].lits[0] + "/"}, "")
	default:
		put(given, []string{"facts", f.name}, v)
	}
}

// answer adds what makes a function true.
func (m *model) answer(given map[string]any, function, argument string) {
	path, value := []string{"files", strings.NewReplacer("**", "x", "*", "x", "?", "x").Replace(argument)}, ""
	if function != "exists" {
		path = []string{"event", "last_assistant_message"}
		before, _ := fieldAt(given, path)
		value = strings.TrimSpace(show(before) + "\n" + argument)
	}
	put(given, path, value)
}
