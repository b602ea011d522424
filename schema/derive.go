package schema

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strings"
)

// maxDefault bounds the steps to compare one completed default.
const maxDefault = 20_000

// deriver derives types from nodes. All keywords of a schema apply together, so a type may ignore some of them: it is
// then wider, but still correct. It must not be narrower, and an object must not lack a declared field, because reading
// that field would be reported as a typo.
type deriver struct {
	*compiler
	memo  map[*node]*Schema // nil while being derived
	wide  []Widening
	steps int // for all defaults
	looks int // at combined schemas
}

func (d *deriver) widen(n *node, keyword, why string) {
	at := n.at
	if keyword != "" {
		at = child(at, keyword)
	}
	d.wide = append(d.wide, Widening{at, why})
}

func (d *deriver) widenings() []Widening {
	slices.SortFunc(d.wide, func(a, b Widening) int {
		return cmp.Or(comparePointers(a.Pointer, b.Pointer), strings.Compare(a.Why, b.Why))
	})
	return slices.Compact(d.wide)
}

// typeOf returns the type of the values that satisfy n.
func (d *deriver) typeOf(n *node) *Schema {
	if t, ok := d.memo[n]; ok {
		if t == nil {
			d.widen(n, "", "the schema contains itself, so from the second level on its type is not followed")
			t = &Schema{node: n}
		}
		return t
	}
	d.memo[n] = nil
	t := *d.derive(n)
	t.compiled, t.node = nil, n
	if doc := n.text("description"); doc != "" {
		t.Doc = doc
	}
	// A default next to a $ref is an annotation and counts in every draft.
	if value, ok := n.keywords["default"]; ok && value != nil {
		d.setDefault(child(n.at, "default"), &t, value)
	}
	d.memo[n] = &t
	return &t
}

// derive returns the type of n without annotations.
func (d *deriver) derive(n *node) *Schema {
	t := d.own(n)
	if n.has("patternProperties") && (t.Kind == Object || t.unknown()) {
		d.widen(n, "patternProperties", "fields whose names match a pattern are not typed")
		if len(t.Fields) == 0 {
			return unknownLike(t)
		}
	}
	parts := n.subs["allOf"]
	if n.ref != nil {
		parts = append([]*node{n.ref}, parts...)
	}
	parts = slices.DeleteFunc(slices.Clone(parts), func(part *node) bool { return !part.declares() })
	if t.unknown() && len(parts) == 1 {
		t, parts = d.typeOf(parts[0]), nil
	} else if some, ok := d.nullable(n); ok && t.unknown() && len(parts) == 0 {
		nullable := *some
		nullable.Nullable = true
		return &nullable
	}
	others := append(parts, n.branches()...)
	if len(others) == 0 || !t.unknown() && !slices.ContainsFunc(others, func(other *node) bool { return d.exceeds(other, t) }) {
		return t
	}
	for _, keyword := range []string{"anyOf", "oneOf", "if", "dependentSchemas", "dependencies", "allOf", "$ref"} {
		if n.has(keyword) {
			d.widen(n, keyword, keyword+" allows different types")
			return unknownLike(t)
		}
	}
	return t
}

// declares reports whether n declares a type or a default.
func (n *node) declares() bool {
	others := len(n.subs)
	if n.has("allOf") {
		others--
	}
	return n.kinds != 0 || n.constant != nil || n.enum != nil || n.fields != nil || n.extra != nil || n.closed || n.required != nil || n.items != nil ||
		n.patterns != nil || n.implied != nil || others > 0 || n.has("default") ||
		(n.ref != nil && n.ref.declares()) || slices.ContainsFunc(n.subs["allOf"], (*node).declares)
}

// exceeds reports whether n, which is combined with t, declares a default, or a field that t lacks.
func (d *deriver) exceeds(n *node, t *Schema) bool {
	const most = 1_000_000
	if d.looks++; d.looks > most {
		d.fail("", "the schema is too big: it combines too many schemas")
		return true
	}
	if n.has("default") {
		return true
	}
	for name, sub := range n.fields {
		if field := t.Fields[name]; t.Kind == Object && (field == nil || d.exceeds(sub, field)) {
			return true
		}
	}
	return slices.ContainsFunc(n.inPlace(), func(sub *node) bool { return d.exceeds(sub, t) })
}

// nullable returns the type of the long form of "this or null": two alternatives, one of which is null.
func (d *deriver) nullable(n *node) (*Schema, bool) {
	alternatives := append(n.subs["anyOf"], n.subs["oneOf"]...)
	if len(alternatives) != 2 || len(n.branches()) != 2 {
		return nil, false
	}
	some, none := d.typeOf(alternatives[0]), d.typeOf(alternatives[1])
	if some.Kind == Null {
		some, none = none, some
	}
	return some, none.Kind == Null && some.Kind != Null && !some.unknown()
}

// unknownLike returns anything of the kinds of t.
func unknownLike(t *Schema) *Schema {
	wide := &Schema{Kinds: t.Kinds, Nullable: t.Nullable, Doc: t.Doc, Default: t.Default, HasDefault: t.HasDefault}
	if t.Kind != Any {
		wide.Kinds = []Kind{t.Kind}
	}
	return wide
}

// own returns the type of n's own keywords.
func (d *deriver) own(n *node) *Schema {
	t := &Schema{}
	if n.always != nil {
		return t
	}
	kinds := n.kinds
	if kinds == 0 {
		// Strictly, properties allow values that are not objects, but authors mean an object.
		switch {
		case n.fields != nil || n.extra != nil || n.closed || n.required != nil || n.has("patternProperties"):
			kinds.add(Object)
		case n.has("items") || n.has("prefixItems"):
			kinds.add(Array)
		}
	}
	if n.constant != nil { // it is more specific
		kinds = d.enumerate(t, n.constant, kinds)
	} else if n.enum != nil {
		kinds = d.enumerate(t, n.enum, kinds)
	}
	t.setKinds(kinds)
	switch t.Kind {
	case Object:
		d.object(n, t)
	case Array:
		if n.items != nil && !n.has("prefixItems") {
			t.Elem = d.typeOf(n.items)
		}
	case Int, Number:
		d.bounds(n, t)
	}
	return t
}

// enumerate sets the values of an enum with allowed kinds in t, and returns their kinds.
func (d *deriver) enumerate(t *Schema, values []any, allowed kindSet) kindSet {
	var left kindSet
	for _, v := range values {
		k := kindOf(v)
		if !allowed.admits(k) {
			continue
		}
		t.Enum = append(t.Enum, v)
		if k == Int && allowed.has(Number) {
			k = Number
		}
		left.add(k)
	}
	return left
}

// setKinds sets Kind, Kinds and Nullable.
func (t *Schema) setKinds(kinds kindSet) {
	list := kinds.list()
	if len(list) > 1 && list[0] == Null {
		t.Nullable, list = true, list[1:]
	}
	if len(list) == 1 {
		t.Kind = list[0]
	} else {
		t.Kinds = list
	}
}

func (d *deriver) object(n *node, t *Schema) {
	t.Fields = make(map[string]*Schema, len(n.fields))
	for name, sub := range n.fields {
		field := *d.typeOf(sub)
		field.Optional = !field.HasDefault
		t.Fields[name] = &field
	}
	t.Open = !n.closed
	if n.extra != nil {
		t.Extra = d.typeOf(n.extra)
	}
	for _, name := range n.required {
		if field := t.Fields[name]; field != nil {
			field.Optional = false
		} else if t.Extra != nil {
			t.Fields[name] = t.Extra
		} else {
			t.Fields[name] = &Schema{}
		}
	}
}

// bounds sets the bounds of a number in t.
func (d *deriver) bounds(n *node, t *Schema) {
	for _, l := range n.limits {
		side, sign := &t.Min, 1.0
		switch l.name {
		case "minimum", "exclusiveMinimum":
		case "maximum", "exclusiveMaximum":
			side, sign = &t.Max, -1 // negated, it is a lower bound
		default:
			continue
		}
		bound := l.bound * sign
		if t.Kind == Int {
			if bound = math.Ceil(bound); bound == l.bound*sign && strings.HasPrefix(l.name, "exclusive") {
				bound++
			}
		}
		if *side == nil || bound > **side*sign {
			bound *= sign
			*side = &bound
		}
	}
}

// setDefault sets the default of t, completed, from the schema's at a pointer. A default of the wrong type is an error,
// because rules rely on the type. One that violates enum or pattern is allowed: it means that there is no value.
func (d *deriver) setDefault(at string, t *Schema, value any) {
	c := conformer{steps: d.steps, whole: true}
	refused := within(func() {
		var ok bool
		if value, ok = c.conform(t, value); ok {
			value = c.fill(t, value)
		}
	})
	if d.steps = c.steps; refused != "" {
		d.fail(at, "the default %s", refused)
		return
	}
	for _, v := range c.unusable {
		subject := "the default"
		if v.Pointer != "" {
			subject = "the field of the default"
		}
		d.fail(at+v.Pointer, "%s %s", subject, v.Message)
	}
	if len(c.unusable) > 0 {
		return
	}
	if weightOf(value) > maxDefault {
		d.fail(at, "the default is too big, with the defaults inside")
		return
	}
	t.Default, t.HasDefault, t.Optional = value, true, false
}

// identity returns a key that is the same for equal normalized values.
func identity(v any) any {
	switch v.(type) {
	case []any, map[string]any:
		type container string
		src, _ := json.Marshal(v) // it comes from JSON
		return container(src)
	}
	return v
}
