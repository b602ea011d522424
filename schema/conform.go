package schema

import (
	"fmt"
	"strconv"
)

// conformer copies a value into the form that its type describes: numbers normalised, text read as the number or bool that
// it spells, absent what is null and must not be. It judges kinds only, and leaves the rest to the checkers, which want
// to see the value without defaults and with what is unusable.
type conformer struct {
	text func(pointer string) (string, bool) // Document.Text; may be nil

	path     []string    // where the conformer is
	length   int         // bytes of path
	size     int         // bytes of what was seen, about
	steps    int         // taken: fields looked for, defaults made, messages written
	unusable []Violation // without positions
	inexact  []Violation // numbers that were saturated, without positions
	holes    []hole      // where the unusable values are
	refused  string      // why the value as a whole is unusable; "" if it is not
}

// Limits of one value beyond its depth.
const (
	maxPath         = 8 << 10   // bytes of the keys on the way to one value
	maxConformSteps = 5_000_000 // steps of some ten nanoseconds
	defaultSteps    = 10        // for a value in a default that is filled in
)

func (c *conformer) enter(segment string) {
	c.path = append(c.path, segment)
	c.length += len(segment) + 1
	c.size += len(segment) + 1
}

func (c *conformer) leave() {
	last := len(c.path) - 1
	c.length -= len(c.path[last]) + 1
	c.path = c.path[:last]
}

// take counts steps. It is false if there are no more.
func (c *conformer) take(steps int) bool {
	if c.steps += steps; c.steps > maxConformSteps && c.refused == "" {
		c.refused = "is too large for its schema: it has too many defaults or too much that is unusable"
	}
	return c.refused == ""
}

// maxUnusable is how much in an object or list may be unusable before all of it is. Who has more has another file in front
// of him than the schema means, and lists of a million findings do not help.
const maxUnusable = 1000

// hole is the place of a value that rules must not see.
type hole struct {
	pointer string
	object  map[string]any // the container, if it is an object
	key     string
	list    []any // the container, if it is a list
	index   int
}

func (c *conformer) pointer() string { return PointerOf(c.path) }

func (c *conformer) reject(keyword, format string, args ...any) {
	c.take(1 + len(c.path))
	c.unusable = append(c.unusable, Violation{Pointer: c.pointer(), Message: fmt.Sprintf(format, args...), Keyword: keyword})
}

// saturated notes that v counts as n.
func (c *conformer) saturated(v, n any) {
	if len(c.inexact) < maxUnusable {
		c.inexact = append(c.inexact, Violation{Pointer: c.pointer(), Message: fmt.Sprintf("is %s, too big to be exact; it counts as %v", show(v), n), Clamped: true})
	}
}

// conform returns the copy. It is not ok, and a copy of the value as it is, if the kind is wrong. Null where null is not
// allowed is such a case too: fields must be looked at before, see absent.
func (c *conformer) conform(t *Schema, v any) (any, bool) {
	if t.unknown() {
		return c.normalise(v), c.refused == ""
	}
	if n, exact, ok := number(v); ok {
		if !exact && t.allows(Int) {
			c.saturated(v, n)
		}
		v = n
	}
	unusable, holes, inexact := len(c.unusable), len(c.holes), len(c.inexact)
	switch kind := kindOf(v); {
	case (kind == Object || kind == Array) && t.allows(kind):
		var out any
		var ok bool
		if kind == Object {
			out, ok = c.object(t, v.(map[string]any))
		} else {
			out, ok = c.list(t, v.([]any))
		}
		if ok {
			return out, true
		}
		c.unusable, c.holes = c.unusable[:unusable], c.holes[:holes]
		c.reject("type", "has more than %d fields and elements that are unusable", maxUnusable)
		return c.normalise(v), false
	case kind != Object && kind != Array:
		if v, ok := c.scalar(t, v); ok {
			return v, true
		}
	}
	found := c.normalise(v)
	c.inexact = c.inexact[:inexact] // what is unusable counts for nothing
	expected := t
	if t.Enum != nil {
		expected = &Schema{Kind: t.Kind, Kinds: t.Kinds, Nullable: t.Nullable}
	}
	c.reject("type", "is %s, expected %s", show(found), expected)
	if c.refused == "" && !t.Nullable {
		c.unusable[len(c.unusable)-1].Help = example(t.Kind)
	}
	return found, false
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
	kind := kindOf(v)
	if _, exact, _ := number(v); kind == Any || (kind == Number && !exact) {
		v, kind = fmt.Sprint(v), String // what JSON does not have, such as YAML's dates and infinity
	}
	if t.allows(kind) {
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

// object is not ok if too much in it is unusable, or if it is too deep.
func (c *conformer) object(t *Schema, m map[string]any) (out map[string]any, ok bool) {
	// Of a schema with many fields most are absent in most objects.
	out = make(map[string]any, max(len(m), min(len(t.Fields), 32)))
	if c.full() || !c.take(len(t.Fields)) {
		return out, false
	}
	most := len(c.unusable) + maxUnusable
	for key, v := range m {
		field := t.Fields[key]
		if field == nil {
			field = t.Extra
		}
		if v == nil && field.absent() {
			continue
		}
		c.enter(key)
		out[key] = c.normaliseOr(field, v, hole{object: out, key: key})
		c.leave()
		if c.refused != "" || len(c.unusable) > most {
			return out, false
		}
	}
	for name, field := range t.Fields {
		if _, ok := out[name]; !ok && !field.Optional && !field.HasDefault {
			c.enter(name)
			c.reject("required", "is required but missing")
			c.leave()
		}
	}
	return out, len(c.unusable) <= most
}

// list is like object.
func (c *conformer) list(t *Schema, list []any) (out []any, ok bool) {
	out = make([]any, len(list))
	if c.full() {
		return out, false
	}
	most := len(c.unusable) + maxUnusable
	for i, v := range list {
		c.enter(strconv.Itoa(i))
		out[i] = c.normaliseOr(t.Elem, v, hole{list: out, index: i})
		c.leave()
		if c.refused != "" || len(c.unusable) > most {
			return out, false
		}
	}
	return out, true
}

// normaliseOr conforms v to t if there is a type, and notes the hole if it does not fit.
func (c *conformer) normaliseOr(t *Schema, v any, h hole) any {
	if t == nil {
		return c.normalise(v)
	}
	if text, ok := v.(string); ok {
		c.size += len(text)
	}
	v, ok := c.conform(t, v)
	if !ok {
		h.pointer = c.pointer()
		c.holes = append(c.holes, h)
	}
	return v
}

// absent says that null in a field of type t is the same as no field: it has a default, or may not be null.
func (t *Schema) absent() bool { return t != nil && (t.HasDefault || !t.allows(Null)) }

// normalise copies a value that has no type.
func (c *conformer) normalise(v any) any {
	switch v := v.(type) {
	case string:
		c.size += len(v)
		return v
	case nil, bool:
		return v
	case map[string]any:
		out := make(map[string]any, len(v))
		if c.full() {
			return out
		}
		for key, item := range v {
			c.enter(key)
			out[key] = c.normalise(item)
			c.leave()
			if c.refused != "" {
				break
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		if c.full() {
			return out
		}
		for i, item := range v {
			c.enter(strconv.Itoa(i))
			out[i] = c.normalise(item)
			c.leave()
			if c.refused != "" {
				break
			}
		}
		return out
	}
	if n, exact, ok := number(v); ok {
		if !exact {
			c.saturated(v, n)
		}
		return n
	}
	return fmt.Sprint(v)
}

// full says that the value is deeper than MaxDepth, or that the keys on the way to it are too long. Callers cap what they
// parse; this is for values that were made by hand, which may even contain themselves.
func (c *conformer) full() bool {
	switch {
	case c.refused != "":
	case len(c.path) >= MaxDepth:
		c.refused = fmt.Sprintf("is nested deeper than %d levels", MaxDepth)
	case c.length > maxPath:
		c.refused = fmt.Sprintf("has a place whose JSON pointer is longer than %d bytes", maxPath)
	}
	return c.refused != ""
}

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
			if c.refused != "" {
				break
			}
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

// dig takes the unusable values out of the document.
func dig(holes []hole) {
	for _, h := range holes {
		if h.object != nil {
			delete(h.object, h.key)
		} else {
			h.list[h.index] = nil
		}
	}
}

// clone copies a default.
func (c *conformer) clone(v any) any {
	if !c.take(defaultSteps) {
		return nil
	}
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
