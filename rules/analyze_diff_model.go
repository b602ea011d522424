package rules

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/ralph-sdk/ralph/schema"
)

// This file makes one model of two programs: what is the same in both is one
// quantity, and what only has the same name is two.

// labelOf names a fact in the model.
func (t *translator) labelOf(f *Fact) string {
	if t.other == nil {
		return f.Name
	}
	for _, g := range t.other.c.program.facts {
		if g.Name == f.Name && t.meaningOf(f) == t.other.meaningOf(g) {
			return f.Name
		}
	}
	label := f.Name + " (" + t.side + ")"
	for _, g := range t.other.c.program.facts {
		if g.Name == f.Name {
			t.note(fmt.Sprintf("the fact %q comes from another source: the two are named %q and %q", f.Name, f.Name+" (old)", f.Name+" (new)"))
		}
	}
	return label
}

func (m *model) note(s string) {
	if !slices.Contains(m.notes, s) {
		m.notes = append(m.notes, s)
	}
}

// meaningOf describes where a fact comes from, so that equal descriptions are
// equal facts.
func (t *translator) meaningOf(f *Fact) string {
	if s, ok := t.meanings[f]; ok {
		return s
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %v %v", f.Source.Name, f.HasDefault, f.Default)
	for _, k := range slices.Sorted(maps.Keys(f.Options)) {
		fmt.Fprintf(&b, " %s=%v", k, f.Options[k])
	}
	segments := func(segs []segment) {
		b.WriteByte('\x00')
		for _, s := range segs {
			b.WriteString(s.literal)
			if s.hole != nil {
				b.WriteString("${" + t.meaning(s.hole) + "}")
			}
		}
	}
	for _, a := range f.args {
		segments(a.segs)
	}
	if f.question != nil {
		b.WriteString("\x00" + f.question.node.Value)
	}
	for _, o := range f.texts {
		b.WriteString("\x00" + o.name)
		if o.arg != nil {
			segments(o.arg.segs)
		} else {
			b.WriteString(o.text.node.Value)
		}
	}
	t.meanings[f] = b.String()
	return b.String()
}

// meaning describes an expression with all that it names.
func (t *translator) meaning(c *cond) string {
	if c == nil {
		return ""
	}
	if c.op == leaf {
		return t.meaningOfNode(t.tree(c.operand))
	}
	parts := make([]string, len(c.kids))
	for i, k := range c.kids {
		parts[i] = t.meaning(k)
	}
	return fmt.Sprintf("%d(%s)", c.op, strings.Join(parts, ","))
}

// meaningOfNode is a resolved expression, and behind it what its names stand for.
func (t *translator) meaningOfNode(n ast.Node) string {
	var names []string
	var visit func(ast.Node)
	visit = func(n ast.Node) {
		if id, ok := n.(*ast.IdentifierNode); ok {
			if s := t.c.table.find(id.Value); s != nil {
				meaning := ""
				switch s.kind {
				case factSymbol, askSymbol:
					meaning = t.meaningOf(s.fact)
				case letSymbol:
					meaning = t.meaning(s.let.root)
				case memorySymbol:
					meaning = fmt.Sprintf("%s %#v", s.memory.per, s.value)
				case constSymbol:
					meaning = fmt.Sprintf("%#v", s.value)
				}
				if meaning != "" {
					names = append(names, s.key+"="+meaning)
				}
			}
		}
		children(n, func(c *ast.Node) { visit(*c) })
	}
	visit(n)
	slices.Sort(names)
	return n.String() + "\x00" + strings.Join(slices.Compact(names), "\x00")
}

// shared gives the type of a field as both programs may find it: a value that one
// schema does not allow is still a value.
func (t *translator) shared(f *Fact, path []string, typ *schema.Schema) (*schema.Schema, bool) {
	if t.other == nil {
		return typ, true
	}
	label := t.labelOf(f)
	for _, g := range t.other.c.program.facts {
		if t.other.labelOf(g) != label || g.sym.typ == nil {
			continue
		}
		there := g.sym.typ.At(path...)
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
		union.Min, union.Max = wider(typ.Min, there.Min, -1), wider(typ.Max, there.Max, 1)
		if typ.HasDefault != there.HasDefault || !reflect.DeepEqual(typ.Default, there.Default) {
			name := label + "." + strings.Join(path, ".")
			if doubt := fmt.Sprintf("the default of %s differs: a state without it may be decided differently", name); !slices.Contains(t.doubts, doubt) {
				t.doubts = append(t.doubts, doubt)
			}
			union.HasDefault = typ.HasDefault && there.HasDefault
		}
		return &union, true
	}
	return typ, true
}

// wider gives the lower (sign -1) or higher bound; no bound is the widest.
func wider(a, b *float64, sign float64) *float64 {
	if a == nil || b == nil {
		return nil
	}
	if *b*sign > *a*sign {
		return b
	}
	return a
}
