package rules

import (
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

// note notes which fields of elements an operand reads, and of a condition its constants: such values are likely to make a difference.
func (m *model) note(p *Policy, n ast.Node, condition bool) {
	before := len(m.constants)
	ast.Walk(&n, visitor(func(n *ast.Node) {
		last := max(0, len(m.constants)-1)
		switch x := (*n).(type) {
		case *ast.CallNode:
			if _, fact := asked(x); fact != "" {
				m.constants = m.constants[:last]
			}
		case *ast.MemberNode:
			if _, ok := x.Property.(*ast.StringNode); ok {
				m.constants = m.constants[:last]
			}
			_, root := chain(x)
			id, isName := root.(*ast.IdentifierNode)
			static := isName && (p.compiler.symbols[id.Value] == nil || p.compiler.symbols[id.Value].let == nil)
			if name, ok := x.Property.(*ast.StringNode); ok && !static && !slices.Contains(m.fields, name.Value) {
				m.fields = append(m.fields, name.Value)
			}
		case *ast.BinaryNode:
			if s, ok := x.Right.(*ast.StringNode); ok && (x.Operator == "startsWith" || x.Operator == "contains") {
				m.constants = append(m.constants, s.Value+" x")
			}
		case *ast.StringNode:
			m.constants = append(m.constants, x.Value)
		case *ast.IntegerNode:
			m.constants = append(m.constants, x.Value-1, x.Value, x.Value+1)
		case *ast.ConstantNode:
			if set, ok := x.Value.(map[string]struct{}); ok {
				for _, s := range sortedKeys(set) {
					m.constants = append(m.constants, s)
				}
			}
		}
	}))
	if !condition {
		m.constants = m.constants[:before]
	}
}

const maxLikely = 200

// likely adds likely values to those that boundaries give. Of a list they are better.
func (m *model) likely(v *variable, values []any) []any {
	if v.kind == "array" {
		values = nil
	}
	values = append(values, m.examples(v.typ, v.kind, 4)...)
	return values[:min(len(values), maxLikely)]
}

// examples returns likely values of a type.
func (m *model) examples(t *schema.Type, kind string, depth int) (out []any) {
	if t == nil {
		t = &schema.Type{}
	}
	if len(t.Enum) > 0 {
		return t.Enum
	}
	element := func(t *schema.Type) []any {
		if t == nil {
			return m.examples(nil, "", depth-1)
		}
		return m.examples(t, t.Kind, depth-1)
	}
	texts := slices.DeleteFunc(slices.Clone(m.constants), func(k any) bool { _, ok := k.(string); return !ok })
	numbers := slices.DeleteFunc(slices.Clone(m.constants), func(k any) bool {
		n, ok := k.(int)
		return !ok || t.Minimum != nil && float64(n) < *t.Minimum
	})
	switch {
	case kind == "array" && depth < 2:
		out = append(out, []any{})
	case kind == "array":
		items := element(t.Items)
		out = append(out, []any{})
		for _, x := range items {
			out = append(out, []any{x})
		}
		for _, x := range items[1:] {
			out = append(out, []any{items[0], x})
		}
	case kind == "boolean":
		out = append(out, false, true)
	case kind == "integer" || kind == "number":
		out = append([]any{0, 1, 2}, numbers...)
	case kind == "string":
		out = append(append(out, "another"), append(texts, "")...)
	case kind == "" && depth != 3:
		out = append(append(texts, numbers...), true, "another")
	case depth == 0:
		out = append(out, map[string]any{})
	default:
		out = m.objects(t, element)
	}
	return out
}

// objects returns an object, and others that differ from it in one field.
func (m *model) objects(t *schema.Type, element func(*schema.Type) []any) []any {
	fields := map[string][]any{}
	for _, name := range m.fields {
		if x, ok := t.Properties[name]; ok || len(t.Properties) == 0 {
			fields[name] = element(x)
		}
	}
	first := map[string]any{}
	for name, values := range fields {
		first[name] = values[0]
	}
	out := []any{first}
	for _, name := range sortedKeys(fields) {
		for _, x := range fields[name][1:] {
			object := maps.Clone(first)
			object[name] = x
			out = append(out, object)
		}
	}
	return out
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
		case s.meaning == factName:
			in.Values[s.name] = m.factValue(s.fact)
		}
	}
	counts, _ := m.given(m.policies[policy].compiler.symbols["loop"], true).(map[string]any)
	in.Memory.Continuations, _ = counts["continuations"].(int)
	in.Memory.Repeats, _ = counts["repeats"].(int)
	in.Total, _ = counts["total"].(int)
	for _, v := range m.vars {
		if n, _ := v.value().value.(int); v.what == ofCount && n > 0 {
			in.Memory.Prompt = merged(in.Memory.Prompt, map[string]int{v.name: n})
			in.Memory.Applied = merged(in.Memory.Applied, map[string][]time.Time{v.name: slices.Repeat([]time.Time{in.Now}, n)})
		}
	}
	return in
}

// factValue returns the value of a fact as JSON, nil if it is missing.
func (m *model) factValue(f *Fact) any {
	switch m.status(f).value().state {
	case missing:
		return nil
	case failed:
		return json.RawMessage("?")
	}
	b, _ := json.Marshal(m.given(f.symbol, true)) // of JSON values
	return json.RawMessage(b)
}

// given builds the value of a name from the variables of its fields. With all, open ones have their first value.
func (m *model) given(s *symbol, all bool) any {
	var out any = map[string]any{}
	if s.typ != nil && (s.typ.Kind == "array" || s.typ.Kind == "string") {
		out = map[string]any{"array": []any{}, "string": "another"}[s.typ.Kind]
	}
	fields := slices.DeleteFunc(slices.Clone(m.vars), func(v *variable) bool {
		return v.what != ofValue || v.name != s.name || v.now == nil && !all
	})
	slices.SortStableFunc(fields, func(a, b *variable) int { return len(a.path) - len(b.path) })
	for _, v := range fields {
		switch r := v.value(); {
		case r.state == yes:
			out = put(copied(out), v.path, r.value)
		case r.state == failed && v.kind == "string":
			out = put(copied(out), v.path, 7)
		case r.state == failed:
			out = put(copied(out), v.path, "?")
		}
	}
	return out
}

// copied returns a copy of a JSON value, in which put may change objects.
func copied(v any) any {
	object, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := make(map[string]any, len(object))
	for k, x := range object {
		out[k] = copied(x)
	}
	return out
}

// Fact is not called: all facts are in the input.
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
	s := situation{map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}}
	for _, v := range m.vars {
		symbol := p.compiler.symbols[v.name]
		switch {
		case v.now == nil:
		case v.what == ofCount && v.now.value != 0:
			put(s.Memory, []string{"applied", v.name}, v.now.value)
		case v.what == ofAnswer && v.now.value == true:
			s.answer(v.name, v.path[0])
		case symbol == nil:
		case v.what == ofStatus:
			s.fact(m, symbol.fact, v.now.state)
		case symbol.meaning == ralphName && v.name == "loop":
			maps.Copy(s.Memory, m.given(symbol, false).(map[string]any))
		case symbol.meaning == ralphName && strings.HasPrefix(v.name, "env."):
			s.Env[v.name[len("env."):]] = v.now.value
		case symbol.meaning == ralphName:
			s.Event[v.name] = m.given(symbol, false)
		}
	}
	var n yaml.Node
	if n.Encode(s) != nil {
		return ""
	}
	n.Style = yaml.FlowStyle
	b, _ := yaml.Marshal(&n) // it was a node already
	return "given: " + strings.TrimSpace(string(b))
}

// situation is the given of a test.
type situation struct {
	Facts, Event, Env, Memory, Invalid, Files map[string]any `yaml:",omitempty"`
}

// fact adds a fact. Where the file of an invalid one would be, there is a directory.
func (s *situation) fact(m *model, f *Fact, t truth) {
	switch {
	case t == missing:
		s.Facts[f.Name] = nil
	case t == failed && isReplaced(f):
		s.Invalid[f.Name] = "it cannot be read"
	case t == failed:
		s.Files[f.args[0].lits[0]+"/"] = ""
	default:
		s.Facts[f.Name] = m.given(f.symbol, false)
		_, problems := f.Schema.Read(copied(s.Facts[f.Name]))
		if _, bad := problems.Whole(); bad {
			s.Facts[f.Name] = m.given(f.symbol, true)
		}
	}
}

// answer adds what makes a function true.
func (s *situation) answer(function, argument string) {
	const message = "last_assistant_message"
	if function == "exists" {
		s.Files[strings.NewReplacer("**", "x", "*", "x", "?", "x").Replace(argument)] = ""
		return
	}
	before, _ := s.Event[message].(string)
	s.Event[message] = strings.TrimSpace(before + "\n" + argument)
}
