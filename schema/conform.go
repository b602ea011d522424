package schema

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/ralph-sdk/ralph/internal/nearest"
)

// conformer copies a value in the form of its type: numbers normalized, strings read as the number or bool that they
// spell, null and unusable values dropped where they are not allowed. It checks only kinds; the checker does the rest,
// on the value without defaults.
type conformer struct {
	text  func(pointer string) (string, bool) // Document.Text; may be nil
	typed bool                                // Document.Typed
	whole bool                                // a missing required field makes its place unusable

	path      []string    // the current path
	length    int         // bytes in path
	steps     int         // used so far: fields, defaults, messages
	unusable  []Violation // without positions
	inexact   []Violation // numbers that were saturated, without positions
	slips     []Violation // missing fields and the keys that look like them, without positions
	noDefault []position  // positions of unusable fields, which get no default: a default would be a value that no one wrote
}

type position struct {
	object map[string]any
	field  string
}

// Limits on one value.
const (
	maxPath         = 8 << 10   // bytes of the keys on the path to a value
	maxConformSteps = 5_000_000 // each about ten nanoseconds
	defaultSteps    = 10        // for a value in a default

	maxSlips  = 100 // undeclared keys of an object that are compared with its missing fields
	nearSteps = 20  // to compare two keys
)

// enter descends into a field or element. Parsers limit depth and size, too; the limits here are for values made by
// programs, which may even contain themselves.
func (c *conformer) enter(segment string) {
	c.path = append(c.path, segment)
	if c.length += len(segment) + 1; c.length > maxPath {
		panic(tooMuch(fmt.Sprintf("has a place whose JSON pointer is longer than %d bytes", maxPath)))
	}
}

func (c *conformer) leave() {
	last := len(c.path) - 1
	c.length -= len(c.path[last]) + 1
	c.path = c.path[:last]
}

// take counts steps.
func (c *conformer) take(steps int) {
	if c.steps += steps; c.steps > maxConformSteps {
		panic(tooMuch("is too large for its schema: it has too many defaults"))
	}
}

func (c *conformer) pointer() string { return PointerOf(c.path) }

func (c *conformer) reject(v Violation) {
	if len(c.unusable) == MaxUnusable {
		panic(tooMuch(fmt.Sprintf("has more than %d fields and elements that are unusable", MaxUnusable)))
	}
	v.Pointer = c.pointer()
	c.unusable = append(c.unusable, v)
}

// saturated records that v counts as n.
func (c *conformer) saturated(v, n any) {
	if len(c.inexact) < MaxUnusable {
		c.inexact = append(c.inexact, Violation{Pointer: c.pointer(), Message: fmt.Sprintf("is %s, too big to be exact; it counts as %v", show(v), n), Clamped: true})
	}
}

// conform returns the copy. ok is false for the wrong kind, which includes null where it is not allowed: check fields
// with absent first.
func (c *conformer) conform(t *Schema, v any) (any, bool) {
	n, exact, ok := number(v)
	switch kind := kindOf(v); {
	case ok:
		if !exact && t.allows(Int) {
			c.saturated(v, n)
		}
		v = n
	case kind == Any && c.typed && t.unknown():
		return v, true
	case kind == Any || kind == Number: // not in JSON, such as dates and infinity in YAML
		v = fmt.Sprint(v)
	}
	switch v := v.(type) {
	case map[string]any:
		if t.allows(Object) {
			return c.object(t, v), true
		}
	case []any:
		if t.allows(Array) {
			return c.list(t, v), true
		}
	default:
		if v, ok := c.scalar(t, v); ok {
			return v, true
		}
	}
	expected := &Schema{Kind: t.Kind, Kinds: t.Kinds, Nullable: t.Nullable, Elem: t.Elem}
	found := Violation{Message: fmt.Sprintf("is %s, expected %s", show(v), expected), Keyword: "type"}
	if !t.Nullable {
		found.Help = example(t.Kind)
	}
	c.reject(found)
	return nil, false
}

// example returns an example of the kind, or "" if its name is clear.
func example(k Kind) string {
	return map[Kind]string{
		Bool:   "write true or false",
		Int:    "write a whole number such as 3",
		Number: "write a number such as 2.5",
		String: `write a string such as "text"`,
	}[k]
}

// scalar reads v, with normalized numbers, as a value of t.
func (c *conformer) scalar(t *Schema, v any) (any, bool) {
	if t.allows(kindOf(v)) {
		return v, true
	}
	if t.allows(String) && v != nil && c.text != nil {
		if text, ok := c.text(c.pointer()); ok {
			return text, true
		}
	}
	text, ok := v.(string)
	if !ok || c.typed {
		return nil, false
	}
	if n, exact, ok := spelledNumber(text); ok && t.allows(kindOf(n)) {
		if !exact {
			c.saturated(text, n)
		}
		return n, true
	}
	if b, ok := spelledBool(text); ok && t.allows(Bool) {
		return b, true
	}
	return nil, false
}

func (c *conformer) object(t *Schema, m map[string]any) map[string]any {
	c.contain(len(t.Fields))
	// Objects usually lack most fields of a large schema.
	out := make(map[string]any, max(len(m), min(len(t.Fields), 32)))
	var foreign []string // keys that are not declared
	for key, v := range m {
		field := t.Fields[key]
		if field == nil && len(t.Fields) > 0 {
			foreign = append(foreign, key)
		}
		if field == nil {
			field = t.Extra
		}
		if v == nil && field.absent() {
			continue
		}
		if v, ok := c.item(field, key, v); ok {
			out[key] = v
		} else {
			c.noDefault = append(c.noDefault, position{out, key})
		}
	}
	if c.whole {
		c.require(t, m)
	}
	c.compare(t, m, foreign)
	return out
}

// require rejects required fields of t that m lacks.
func (c *conformer) require(t *Schema, m map[string]any) {
	for name, field := range t.Fields {
		v, ok := m[name]
		if missing := !ok || v == nil && field.absent(); missing && !field.Optional && !field.HasDefault {
			c.enter(name)
			c.reject(Violation{Message: "is required but missing", Keyword: "required"})
			c.leave()
		}
	}
}

// compare records missing fields of t that keys of m look like, which are not declared.
func (c *conformer) compare(t *Schema, m map[string]any, foreign []string) {
	if len(foreign) == 0 {
		return
	}
	var missing []string
	for name := range t.Fields {
		if _, ok := m[name]; !ok {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 || len(foreign) > maxSlips {
		return
	}
	slices.Sort(foreign)
	slices.Sort(missing)
	c.take(nearSteps * len(foreign) * len(missing))
	for _, key := range foreign {
		if name := nearest.Slip(key, missing); name != "" {
			c.slips = append(c.slips, Violation{
				Pointer: PointerOf(append(slices.Clone(c.path), name)), Keyword: Misspelt,
				Message: fmt.Sprintf("is not set, but %s is", show(key)), Help: fmt.Sprintf("did you mean %q?", name),
			})
		}
	}
}

func (c *conformer) list(t *Schema, list []any) []any {
	c.contain(1)
	out := make([]any, len(list))
	for i, v := range list {
		out[i], _ = c.item(t.Elem, strconv.Itoa(i), v)
	}
	return out
}

// contain counts an object or list of this many steps.
func (c *conformer) contain(steps int) {
	if c.take(steps); len(c.path) >= MaxDepth {
		panic(tooMuch(fmt.Sprintf("is nested deeper than %d levels", MaxDepth)))
	}
}

// item conforms a field or an element.
func (c *conformer) item(t *Schema, segment string, v any) (any, bool) {
	if t == nil {
		t = &Schema{}
	}
	c.enter(segment)
	v, ok := c.conform(t, v)
	c.leave()
	return v, ok
}

// absent reports whether null in a field of type t counts as a missing field: it has a default, or is not nullable.
func (t *Schema) absent() bool { return t != nil && (t.HasDefault || !t.allows(Null)) }

// fill sets missing fields of v to their defaults, in place, and returns v, or a default if v is nil.
func (c *conformer) fill(t *Schema, v any) any {
	if t == nil {
		return v
	}
	switch container := v.(type) {
	case nil:
		if t.HasDefault {
			return c.clone(t.Default)
		}
	case map[string]any:
		for key, item := range container {
			if field := t.Fields[key]; field == nil && t.Extra != nil && item != nil {
				container[key] = c.fill(t.Extra, item)
			}
		}
		for name, field := range t.Fields {
			item, ok := container[name]
			if filled := c.fill(field, item); ok || field.HasDefault {
				container[name] = filled
			}
		}
	case []any:
		for i, item := range container {
			if item != nil {
				container[i] = c.fill(t.Elem, item)
			}
		}
	}
	return v
}

// clone copies a default.
func (c *conformer) clone(v any) any {
	c.take(defaultSteps)
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = c.clone(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = c.clone(item)
		}
		return out
	}
	return v
}
