package lsp

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/rules"
)

// symbol is a part of a file for the outline of an editor.
type symbol struct {
	Name      string   `json:"name"`
	Detail    string   `json:"detail,omitempty"`
	Kind      int      `json:"kind"`
	Range     span     `json:"range"`
	Selection span     `json:"selectionRange"`
	Children  []symbol `json:"children,omitempty"`
}

// The kinds of symbols.
const (
	sectionSymbol  = 3  // a namespace
	propertySymbol = 7  // a param, a value of memory
	functionSymbol = 12 // a rule, a test
	variableSymbol = 13 // a fact, a let
)

// symbols returns the sections of a file, and what they declare.
func symbols(_ context.Context, v *view, _ params) (any, error) {
	all := []symbol{}
	if v.a.root() == nil || v.a.kind == other {
		return all, nil
	}
	t := v.a.text
	of := func(name string, kind int, key, value *yamltree.Node) symbol {
		return symbol{Name: name, Kind: kind, Range: t.between(key.Start, value.End()), Selection: t.between(key.Start, key.End())}
	}
	for _, f := range v.a.root().Fields {
		section := of(f.Key.Value, sectionSymbol, f.Key, f.Value)
		kind := map[string]int{"facts": variableSymbol, "let": variableSymbol, "params": propertySymbol, "memory": propertySymbol, "set": propertySymbol}[f.Key.Value]
		for _, in := range f.Value.Fields {
			if kind != 0 && in.Key.Value != "" {
				section.Children = append(section.Children, of(in.Key.Value, kind, in.Key, in.Value))
			}
		}
		for _, item := range f.Value.Items {
			name := item.Get("name")
			if name == nil {
				name = item.Get("include")
			}
			if name != nil && name.Value != "" {
				one := of(name.Value, functionSymbol, name, name)
				one.Range = t.between(item.Start, item.End())
				section.Children = append(section.Children, one)
			}
		}
		if section.Name != "" && (section.Children != nil || f.Value.Kind != yamltree.Scalar) {
			all = append(all, section)
		}
	}
	return all, nil
}

// lenses returns a command for each test of a file, and one for all, which the editor runs: ralph test --run NAME.
func lenses(_ context.Context, v *view, _ params) (any, error) {
	all := []any{}
	if v.a.kind != tests {
		return all, nil
	}
	list := v.a.root().Get("tests")
	if list == nil {
		return all, nil
	}
	lens := func(at span, title string, arguments ...any) {
		all = append(all, map[string]any{"range": at, "command": map[string]any{"title": title, "command": "ralph.runTest", "arguments": arguments}})
	}
	lens(v.a.text.between(list.Start, list.Start), "run all tests", v.doc.uri)
	for _, item := range list.Items {
		if name := item.Get("name"); name != nil && name.Kind == yamltree.Scalar {
			lens(v.a.text.between(name.Start, name.End()), "run test", v.doc.uri, name.Value)
		}
	}
	return all, nil
}

// tokenKinds returns the kinds of tokens, in the order of their numbers.
func tokenKinds() []string {
	return []string{"variable", "parameter", "property", "function", "string", "number", "operator"}
}

// tokens returns the tokens of the expressions of a file, and of the names that it declares.
func tokens(_ context.Context, v *view, _ params) (any, error) {
	type token struct{ from, to, kind int }
	var all []token
	for _, w := range v.a.words() {
		if w.Pos.File != v.a.at.name || w.Pos.Line != w.End.Line {
			continue
		}
		kind := map[string]string{"fact": "variable", "let": "variable", "memory": "variable", "name": "variable", "param": "parameter", "field": "property", "function": "function", "string": "string", "number": "number", "operator": "operator"}[w.Kind]
		if i := slices.Index(tokenKinds(), kind); i >= 0 {
			from, to := v.a.text.bytes(w.Pos, w.End)
			all = append(all, token{from, to, i})
		}
	}
	slices.SortStableFunc(all, func(a, b token) int {
		if a.from != b.from {
			return a.from - b.from
		}
		return a.to - b.to
	})
	data := []int{}
	var last position
	end := 0
	for _, t := range all {
		if t.from < end || t.from >= t.to {
			continue // a file that is included twice has each twice
		}
		end = t.to
		at := v.a.text.span(t.from, t.to)
		column := at.Start.Character
		if at.Start.Line == last.Line {
			column -= last.Character
		}
		data = append(data, at.Start.Line-last.Line, column, at.End.Character-at.Start.Character, t.kind, 0)
		last = at.Start
	}
	return map[string]any{"data": data}, nil
}

// actions returns what can be done about the findings in a range.
func actions(_ context.Context, v *view, p params) (any, error) {
	all := []any{}
	t := v.a.text
	from, _ := t.offset(p.Range.Start)
	to, _ := t.offset(p.Range.End)
	for _, d := range v.a.diags {
		if d.Pos.File != v.a.at.name {
			continue
		}
		shown := v.server.shownAs(v.snap, v.a, d)
		start, _ := t.offset(shown.Range.Start)
		end, _ := t.offset(shown.Range.End)
		if end < from || to < start {
			continue
		}
		do := func(title string, preferred bool, at span, text string) {
			all = append(all, map[string]any{
				"title": title, "kind": "quickfix", "diagnostics": []diagnostic{shown}, "isPreferred": preferred,
				"edit": map[string]any{"changes": map[string][]edit{v.doc.uri: {{at, text}}}},
			})
		}
		if m := regexp.MustCompile(`did you mean "([^"]+)"\?`).FindStringSubmatch(d.Help); m != nil {
			from, to := unquoted(t.src, start, end)
			do("Replace with "+m[1], true, t.span(from, to), m[1])
		}
		line := t.rows[min(max(d.Pos.Line, 1), len(t.rows))-1]
		if from, to := plainValue(t.src, line); from < to && d.Severity == rules.Error && (strings.HasPrefix(d.Check, "yaml-") || strings.Contains(d.Help, "quote")) {
			do("Quote the value", false, t.span(from, to), "'"+strings.ReplaceAll(t.src[from:to], "'", "''")+"'")
		}
		if d.Severity != rules.Error && d.Check != "bad-ignore" && d.Check != "unused-ignore" && slices.ContainsFunc(form.Checks(), func(c form.Check) bool { return c.ID == d.Check }) {
			end := line + len(t.src[line:]) - len(strings.TrimLeft(t.src[line:], " "))
			do("Ignore "+d.Check+" because …", false, t.span(line, line), t.src[line:end]+"# ralph:ignore "+d.Check+" because \n")
		}
	}
	return all, nil
}

// plainValue returns the value after the key of a line, if it is not in quotes, brackets or a block.
func plainValue(src string, line int) (from, to int) {
	to = len(src)
	if i := strings.IndexAny(src[line:], "\r\n"); i >= 0 {
		to = line + i
	}
	i := strings.Index(src[line:to], ": ")
	if i < 0 {
		return 0, 0
	}
	from = line + i + 2
	from += len(src[from:to]) - len(strings.TrimLeft(src[from:to], " "))
	to = from + len(strings.TrimRight(src[from:to], " "))
	if from == to || strings.IndexByte(`"'{[|>`, src[from]) >= 0 || strings.HasPrefix(strings.TrimSpace(src[line:]), "- {") {
		return 0, 0
	}
	return from, to
}
