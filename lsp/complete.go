package lsp

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/policytest"
	"github.com/ralph-sdk/ralph/rules"
)

// item is one completion.
type item struct {
	Label  string `json:"label"`
	Kind   int    `json:"kind"`
	Detail string `json:"detail,omitempty"`
	Doc    string `json:"documentation,omitempty"`
	Sort   string `json:"sortText,omitempty"`
	Edit   edit   `json:"textEdit"`
}

// The kinds of completions.
const (
	functionItem = 3
	fieldItem    = 5
	variableItem = 6
	moduleItem   = 9
	propertyItem = 10
	valueItem    = 12
	fileItem     = 17
)

// completer collects completions at a place.
type completer struct {
	v     *view
	at    int // byte
	begun int // bytes of the word before it
	items []item
}

func (c *completer) add(kind int, label, insert, detail, doc string) {
	if slices.ContainsFunc(c.items, func(i item) bool { return i.Label == label }) {
		return
	}
	t := c.v.a.text
	c.items = append(c.items, item{label, kind, detail, doc, "", edit{t.span(c.at-c.begun, c.at), insert}})
}

// completion returns what can be written at a position.
func completion(ctx context.Context, v *view, p params) (any, error) {
	at, _ := v.a.text.offset(p.Position)
	c := &completer{v: v, at: at}
	a, isKey := v.completed(ctx, at)
	if a != nil && !c.expression(a) {
		c.node(a, isKey)
	}
	for i := range c.items { // in their order, not that of the alphabet
		c.items[i].Sort = string([]byte{'a' + byte(i/26/26%26), 'a' + byte(i/26%26), 'a' + byte(i%26)})
	}
	if c.items == nil {
		c.items = []item{}
	}
	return map[string]any{"isIncomplete": false, "items": c.items}, nil
}

// completed returns an analysis of the file as if something were written at a byte, so that it is YAML: what people type is
// seldom. isKey reports whether that may be a key.
func (v *view) completed(ctx context.Context, at int) (a *analysis, isKey bool) {
	src := v.a.text.src
	start := strings.LastIndexByte(src[:at], '\n') + 1
	end := len(src)
	if i := strings.IndexByte(src[at:], '\n'); i >= 0 {
		end = at + i
	}
	before, after := src[start:at], strings.TrimRight(src[at:end], "\r")
	word := strings.TrimRightFunc(before, isWordRune)
	head := strings.TrimSpace(word)
	key := head == "" || strings.HasSuffix(head, "{") || strings.HasSuffix(head, ",") || strings.Trim(head, "- ") == ""
	fills := []string{"", "x"}
	switch rest := strings.TrimSpace(after); {
	case strings.HasPrefix(rest, ":"):
		fills = []string{""}
	case key && strings.Trim(rest, "}]") == "":
		fills = []string{"x: x", "x", ""}
	case rest == "" && strings.TrimSpace(before) != "" && before != strings.TrimRight(before, " "), head != "" && strings.HasSuffix(head, ":"):
		fills = []string{"x", ""}
	}
	for _, fill := range fills {
		for _, close := range []string{"", closers(before + fill + after)} {
			text := src[:at] + fill + src[at:end] + close + src[end:]
			root, _ := yamltree.Parse([]byte(text))
			if root == nil {
				continue
			}
			d := *v.doc
			d.text = newText(text, v.snap.units)
			if a := v.server.quick(ctx, v.snap.with(&d), d.at); a != nil {
				return a, key && fill == "x: x" || key && fill == "" && strings.HasPrefix(strings.TrimSpace(after), ":")
			}
		}
	}
	return nil, false
}

func isWordRune(r rune) bool {
	return r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

// closers returns what closes the brackets and quotes that a line leaves open.
func closers(line string) string {
	var open []byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case '"', '\'':
			end := strings.IndexByte(line[i+1:], c)
			if end < 0 {
				open = append(open, c)
				i = len(line)
			} else {
				i += end + 1
			}
		case '{':
			open = append(open, '}')
		case '[':
			open = append(open, ']')
		case '}', ']':
			if n := len(open) - 1; n >= 0 && open[n] == c {
				open = open[:n]
			}
		}
	}
	slices.Reverse(open)
	return string(open)
}

// expression completes an expression, and reports whether the place is in one.
func (c *completer) expression(a *analysis) bool {
	if a.index == nil {
		return false
	}
	for _, e := range a.index.Expressions {
		if e.File != a.at.name {
			continue
		}
		runes := []rune(e.Source)
		byteAt := func(i int) int {
			at := e.At(i)
			return a.text.place(yamltree.Pos{Line: at.Line, Col: at.Col})
		}
		if byteAt(0) > c.at || byteAt(len(runes)) < c.at {
			continue
		}
		n := sort.Search(len(runes), func(i int) bool { return byteAt(i) >= c.at })
		words, begun := e.Complete(string(runes[:n]))
		c.begun = begun
		if begun > 0 && n >= begun {
			c.begun = c.at - byteAt(n-begun)
		}
		for _, w := range words {
			kind := map[string]int{"function": functionItem, "field": fieldItem, "group": moduleItem, "value": valueItem}[w.Kind]
			if kind == 0 {
				kind = variableItem
			}
			c.add(kind, w.Name, w.Name, w.Type, w.Doc)
		}
		return true
	}
	return false
}

// node completes a key or a value of YAML.
func (c *completer) node(a *analysis, isKey bool) {
	src := a.text.src
	c.begun = c.at - len(strings.TrimRightFunc(src[:c.at], isWordRune))
	at := a.text.pos(c.at)
	steps, key := pathTo(a.root(), at)
	if key != nil && isKey {
		last := steps[len(steps)-1]
		for _, s := range fitting(c.v.server.schemaAt(a.kind, steps[:len(steps)-1]), last.node) {
			for _, name := range s.keys() {
				if have := last.node.Get(name); have == nil || name == key.Value {
					insert := name + ": "
					if strings.HasPrefix(strings.TrimLeft(c.v.a.text.src[c.at:], " "), ":") {
						insert = name
					}
					c.add(propertyItem, name, insert, "", descriptionOf(s.property(name)))
				}
			}
		}
	}
	c.names(a, steps)
	if key == nil || !isKey {
		for _, s := range c.v.server.schemaAt(a.kind, steps) {
			doc, _ := s.node["description"].(string)
			for _, v := range s.values() {
				c.add(valueItem, v, v, "", doc)
			}
		}
	}
}

// keyPath is the keys on the way to a node, "" for an item of a list.
type keyPath []string

// up returns the key i steps above the last, "" if there is none.
func (k keyPath) up(i int) string {
	if i < len(k) {
		return k[len(k)-1-i]
	}
	return ""
}

// names completes names that the policy declares, where no expression is: of facts, params, rules and files.
func (c *completer) names(a *analysis, steps []step) {
	keys := make(keyPath, len(steps))
	for i, s := range steps {
		keys[i] = s.key
	}
	if len(keys) > 0 && a.kind == tests { // the last step is the name, or an item of a list of names
		if kind := testedKind(keys); kind != "" {
			c.declared(a, kind, "", keys)
		}
		return
	}
	if len(keys) == 0 {
		return
	}
	switch last := keys.up(0); {
	case last == "include":
		c.files(a)
	case last == "archive", last == "delete", last == "set", last == "state" && keys.up(1) == "loop", keys.up(1) == "start":
		c.declared(a, "fact", a.at.name, keys)
	case last == "remember":
		c.declared(a, "memory", a.at.name, keys)
	case keys.up(1) == "limits":
		c.declared(a, "param", a.at.name, keys)
	case keys.up(1) == "with":
		include := steps[len(steps)-2].node.Get("include")
		for _, w := range a.words() {
			if include != nil && w.Kind == "include" && w.Name == include.Value && w.Pos.File == a.at.name {
				c.declared(a, "param", w.Decl.File, keys)
			}
		}
	}
}

// declared completes the names of a kind that a file declares, "" for any file.
func (c *completer) declared(a *analysis, kind, file string, keys keyPath) {
	isKey := slices.Contains([]string{"with", "start", "facts", "problem", "memory", "repeated", "waited", "set"}, keys.up(1))
	for _, w := range a.words() {
		if w.Kind == kind && w.Pos == w.Decl && (file == "" || w.Pos.File == file) {
			insert := w.Name
			if isKey && !strings.HasPrefix(strings.TrimLeft(c.v.a.text.src[c.at:], " "), ":") {
				insert += ": "
			}
			c.add(variableItem, w.Name, insert, w.Type, w.Doc)
		}
	}
}

// files completes the files that a policy can include.
func (c *completer) files(a *analysis) {
	src := c.v.a.text.src[:c.at]
	c.begun = c.at - len(strings.TrimRightFunc(src, func(r rune) bool { return isWordRune(r) || r == ':' || r == '/' || r == '.' }))
	if shipped := c.v.server.language.Shipped; shipped != nil {
		guards, _ := fs.Glob(shipped, "guards/*.yaml") // the pattern is well formed
		for _, g := range guards {
			name := "ralph:" + strings.TrimSuffix(g, ".yaml")
			c.add(fileItem, name, name, "", "")
		}
	}
	for _, name := range c.v.snap.overlay(a.at.root).beside(path.Dir(a.at.name)) {
		if name != a.at.name && !strings.HasSuffix(name, policytest.Suffix) && path.Base(name) != "config.yaml" {
			c.add(fileItem, path.Base(name), path.Base(name), "", "")
		}
	}
}

// tested is a name of the policy in its tests.
type tested struct {
	kind, name string
	from, to   int
}

// testedKind returns the kind of the names that a path in a file of tests leads to, "" if to none.
func testedKind(keys keyPath) string {
	switch {
	case keys.up(0) == "rule" && keys.up(1) == "expect":
		return "rule"
	case slices.Contains([]string{"repeated", "waited"}, keys.up(1)) && keys.up(2) == "given":
		return "rule"
	case slices.Contains([]string{"facts", "missing", "invalid", "problem"}, keys.up(1)) && keys.up(2) == "given":
		return "fact"
	case slices.Contains([]string{"read", "unread"}, keys.up(1)) && keys.up(2) == "expect":
		return "fact"
	case keys.up(1) == "memory" && (keys.up(2) == "given" || keys.up(2) == "expect"):
		return "memory"
	case keys.up(1) == "set" && keys.up(2) == "given":
		return "param"
	}
	return ""
}

// testedIn returns the names of the policy in a file of tests.
func testedIn(n *yamltree.Node, t *text, keys keyPath) (all []tested) {
	if n == nil {
		return nil
	}
	add := func(n *yamltree.Node, keys keyPath) {
		if kind := testedKind(keys); kind != "" && n.Kind == yamltree.Scalar {
			all = append(all, tested{kind, n.Value, t.place(n.Start), t.place(n.End())})
		}
	}
	for _, f := range n.Fields {
		inner := append(slices.Clip(keys), f.Key.Value)
		if f.Key.Value != "rule" {
			add(f.Key, inner)
		} else {
			add(f.Value, inner)
		}
		all = append(all, testedIn(f.Value, t, inner)...)
	}
	for _, item := range n.Items {
		inner := append(slices.Clip(keys), "")
		add(item, inner)
		all = append(all, testedIn(item, t, inner)...)
	}
	return all
}

// quick analyzes a file without the checks of the whole policy, only for the words.
func (s *server) quick(ctx context.Context, snap *snapshot, at location) *analysis {
	return s.analyzeBy(ctx, snap, at, rules.Load)
}
