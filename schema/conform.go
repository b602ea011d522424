package schema

import (
	"fmt"
	"strconv"
)

// conformer copies a value into the form that its type describes: numbers normalised, text read as the number or bool that
// it spells, absent what is null and must not be, and what is unusable. It judges kinds only, and leaves the rest to the
// checker, which wants to see the value without defaults.
type conformer struct {
	text func(pointer string) (string, bool) // Document.Text; may be nil

	path     []string    // where the conformer is
	length   int         // bytes of path
	steps    int         // taken: fields looked for, defaults made, messages written
	unusable []Violation // without positions
	inexact  []Violation // numbers that were saturated, without positions
	holes    []hole      // where fields are unusable, which get no default: nobody wrote that value
}

type hole struct {
	object map[string]any
	field  string
}

// Limits of one value.
const (
	maxPath         = 8 << 10   // bytes of the keys on the way to a value in it
	maxConformSteps = 5_000_000 // steps of some ten nanoseconds
	defaultSteps    = 10        // for a value in a default that is filled in

	// Who has more that is unusable has another file in front of him than the schema means.
	maxUnusable = 1000
)

// enter goes to a field or element. Callers limit what they parse; the limits here are for values that were made by hand,
// which may even contain themselves.
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
	if len(c.unusable) == maxUnusable {
		panic(tooMuch(fmt.Sprintf("has more than %d fields and elements that are unusable", maxUnusable)))
	}
	v.Pointer = c.pointer()
	c.unusable = append(c.unusable, v)
}

// saturated notes that v counts as n.
func (c *conformer) saturated(v, n any) {
	if len(c.inexact) < maxUnusable {
		c.inexact = append(c.inexact, Violation{Pointer: c.pointer(), Message: fmt.Sprintf("is %s, too big to be exact; it counts as %v", show(v), n), Clamped: true})
	}
}

// conform returns the copy. It is not ok if the kind is wrong. Null where null is not allowed is such a case too: fields
// must be looked at before, see absent.
func (c *conformer) conform(t *Schema, v any) (any, bool) {
	n, exact, ok := number(v)
	switch kind := kindOf(v); {
	case ok:
		if !exact && t.allows(Int) {
			c.saturated(v, n)
		}
		v = n
	case kind == Any || kind == Number: // what JSON does not have, such as YAML's dates and infinity
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

// example says what a value of the kind looks like, or nothing where the kind's name says it.
func example(k Kind) string {
	return map[Kind]string{
		Bool:   "write true or false",
		Int:    "write a whole number such as 3",
		Number: "write a number such as 2.5",
	}[k]
}

// scalar reads v, whose numbers are normalised, as a value of t.
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
	if !ok {
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
	// Of a schema with many fields most are absent in most objects.
	out := make(map[string]any, max(len(m), min(len(t.Fields), 32)))
	for key, v := range m {
		field := t.Fields[key]
		if field == nil {
			field = t.Extra
		}
		if v == nil && field.absent() {
			continue
		}
		if v, ok := c.item(field, key, v); ok {
			out[key] = v
		} else {
			c.holes = append(c.holes, hole{out, key})
		}
	}
	for name, field := range t.Fields {
		v, ok := m[name]
		if missing := !ok || v == nil && field.absent(); missing && !field.Optional && !field.HasDefault {
			c.enter(name)
			c.reject(Violation{Message: "is required but missing", Keyword: "required"})
			c.leave()
		}
	}
	return out
}

func (c *conformer) list(t *Schema, list []any) []any {
	c.contain(1)
	out := make([]any, len(list))
	for i, v := range list {
		out[i], _ = c.item(t.Elem, strconv.Itoa(i), v)
	}
	return out
}

// contain counts an object or list, in which there are steps to take.
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

// absent says that null in a field of type t is the same as no field: it has a default, or may not be null.
func (t *Schema) absent() bool { return t != nil && (t.HasDefault || !t.allows(Null)) }

// fill puts defaults where fields of v are absent, in place, and returns v, or a default if v is nil.
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
