package rules

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/types"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/schema"
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
	givenName // of Options.Values
	textName  // text, in start
)

// symbol is a name that expressions read.
type symbol struct {
	id      int // in an evaluation
	name    string
	meaning meaning
	typ     *schema.Type
	value   any                     // of a constant; the zero value of one of ralph's names
	bind    func(e *evaluation) any // of a function
	fact    *Fact                   // of a fact, and of a field
	let     *expression             // of a let
	goType  reflect.Type            // of what Options.Values declares
	at      spot                    // of a param, a fact, a let
	fieldOf []*symbol               // facts that have an inline field of this name
	read    map[*expression]spot    // where the name is read
}

// object is a value of JSON.
type object = map[string]any

// ralphNames are the names that every policy has, with their zero values. Those of functions are bound to an evaluation that calls them.
func ralphNames() object {
	names := object{
		"background_tasks": []any{}, "session_crons": []any{},
		"loop": object{"continuations": 0, "repeats": 0, "elapsed": time.Duration(0), "total": 0},
		"run":  object{"iteration": 0, "outcome": "", "tokens": 0, "cost": 0.0},
		"transcript": object{"tools": []string{}, "tokens": 0,
			"turns": func(int) []any { return []any{} }, "passed_since_edit": func(string) bool { return false }},
	}
	for _, n := range []string{"session_id", "cwd", "last_assistant_message", "prompt", "permission_mode", "agent_id", "agent_type"} {
		names[n] = ""
	}
	for _, n := range []string{"stop_hook_active", "busy", "your_turn", "asked"} {
		names[n] = false
	}
	for n, bind := range functions() {
		names[n] = bind
	}
	return names
}

// typeOf returns the type of a Go value. Numbers are not negative, objects have no other fields, and lists have elements like the first.
func typeOf(v any) *schema.Type {
	switch v := v.(type) {
	case nil:
		return nil
	case string:
		return &schema.Type{Kind: "string"}
	case bool:
		return &schema.Type{Kind: "boolean"}
	case float64:
		return &schema.Type{Kind: "number"}
	case int:
		return &schema.Type{Kind: "integer", Minimum: new(float64)}
	case []string:
		return typeOf([]any{""})
	case []any:
		return &schema.Type{Kind: "array", Items: typeOf(append(v, nil)[0])}
	case object:
		t := &schema.Type{Kind: "object", Properties: map[string]*schema.Type{}, Closed: true}
		for k, field := range v {
			t.Properties[k] = typeOf(field)
		}
		return t
	}
	return &schema.Type{Go: types.TypeOf(v)}
}

// name returns what a name means, nil for one that there is not. A name of ralph is declared when it is first looked up.
func (c *compiler) name(name string) *symbol {
	s, zero := c.symbols[name], c.own[name]
	if s != nil || zero == nil {
		return s
	}
	if bind, ok := zero.(func(*evaluation) any); ok {
		s = c.symbol(name, function, typeOf(bind(nil)))
		s.bind = bind
	} else {
		s = c.symbol(name, ralphName, typeOf(zero))
		s.value = zero
	}
	return s
}

// declareNames declares what the program adds, and the functions of ralph that are read instead of those of expr.
func (c *compiler) declareNames() {
	for n := range c.own {
		if c.engine.conf.Builtins[n] != nil {
			c.name(n)
		}
	}
	for _, n := range sortedKeys(merged(c.Values, c.Functions)) {
		f, isFunction := c.Functions[n]
		v, isValue := c.Values[n]
		switch t := reflect.TypeOf(v); {
		case isFunction && reflect.ValueOf(f).Kind() != reflect.Func:
			c.report(spot{}, 1, "name", fmt.Sprintf("the program declares %s, which is no function", n), "")
		case c.taken(n), isFunction && isValue:
			c.report(spot{}, 1, "name", fmt.Sprintf("the program declares %s, which has a name that is taken", n), "")
		case isFunction:
			c.symbol(n, constant, typeOf(f)).value = f
		case v == nil, isJSON(v), t == reflect.TypeFor[object]():
			c.symbol(n, givenName, nil)
		default:
			c.engine.conf.Visitors = []ast.Visitor{&jsonNames{}}
			c.symbol(n, givenName, &schema.Type{Go: types.TypeOf(v)}).goType = t
		}
	}
}

func (c *compiler) taken(name string) bool {
	return c.symbols[name] != nil || c.own[name] != nil || c.engine.conf.Builtins[name] != nil || name == "env"
}

// symbol declares a name.
func (c *compiler) symbol(name string, m meaning, t *schema.Type) *symbol {
	s := &symbol{id: len(c.order), name: name, meaning: m, typ: t, read: map[*expression]spot{}}
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
	case !c.engine.isName(name):
		c.report(s, 0, "name", fmt.Sprintf("%q is no name", name), "a name has letters, digits and _, and begins with a letter")
		return false
	case old != nil && old.meaning == givenName && what == "fact": // Options.Values says its type
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

// named returns the names that have a meaning, for guesses.
func (c *compiler) named(m ...meaning) []string {
	for name := range c.own {
		c.name(name)
	}
	return slices.DeleteFunc(sortedKeys(c.symbols), func(name string) bool { return !slices.Contains(m, c.symbols[name].meaning) })
}

// asking are the functions about a fact. Their argument is its name, and they are always decided.
var asking = map[string]bool{"ok": true, "missing": true, "invalid": true, "problem": true, "path": true, "age": true}

// functions returns what expressions call besides the functions of expr, bound to an evaluation when one first needs it. Texts and
// numbers are of any type, since a value may have another Go type than its schema says.
func functions() map[string]func(e *evaluation) any {
	is := func(t truth) func(e *evaluation) any {
		return func(e *evaluation) any { return func(f string) bool { return e.fact(f).state == t } }
	}
	asks := func(name string) func(e *evaluation) any {
		return func(e *evaluation) any {
			return func(s string) (bool, error) { v, err := e.ask(name, s); return v == true, err }
		}
	}
	return map[string]func(e *evaluation) any{
		"ok": is(yes), "missing": is(missing), "invalid": is(failed),
		"problem": func(e *evaluation) any { return func(f string) string { return e.fact(f).problem() } },
		"path":    func(e *evaluation) any { return func(f string) string { return e.fact(f).found.Path } },
		"age": func(e *evaluation) any {
			return func(f string) time.Duration {
				if t := e.fact(f).found.Time; !t.IsZero() {
					return e.in.Now.Sub(t)
				}
				return 0
			}
		},
		"said": asks("said"), "mentions": asks("mentions"), "exists": asks("exists"),
		"which": func(e *evaluation) any {
			return func(s string) (string, error) { v, err := e.ask("which", s); return show(v), err }
		},
		"now": func(e *evaluation) any { return func() time.Time { return e.in.Now } },
		"date": func(e *evaluation) any {
			return func(s string, layout ...string) (time.Time, error) { return date(s, e.in.Now.Location(), layout) }
		},
		"cut":     func(*evaluation) any { return text.Cut },
		"tail":    func(*evaluation) any { return text.Tail },
		"folded":  func(*evaluation) any { return folded },
		"bullets": func(*evaluation) any { return bullets },
	}
}

func folded(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// bullets makes a list of Markdown: each element on a line, cut, and how many more there are.
func bullets(list any, most ...int) (string, error) {
	const length = 200 // characters
	n := append(most, 20)[0]
	v := reflect.ValueOf(list)
	if list == nil {
		return "", nil
	}
	if v.Kind() != reflect.Slice {
		return "", fmt.Errorf("bullets takes a list, and this is %s", kindOf(list))
	}
	var lines []string
	for i := range min(v.Len(), max(n, 0)) {
		lines = append(lines, "- "+text.Cut(strings.Join(strings.Fields(show(v.Index(i).Interface())), " "), length))
	}
	if more := v.Len() - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("- … and %d more", more))
	}
	return strings.Join(lines, "\n"), nil
}

// date reads a time. One without a zone is in zone.
func date(s string, zone *time.Location, layouts []string) (time.Time, error) {
	if len(layouts) == 0 {
		layouts = []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly, time.RFC1123Z, time.RFC1123}
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, strings.TrimSpace(s), zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no date such as 2006-01-02 or 2006-01-02T15:04:05Z", text.Cut(s, 40))
}
