package rules

import (
	"fmt"
	"reflect"
	"time"

	"github.com/expr-lang/expr/types"

	"github.com/ralph-sdk/ralph/next/schema"
)

// meaning says what a name stands for.
type meaning int

const (
	constant  meaning = iota // a param, or a function of the program
	function                 // one of ralph's functions
	ralphName                // a name that every policy has
	factName
	fieldName // of an inline fact
	letName
	givenName // of WithValues
	textName  // text, in start
)

// symbol is a name that expressions read.
type symbol struct {
	id      int // in an evaluation, from its first use on; -1 before
	name    string
	meaning meaning
	typ     *schema.Type
	value   any                     // of a constant; the zero value of one of ralph's names
	bind    func(e *evaluation) any // of a function
	fact    *Fact                   // of a fact, and of a field
	let     *expression             // of a let
	goType  reflect.Type            // of what WithValues declares
	fieldOf []*symbol               // facts that have an inline field of this name
	read    map[*expression]spot    // where the name is read
}

// ralphNames are the names that every policy has, with their zero values.
func ralphNames() map[string]any {
	names := map[string]any{
		"background_tasks": []any{}, "session_crons": []any{}, "env": map[string]string{},
		"loop": map[string]any{"continuations": 0, "repeats": 0, "elapsed": time.Duration(0), "total": 0},
		"run":  map[string]any{"iteration": 0, "outcome": "", "tokens": 0, "cost": 0.0},
		"transcript": map[string]any{"tools": []any{}, "tokens": 0,
			"turns": func(int) []any { return []any{} }, "passed_since_edit": func(string) bool { return false }},
	}
	for _, n := range []string{"session_id", "cwd", "last_assistant_message", "prompt", "permission_mode", "agent_id", "agent_type"} {
		names[n] = ""
	}
	for _, n := range []string{"stop_hook_active", "busy", "your_turn", "asked"} {
		names[n] = false
	}
	return names
}

// typeOf returns the type of a Go value. What an object has is known.
func typeOf(v any) *schema.Type {
	switch v := v.(type) {
	case nil, map[string]string:
		return nil
	case string:
		return kind("string")
	case bool:
		return kind("boolean")
	case int:
		least := 0.0
		return &schema.Type{Kind: "integer", Minimum: &least}
	case float64:
		return kind("number")
	case []any:
		return listOf(nil)
	case map[string]any:
		properties := map[string]*schema.Type{}
		for k, field := range v {
			properties[k] = typeOf(field)
		}
		return object(properties)
	}
	return &schema.Type{Go: types.TypeOf(v)}
}

// declareNames declares what every policy has, and what the program adds.
func (c *compiler) declareNames() {
	zeros, bound := ralphNames(), functions()
	for _, n := range sortedKeys(zeros) {
		c.symbol(n, ralphName, typeOf(zeros[n])).value = zeros[n]
	}
	c.symbols["transcript"].typ.Properties["tools"].Items = kind("string")
	for _, n := range sortedKeys(bound) {
		c.symbol(n, function, typeOf(bound[n](nil))).bind = bound[n]
	}
	for _, n := range sortedKeys(c.functions) {
		if c.taken(n) || reflect.TypeOf(c.functions[n]).Kind() != reflect.Func {
			c.report(spot{}, 1, "name", fmt.Sprintf("the program declares %s, which is no function or has a name that is taken", n), "")
			continue
		}
		c.symbol(n, constant, typeOf(c.functions[n])).value = c.functions[n]
	}
	for _, n := range sortedKeys(c.values) {
		if c.taken(n) {
			c.report(spot{}, 1, "name", fmt.Sprintf("the program declares the value %s, and this name is taken", n), "")
			continue
		}
		s := c.symbol(n, givenName, nil)
		if v := c.values[n]; v != nil && !isJSON(v) && reflect.TypeOf(v) != reflect.TypeFor[map[string]any]() {
			s.typ, s.goType = &schema.Type{Go: types.TypeOf(v)}, reflect.TypeOf(v)
			c.engine.declare(s)
		}
	}
}

// use gives a name its place in evaluations.
func (c *compiler) use(s *symbol) {
	if s.id < 0 {
		s.id = c.used
		c.used++
	}
}

func (c *compiler) taken(name string) bool { return c.symbols[name] != nil || c.engine.isBuiltin(name) }

// symbol declares a name.
func (c *compiler) symbol(name string, m meaning, t *schema.Type) *symbol {
	s := &symbol{id: -1, name: name, meaning: m, typ: t, read: map[*expression]spot{}}
	c.order = append(c.order, s)
	c.symbols[name] = s
	c.engine.declare(s)
	return s
}

// free reports whether the policy may declare a name.
func (c *compiler) free(s spot, what string) bool {
	name := s.node.Value
	old := c.symbols[name]
	switch {
	case !isName(name):
		c.report(s, 0, "name", fmt.Sprintf("%q is no name", name), "a name has letters, digits and _, and begins with a letter")
		return false
	case old != nil && old.meaning == givenName && what == "fact": // WithValues says its type
		return true
	case c.taken(name):
		by := "ralph"
		if old != nil && (old.fact != nil || old.let != nil || old.meaning == constant) {
			by = "the policy"
		}
		c.report(s, 0, "name", fmt.Sprintf("%s is a name of %s already", name, by), "choose another name for the "+what)
		return false
	}
	return true
}

func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != "" && !keywords[s]
}

var keywords = map[string]bool{"true": true, "false": true, "nil": true, "and": true, "or": true, "not": true, "in": true, "let": true, "if": true, "else": true,
	"matches": true, "contains": true, "startsWith": true, "endsWith": true}

// named returns the names that have a meaning, for guesses.
func (c *compiler) named(m ...meaning) (names []string) {
	for _, n := range sortedKeys(c.symbols) {
		for _, x := range m {
			if c.symbols[n].meaning == x {
				names = append(names, n)
			}
		}
	}
	return names
}
