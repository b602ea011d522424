package rules

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/schema"
)

// This file builds one model of two programs: what is the same in both is one quantity, what only has the same name is
// two.

// labelOf returns the name of a fact in the model.
func (t *translator) labelOf(f *Fact) string {
	if t.other == nil {
		return f.Name
	}
	facts := t.other.c.program.facts
	switch i := slices.IndexFunc(facts, func(g *Fact) bool { return g.Name == f.Name }); {
	case i >= 0 && t.meaningOf(f) == t.other.meaningOf(facts[i]):
		return f.Name
	case i >= 0:
		once(&t.notes, fmt.Sprintf("the fact %q comes from another source: the two are named %q and %q", f.Name, f.Name+" (old)", f.Name+" (new)"))
	}
	return f.Name + " (" + t.side + ")"
}

// once adds a sentence unless the list has it.
func once(list *[]string, s string) {
	if !slices.Contains(*list, s) {
		*list = append(*list, s)
	}
}

// meaningOf describes the source of a fact, so that facts with equal descriptions are equal.
func (t *translator) meaningOf(f *Fact) string {
	s, ok := t.meanings[f]
	if !ok {
		s = fmt.Sprintf("%s %v %#v %q %#v %q", f.Source.Name, f.HasDefault, f.Default, f.Args, f.Options, f.Texts)
		for _, seg := range f.segments() {
			s += "\x00" + seg.literal + "\x00" + t.meaning(seg.placeholder)
		}
		t.meanings[f] = s
	}
	return s
}

// meaning describes an expression with everything that it names.
func (t *translator) meaning(c *cond) string {
	if c == nil {
		return ""
	}
	if c.op == leaf {
		return t.meaningOfNode(c.operand.tree())
	}
	parts := make([]string, len(c.kids))
	for i, k := range c.kids {
		parts[i] = t.meaning(k)
	}
	return fmt.Sprintf("%d(%s)", c.op, strings.Join(parts, ","))
}

// meaningOfNode returns a resolved expression, followed by the meaning of its names.
func (t *translator) meaningOfNode(n ast.Node) string {
	var names []string
	eachNode(n, func(n ast.Node) {
		id, ok := n.(*ast.IdentifierNode)
		if !ok {
			return
		}
		s := t.c.table.find(id.Value)
		if s == nil {
			return
		}
		switch s.kind {
		case factSymbol, askSymbol:
			names = append(names, s.key+"="+t.meaningOf(s.fact))
		case letSymbol:
			names = append(names, s.key+"="+t.meaning(s.let.root))
		case memorySymbol:
			names = append(names, fmt.Sprintf("%s=%s %#v", s.key, s.memory.per, s.value))
		case constSymbol:
			names = append(names, fmt.Sprintf("%s=%#v", s.key, s.value))
		}
	})
	slices.Sort(names)
	return n.String() + "\x00" + strings.Join(slices.Compact(names), "\x00")
}

// shared returns the type of a field for both programs: a value that one schema rejects is still a value.
func (t *translator) shared(f *Fact, path []string, typ *schema.Schema) (*schema.Schema, bool) {
	if t.other == nil {
		return typ, true
	}
	label := t.labelOf(f)
	for _, g := range t.other.c.program.facts {
		if t.other.labelOf(g) != label || g.plan.sym.typ == nil {
			continue
		}
		there := g.plan.sym.typ.At(path...)
		if there == nil || there == typ {
			continue // only one of them reads it
		}
		if there.Kind != typ.Kind {
			return nil, false
		}
		union := *typ
		union.Optional, union.Nullable = typ.Optional || there.Optional, typ.Nullable || there.Nullable
		if len(there.Enum) == 0 {
			union.Enum = nil
		} else if len(union.Enum) > 0 {
			union.Enum = slices.Clone(union.Enum)
			for _, v := range there.Enum {
				if !slices.ContainsFunc(union.Enum, func(x any) bool { return reflect.DeepEqual(x, v) }) {
					union.Enum = append(union.Enum, v)
				}
			}
		}
		if typ.HasDefault != there.HasDefault || !reflect.DeepEqual(typ.Default, there.Default) {
			name := label + "." + strings.Join(path, ".")
			once(&t.uncompared, fmt.Sprintf("the default of %s differs: a state without it may be decided differently", name))
			union.HasDefault = typ.HasDefault && there.HasDefault
		}
		return &union, true
	}
	return typ, true
}
