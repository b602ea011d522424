package policytest

import (
	"cmp"
	"reflect"
	"slices"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/rules"
)

// Parse reads the tests in src. Diagnostics call the file name. The file is nil if and only if there is a diagnostic;
// all of them are errors. Parse reports all violations of the schema at once, and other errors only if there are none.
func Parse(name string, src []byte) (*File, rules.Diagnostics) {
	r := &reader{name: name, src: src}
	root, problems := yamltree.Parse(src)
	for _, p := range problems {
		if p.Check == yamltree.CheckDocument {
			p.Help = "write the tests here; the file begins with `tests:`"
		}
		r.diags = append(r.diags, rules.Diagnostic{
			Pos: r.pos(p.Start), End: r.pos(p.End), Check: p.Check, Message: p.Message, Help: p.Help,
			Line: yamltree.Line(src, p.Start.Line),
		})
	}
	f := &File{Name: name, src: src, policy: rules.Pos{File: name, Line: 1, Col: 1}}
	if root != nil {
		r.validate(root)
	}
	if len(r.diags) == 0 {
		r.file(f, root)
	}
	if len(r.diags) > 0 {
		sortByPlace(r.diags)
		return nil, r.diags
	}
	return f, nil
}

func sortByPlace(diags rules.Diagnostics) {
	slices.SortStableFunc(diags, func(a, b rules.Diagnostic) int {
		return cmp.Or(a.Pos.Line-b.Pos.Line, a.Pos.Col-b.Pos.Col)
	})
}

func (r *reader) file(f *File, root *yamltree.Node) {
	if policy := root.Get("policy"); policy != nil {
		f.Policy, f.policy = policy.Value, r.pos(policy.Start)
	}
	common := merged(&yamltree.Node{Kind: yamltree.Map}, r.situation(root.Get("given")), 0)
	seen := map[string]bool{}
	for _, n := range root.Get("tests").Items {
		t := Test{Event: vocab.Stop, Pos: r.pos(n.Start), node: n}
		r.decode(n, reflect.ValueOf(&t).Elem())
		if seen[t.Name] {
			r.errorf(n.Get("name"), checkName, "choose another name; --run selects tests by name", "there are two tests named %q", t.Name)
		}
		seen[t.Name] = true
		t.Given.node = situationOf(common, r.situation(n.Get("given")))
		r.decode(t.Given.node, reflect.ValueOf(&t.Given).Elem())
		r.complete(&t.Given)
		f.Tests = append(f.Tests, t)
	}
}

// complete sets what a situation has in other forms than its file.
func (r *reader) complete(g *situation) {
	if spoken := g.node.Get("transcript"); spoken != nil && spoken.Kind == yamltree.Scalar {
		g.Text, g.Transcript = spoken.Value, nil
	}
	g.Spoken = g.node.Get("transcript") != nil
	for _, f := range fields(g.node, "input") {
		g.Input[f.Key.Value] = r.named(f.Key.Value, f.Value)
	}
	g.Names = map[string]any{}
	for _, group := range []string{"session", "run"} {
		for _, f := range fields(g.node, group) {
			name := group + "." + f.Key.Value
			g.Names[name] = r.named(name, f.Value)
		}
	}
	if l := g.Loop; l != nil {
		if l.Repeats > 0 || l.Failures > 0 || l.Elapsed > 0 || l.Step > 0 {
			l.Continuations = max(l.Continuations, l.Repeats, l.Failures, 1)
		}
		l.Total = max(l.Total, l.Continuations)
	}
}

func fields(n *yamltree.Node, key string) []yamltree.Field {
	if n = n.Get(key); n == nil {
		return nil
	}
	return n.Fields
}

// situation normalizes the given values: lists of facts become maps from fact to reason, and all fields of the hook
// input are in input.
func (r *reader) situation(n *yamltree.Node) *yamltree.Node {
	out := &yamltree.Node{Kind: yamltree.Map}
	input := &yamltree.Node{Kind: yamltree.Map}
	if n == nil {
		n = input
	}
	for _, f := range n.Fields {
		switch key := f.Key.Value; {
		case key == "input":
			for _, f := range f.Value.Fields {
				r.input(input, f)
			}
		case isInput(key):
			r.input(input, f)
		case f.Value.Kind == yamltree.List && slices.Contains([]string{"missing", "invalid"}, key):
			facts := &yamltree.Node{Kind: yamltree.Map}
			for _, item := range f.Value.Items {
				facts.Fields = append(facts.Fields, yamltree.Field{Key: item, Value: &yamltree.Node{Tag: "!!str"}})
			}
			out.Fields = append(out.Fields, yamltree.Field{Key: f.Key, Value: facts})
		default:
			out.Fields = append(out.Fields, f)
		}
	}
	out.Fields = append(out.Fields, yamltree.Field{Key: &yamltree.Node{Value: "input"}, Value: input})
	for _, what := range []string{"missing", "invalid"} {
		for _, f := range fields(out, what) {
			if value := out.Get("facts").Get(f.Key.Value); value != nil && !isNull(value) {
				r.errorf(f.Key, checkValue, "remove one of them", "the fact %q has a value and is %s", f.Key.Value, what)
			}
		}
	}
	return out
}

// input adds a field of the hook input.
func (r *reader) input(to *yamltree.Node, f yamltree.Field) {
	switch name := f.Key.Value; {
	case name == vocab.HookEventName:
		r.errorf(f.Key, checkValue, "write event: NAME in the test", "the event of a test must not be a field of its input")
	case to.Get(name) != nil:
		r.errorf(f.Key, checkValue, "keep one of them", "%s is set twice, under input and by itself", name)
	}
	to.Fields = append(to.Fields, f)
}
