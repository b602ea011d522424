package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
)

// Limits of what is derived from a schema.
const (
	maxDefault = 10_000  // values in one completed default
	maxMerges  = 100_000 // pairs of types that are merged, or sixteen parts of theirs that are copied
)

// deriver turns nodes into types. All keywords of a schema hold together, so a type may be derived from some of them and
// is still right, only wider. It must not be narrower, and an object must not lack a field that the schema speaks of,
// for reading that field would be taken for a typo.
type deriver struct {
	*compiler
	memo   map[*node]*Type // nil while the node is being derived
	opaque map[*Type]bool  // types that were widened: what they are merged with is as unknown as they are
	wide   []Widening
	merges int
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
		return compareViolations(Violation{Pointer: a.Pointer, Message: a.Why}, Violation{Pointer: b.Pointer, Message: b.Why})
	})
	return slices.Compact(d.wide)
}

// typeOf is the type of the values that satisfy n.
func (d *deriver) typeOf(n *node) *Type {
	if t, ok := d.memo[n]; ok {
		if t == nil {
			d.widen(n, "", "the schema contains itself, so from the second level on its type is not followed")
			t = &Type{}
			d.opaque[t] = true
		}
		return t
	}
	d.memo[n] = nil
	t := d.derive(n)
	if doc := n.text("description"); doc != "" {
		t.Doc = doc
	}
	// A default beside a $ref is an annotation and counts in every draft.
	if value, ok := n.keywords["default"]; ok && value != nil {
		d.setDefault(child(n.at, "default"), t, value)
	}
	d.memo[n] = t
	return t
}

// derive is typeOf without memory; the type is the caller's to change.
func (d *deriver) derive(n *node) *Type {
	t := d.own(n)
	parts := n.allOf
	if n.ref != nil {
		parts = append([]*node{n.ref}, parts...)
	} else if n.has("$ref") {
		d.widen(n, "$ref", "metaschemas are not typed")
		return d.unknownLike(t)
	}
	for _, keyword := range []string{"$dynamicRef", "$recursiveRef"} {
		if n.has(keyword) {
			d.widen(n, keyword, keyword+" is not followed")
			return d.unknownLike(t)
		}
	}
	for _, part := range parts {
		t = d.merge(n, t, d.typeOf(part))
	}
	if len(parts) > 0 {
		t = copyOf(t, d.opaque)
	}
	return d.alternatives(n, t)
}

// own is the type that the keywords of n itself make.
func (d *deriver) own(n *node) *Type {
	t := &Type{}
	if n.always != nil {
		return t
	}
	kinds := n.kinds
	if kinds == 0 {
		// Strictly, properties say nothing about values that are no objects. Whoever writes them means an object.
		switch {
		case n.fields != nil || n.extra != nil || n.closed || n.required != nil || n.has("patternProperties"):
			kinds.add(Object)
		case n.has("items") || n.has("prefixItems"):
			kinds.add(Array)
		}
	}
	if n.values != nil {
		kinds = d.enumerate(t, n.values, kinds)
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

// enumerate gives t the values of an enum that are of the allowed kinds, and returns the kinds that are left.
func (d *deriver) enumerate(t *Type, values []any, allowed kindSet) kindSet {
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

// setKinds chooses Kind, Kinds and Nullable.
func (t *Type) setKinds(kinds kindSet) {
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

func (d *deriver) object(n *node, t *Type) {
	t.Fields = make(map[string]*Type, len(n.fields))
	for name, sub := range n.fields {
		field := copyOf(d.typeOf(sub), d.opaque)
		field.Optional = !field.HasDefault
		t.Fields[name] = field
	}
	t.Open = !n.closed
	if n.extra != nil {
		t.Extra = d.typeOf(n.extra)
	}
	for _, name := range n.required {
		if field := t.Fields[name]; field != nil {
			field.Optional = false
		} else if t.Extra != nil {
			t.Fields[name] = copyOf(t.Extra, d.opaque)
		} else {
			t.Fields[name] = &Type{}
		}
	}
}

func (d *deriver) bounds(n *node, t *Type) {
	for _, l := range n.limits {
		// Just beyond an exclusive bound lies the next integer.
		switch bound := l.bound; l.keyword {
		case "exclusiveMinimum":
			if t.Kind == Int {
				bound = math.Floor(bound) + 1
			}
			t.Min = tighter(t.Min, &bound, math.Max)
		case "minimum":
			if t.Kind == Int {
				bound = math.Ceil(bound)
			}
			t.Min = tighter(t.Min, &bound, math.Max)
		case "exclusiveMaximum":
			if t.Kind == Int {
				bound = math.Ceil(bound) - 1
			}
			t.Max = tighter(t.Max, &bound, math.Min)
		case "maximum":
			if t.Kind == Int {
				bound = math.Floor(bound)
			}
			t.Max = tighter(t.Max, &bound, math.Min)
		}
	}
}

func tighter(a, b *float64, pick func(a, b float64) float64) *float64 {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	bound := pick(*a, *b)
	return &bound
}

// alternatives looks at the keywords under which a value may have different types.
func (d *deriver) alternatives(n *node, t *Type) *Type {
	if n.has("patternProperties") && (t.Kind == Object || t.Kind == Any) {
		d.widen(n, "patternProperties", "fields whose names match a pattern are not typed")
		if len(t.Fields) == 0 {
			return d.unknownLike(t)
		}
	}
	if len(n.branches) == 0 {
		return t
	}
	if t.unknown() {
		if some, ok := d.nullable(n); ok {
			t = copyOf(some, d.opaque)
			t.Nullable = true
			return t
		}
		for _, keyword := range []string{"anyOf", "oneOf", "if", "dependentSchemas", "dependencies"} {
			if n.has(keyword) {
				d.widen(n, keyword, keyword+" allows different types")
				return d.unknownLike(t)
			}
		}
	}
	if t.Kind == Object {
		for _, branch := range n.branches {
			d.addFields(t, branch)
		}
	}
	return t
}

// addFields gives the object t the fields that a node speaks of which holds for some of its values only. They are
// anything: a field that is there under a condition must not be taken for a typo.
func (d *deriver) addFields(t *Type, n *node) {
	if !d.spend(n, len(n.fields)) {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(n.fields)) {
		switch field := t.Fields[name]; {
		case field == nil:
			d.widen(n, "", fmt.Sprintf("the field %s is declared in some alternatives only", show(name)))
			t.Fields[name] = &Type{Optional: true}
		case field.Kind == Object:
			if !d.spend(n, len(field.Fields)) {
				return
			}
			deeper := copyOf(field, d.opaque)
			deeper.Optional = field.Optional
			d.addFields(deeper, n.fields[name])
			t.Fields[name] = deeper
		}
	}
	for _, sub := range n.inPlace() {
		d.addFields(t, sub)
	}
}

// nullable recognises the long form of "this or null": two alternatives, one of which is null.
func (d *deriver) nullable(n *node) (*Type, bool) {
	if len(n.branches) != 2 || n.has("if") || n.has("dependentSchemas") || n.has("dependencies") {
		return nil, false
	}
	some, none := d.typeOf(n.branches[0]), d.typeOf(n.branches[1])
	if some.Kind == Null {
		some, none = none, some
	}
	return some, none.Kind == Null && some.Kind != Null && !some.unknown()
}

// unknownLike is anything, but of the kinds of t.
func (d *deriver) unknownLike(t *Type) *Type {
	wide := &Type{Kinds: t.Kinds, Nullable: t.Nullable, Doc: t.Doc, Default: t.Default, HasDefault: t.HasDefault}
	if t.Kind != Any {
		wide.Kinds = []Kind{t.Kind}
	}
	d.opaque[wide] = true
	return wide
}

// copyOf is a copy of the type itself, which shares what it holds, and is as opaque. Optional is the field's own affair
// and not copied.
func copyOf(t *Type, opaque map[*Type]bool) *Type {
	c := *t
	c.Optional = false
	c.Fields = maps.Clone(t.Fields)
	if opaque[t] {
		opaque[&c] = true
	}
	return &c
}

// merge is the type of the values that satisfy both a and b, as far as it is known; b's annotations count if a has none.
func (d *deriver) merge(n *node, a, b *Type) *Type {
	if a == b {
		return a
	}
	if !d.spend(n, len(a.Fields)+len(b.Fields)+len(a.Enum)+len(b.Enum)) {
		return a
	}
	t := d.mergeKinds(n, a, b)
	if t.Doc = a.Doc; t.Doc == "" {
		t.Doc = b.Doc
	}
	t.Optional = a.Optional && b.Optional
	if t.Default, t.HasDefault = a.Default, a.HasDefault; !t.HasDefault {
		t.Default, t.HasDefault = b.Default, b.HasDefault
	}
	if t.HasDefault {
		// The type has grown narrower, or has more fields.
		if !d.spend(n, countValues(t.Default, maxDefault)) {
			return a
		}
		d.setDefault(n.at, t, t.Default)
	}
	return t
}

// spend counts merges, one and one for each sixteen parts. It is false if there have been too many.
func (d *deriver) spend(n *node, parts int) bool {
	if d.merges > maxMerges {
		return false
	}
	if d.merges += 1 + parts/16; d.merges > maxMerges {
		d.fail(n.at, "the schema is too big: more than %d types are to be merged", maxMerges)
	}
	return d.merges <= maxMerges
}

func (d *deriver) mergeKinds(n *node, a, b *Type) *Type {
	t := &Type{Nullable: a.allows(Null) && b.allows(Null)}
	var kinds kindSet
	for k := Bool; k <= Object; k++ {
		if a.allows(k) && b.allows(k) {
			kinds.add(k)
		}
	}
	both := func(k Kind) bool { return a.allows(k) && b.allows(k) }
	switch list := kinds.list(); {
	case a.unknown() && b.unknown():
		t.Nullable = false
	case len(list) == 1:
		t.Kind = list[0]
	case len(list) == 0 && both(Null):
		t.Kind, t.Nullable = Null, false
	case len(list) == 0:
		d.widen(n, "", "the parts of the schema allow no common type")
		d.opaque[t] = true
		return t
	default:
		t.Kinds = list
	}
	if d.opaque[a] || d.opaque[b] {
		return d.unknownLike(t)
	}
	switch {
	case a.Enum != nil && b.Enum != nil:
		both := make(map[any]bool, len(b.Enum))
		for _, v := range b.Enum {
			both[identity(v)] = true
		}
		for _, v := range a.Enum {
			if both[identity(v)] {
				t.Enum = append(t.Enum, v)
			}
		}
	case a.Enum != nil:
		t.Enum = a.Enum
	default:
		t.Enum = b.Enum
	}
	switch t.Kind {
	case Int, Number:
		t.Min, t.Max = tighter(a.Min, b.Min, math.Max), tighter(a.Max, b.Max, math.Min)
	case Array:
		t.Elem = d.mergeParts(n, a.Elem, b.Elem)
	case Object:
		d.mergeObjects(n, t, a, b)
	}
	return t
}

func (d *deriver) mergeParts(n *node, a, b *Type) *Type {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return d.merge(n, a, b)
}

func (d *deriver) mergeObjects(n *node, t, a, b *Type) {
	t.Open = (a.Open || a.Kind != Object) && (b.Open || b.Kind != Object)
	t.Extra = d.mergeParts(n, a.Extra, b.Extra)
	t.Fields = make(map[string]*Type, len(a.Fields)+len(b.Fields))
	maps.Copy(t.Fields, a.Fields)
	for _, name := range slices.Sorted(maps.Keys(b.Fields)) {
		if field := t.Fields[name]; field != nil {
			t.Fields[name] = d.merge(n, field, b.Fields[name])
		} else {
			t.Fields[name] = b.Fields[name]
		}
	}
}

// setDefault gives t a default, complete in itself, which the schema states at a place. A default of a wrong type is an error: it would stand for a
// value that rules rely on. One that breaks enum or pattern is fine: it says that there is no value.
func (d *deriver) setDefault(at string, t *Type, value any) {
	c := conformer{}
	value, ok := c.conform(t, value)
	for _, v := range c.unusable {
		subject := "the default"
		if v.Pointer != "" {
			subject = "the field of the default"
		}
		d.fail(at+v.Pointer, "%s %s", subject, v.Message)
	}
	if ok {
		value = c.fill(t, value)
	}
	if c.refused != "" {
		d.fail(at, "the default %s", c.refused)
	}
	if !ok || c.refused != "" {
		return
	}
	if countValues(value, maxDefault) > maxDefault {
		d.fail(at, "the default is too big: with the defaults inside it has more than %d values", maxDefault)
		return
	}
	t.Default, t.HasDefault, t.Optional = value, true, false
}

// countValues counts the values in v, and stops soon after most.
func countValues(v any, most int) int {
	n := 1
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if n += countValues(item, most-n); n > most {
				break
			}
		}
	case map[string]any:
		for _, item := range v {
			if n += countValues(item, most-n); n > most {
				break
			}
		}
	}
	return n
}

// identity is the same for values that are equal, which are normalised.
func identity(v any) any {
	switch v.(type) {
	case []any, map[string]any:
		type container string
		src, _ := json.Marshal(v) // it was JSON
		return container(src)
	}
	return v
}

// contains says whether list holds a value equal to v; both are normalised.
func contains(list []any, v any) bool {
	return slices.ContainsFunc(list, func(item any) bool { return equal(item, v) })
}

// equal compares normalised values. An int is never equal to a float64, for integral numbers are int.
func equal(a, b any) bool {
	switch a := a.(type) {
	case []any, map[string]any:
		return reflect.DeepEqual(a, b)
	default:
		return a == b
	}
}
