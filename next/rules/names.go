package rules

import (
	"fmt"
	"reflect"
	"time"

	"github.com/expr-lang/expr/types"

	"github.com/ralph-sdk/ralph/next/internal/text"
	"github.com/ralph-sdk/ralph/next/schema"
)

// meaning says what a name stands for.
type meaning int

const (
	ralphName meaning = iota
	paramName
	factName
	letName
	givenName // of WithValues
	textName  // text, in start
)

// symbol is a name that expressions read.
type symbol struct {
	id      int
	name    string
	meaning meaning
	typ     *schema.Type
	zero    any         // of one of ralph's names
	value   any         // of a param
	fact    *Fact       // of a fact
	let     *expression // of a let
	goType  reflect.Type
	inlined []*symbol // facts of which an inline field has this name
	used    bool
	inside  bool // it is read by its own name
	first   spot // where
}

// ralphNames returns the names that every policy has, with their zero values. transcript and run are objects.
func ralphNames() map[string]any {
	names := map[string]any{
		"background_tasks": []any{}, "session_crons": []any{}, "env": map[string]string{},
		"loop":       map[string]any{"continuations": 0, "repeats": 0, "elapsed": time.Duration(0), "total": 0},
		"run":        map[string]any{"iteration": 0, "outcome": "", "tokens": 0, "cost": 0.0},
		"transcript": map[string]any{"tools": []any{}, "tokens": 0, "turns": func(int) []any { return []any{} }, "passed_since_edit": func(string) bool { return false }},
	}
	for _, n := range []string{"session_id", "cwd", "last_assistant_message", "prompt", "permission_mode", "agent_id", "agent_type"} {
		names[n] = ""
	}
	for _, n := range []string{"stop_hook_active", "busy", "your_turn", "asked"} {
		names[n] = false
	}
	return names
}

// typeOfZero returns the type of a name from its zero value.
func typeOfZero(v any) *schema.Type {
	switch v := v.(type) {
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
		fields := map[string]*schema.Type{}
		for k, f := range v {
			fields[k] = typeOfZero(f)
		}
		return object(fields)
	}
	return &schema.Type{Go: types.TypeOf(v)}
}

func (c *compiler) declareNames() {
	zeros := ralphNames()
	for _, n := range sortedKeys(zeros) {
		s := c.symbol(n, ralphName, typeOfZero(zeros[n]))
		s.zero = zeros[n]
		if n == "transcript" {
			s.typ.Properties["tools"].Items = kind("string")
			c.engine.declare(n, s.typ)
		}
		if n == "loop" {
			c.p.clock = s
		}
	}
	for _, n := range sortedKeys(c.values) {
		if c.symbols[n] != nil {
			c.add(Finding{Line: 1, Col: 1, Check: "name", Message: fmt.Sprintf("the program declares the value %s, which is one of ralph's names", n)})
			continue
		}
		typ := goType(c.values[n])
		s := c.symbol(n, givenName, typ)
		if typ != nil {
			s.goType = reflect.TypeOf(c.values[n])
		}
	}
}

// goType returns the type of a value of the program, nil for any.
func goType(v any) *schema.Type {
	if v == nil {
		return nil
	}
	if t := reflect.TypeOf(v); t != reflect.TypeFor[map[string]any]() && t != reflect.TypeFor[[]any]() && !isJSON(v) {
		return &schema.Type{Go: types.TypeOf(v)}
	}
	return nil
}

// symbol declares a name that is free.
func (c *compiler) symbol(name string, m meaning, t *schema.Type) *symbol {
	s := &symbol{id: len(c.order), name: name, meaning: m, typ: t}
	c.order = append(c.order, s)
	c.symbols[name] = s
	c.engine.declare(name, t)
	return s
}

// free reports whether a name of the policy can be declared. what is its kind, with an article.
func (c *compiler) free(s spot, name, what string) bool {
	old := c.symbols[name]
	problem := ""
	switch {
	case !isName(name):
		problem = fmt.Sprintf("%q is no name", name)
		c.report(s, len(name), "name", problem, "a name has letters, digits and _, and begins with a letter")
		return false
	case old != nil && old.meaning == givenName && what == "a fact": // WithValues gives the type of this fact
		return true
	case old != nil && old.meaning == ralphName:
		problem = fmt.Sprintf("%s is one of ralph's names", name)
	case old != nil:
		problem = fmt.Sprintf("%s is declared already", name)
	case c.engine.isFunction(name):
		problem = fmt.Sprintf("%s is a function", name)
	default:
		return true
	}
	c.report(s, len(name), "name", problem, "choose another name for "+what)
	return false
}

// names returns what an expression can read, for guesses.
func (c *compiler) names() []string { return sortedKeys(c.symbols) }

func (c *compiler) factNames() (names []string) {
	for _, f := range c.p.Facts {
		names = append(names, f.Name)
	}
	return names
}

func (c *compiler) paramNames() (names []string) {
	for _, p := range c.p.Params {
		names = append(names, p.Name)
	}
	return names
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

func nearestFact(c *compiler, name string) string { return text.Nearest(name, c.factNames()) }
