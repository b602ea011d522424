package yamltree

import (
	"fmt"
	"math/bits"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// slab returns how many nodes of a text to allocate at a time: most policies have one for every twenty bytes, and
// touching unused memory costs a hook time.
func slab(text string) int { return max(len(text)/20, 16) }

// smallMap is the number of keys up to which pairwise comparison is cheaper than a map.
const smallMap = 12

// A builder converts the library's nodes to ours, in one pass, and looks for what YAML reads differently from what the
// author meant.
type builder struct {
	file     *file
	problems []Problem
	free     []Node
	count    int
	full     bool  // MaxNodes was exceeded and reported
	deep     bool  // so was MaxDepth
	misread  error // the first position that was misread

	// The library's positions are in the order of the file, so searches start from the last one.
	line, col, offset int
}

// document builds the root, or returns nil.
func (b *builder) document(doc *yaml.Node) *Node {
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		b.report(0, 0, CheckDocument, "the file contains no YAML document", "write the policy here; it begins with `ralph: 1`")
		return nil
	}
	return b.node(doc.Content[0], 0, -1, false)
}

// node builds one node and its descendants. parent is the column, from 0, of its block key or dash; flow says that it
// is within brackets.
func (b *builder) node(y *yaml.Node, depth, parent int, flow bool) *Node {
	n := b.alloc()
	n.file = b.file
	n.offset, n.Start = b.seek(y.Line, y.Column)
	n.Comment = y.LineComment
	switch y.Kind {
	case yaml.MappingNode:
		n.Kind, n.Tag = Map, "!!map"
	case yaml.SequenceNode:
		n.Kind, n.Tag = List, "!!seq"
	case yaml.AliasNode:
		b.wrong(n, "an alias")
		return n
	default:
		n.Value, n.Tag = y.Value, y.Tag
	}
	n.Style = style(y)
	if b.hasProperty(n.offset) {
		b.properties(n, y)
	}
	if n.Kind == Scalar {
		b.scalar(n, parent, flow)
		return n
	}
	if depth == MaxDepth {
		if !b.deep {
			b.deep = true
			b.report(n.offset, n.offset+1, CheckDepth,
				fmt.Sprintf("more than %d maps and lists inside one another", MaxDepth), "write it flatter")
		}
		return n
	}
	if flow = n.Style == Flow; !flow {
		parent = n.Start.Col - 1
	}
	if n.Kind == List {
		n.Items = make([]*Node, 0, len(y.Content))
		for _, item := range y.Content {
			if b.full {
				break
			}
			n.Items = append(n.Items, b.node(item, depth+1, parent, flow))
		}
		return n
	}
	n.Fields = make([]Field, 0, len(y.Content)/2)
	for i := 0; i+1 < len(y.Content) && !b.full; i += 2 {
		key := b.node(y.Content[i], depth+1, parent, flow)
		b.key(key, y.Content[i])
		n.Fields = append(n.Fields, Field{key, b.node(y.Content[i+1], depth+1, parent, flow)})
	}
	if len(n.Fields) == 1 {
		b.split(n)
	}
	b.duplicates(n)
	return n
}

// alloc takes a node from the slab.
func (b *builder) alloc() *Node {
	if len(b.free) == 0 {
		b.free = make([]Node, slab(b.file.text))
	}
	n := &b.free[0]
	b.free = b.free[1:]
	b.count++
	if b.count > MaxNodes && !b.full {
		b.full = true
		b.report(0, 0, CheckSize, fmt.Sprintf("more than %d values", MaxNodes), "split the file and include the parts")
	}
	return n
}

// seek returns the byte offset of a line and column of the library. A line after the last one is the end of the text.
func (b *builder) seek(line, col int) (int, Pos) {
	f := b.file
	if line < 1 || line > len(f.lines) || int(f.lines[line-1])+col-1 > len(f.text) {
		return len(f.text), f.pos(len(f.text))
	}
	start := int(f.lines[line-1])
	if f.ascii {
		return start + col - 1, Pos{line, col}
	}
	if line != b.line || col < b.col {
		b.line, b.col, b.offset = line, 1, start
	}
	for ; b.col < col && b.offset < len(f.text); b.col++ {
		_, size := utf8.DecodeRuneInString(f.text[b.offset:])
		b.offset += size
	}
	return b.offset, Pos{line, b.col}
}

// hasProperty reports whether a tag or anchor is at offset.
func (b *builder) hasProperty(offset int) bool {
	return offset < len(b.file.text) && (b.file.text[offset] == '!' || b.file.text[offset] == '&')
}

func (b *builder) report(start, end int, check, message, help string) {
	if len(b.problems) < maxProblems {
		b.problems = append(b.problems, b.file.problem(start, end, check, message, help))
	}
}

func (f *file) problem(start, end int, check, message, help string) Problem {
	return Problem{Start: f.pos(start), End: f.pos(max(start, end)), Check: check, Message: message, Help: help}
}

// wrong records that the library misread something; a diagnosis determines what.
func (b *builder) wrong(n *Node, what string) {
	if b.misread == nil {
		b.misread = fmt.Errorf("line %d: %s", n.Start.Line, what)
	}
}

// properties moves the start of a node after its tags, which must be those that YAML implies.
func (b *builder) properties(n *Node, y *yaml.Node) {
	text, start := b.file.text, n.offset
	end := start
	for b.hasProperty(n.offset) {
		end = n.offset + len(property(text[n.offset:]))
		if tagKind(text[n.offset:end]) != y.Kind {
			b.wrong(n, "a tag or an anchor")
			break
		}
		n.offset = skipSpace(text, end)
	}
	if n.Kind == Scalar && n.Style == Plain && n.Value == "" {
		n.offset = end
	}
	n.Start = b.file.pos(n.offset)
	if n.Tag == "!!float" || n.Tag == "!!int" || n.Tag == "!!bool" || n.Tag == "!!null" {
		b.typed(n, start, end)
	}
}

// property returns the tag, anchor or alias at the beginning of text, or "".
func property(text string) string {
	ends := unicode.IsSpace
	switch {
	case text == "" || strings.IndexByte("!&*", text[0]) < 0:
		return ""
	case text[0] != '!':
		ends = func(r rune) bool { return r >= 0x80 || !isWord(byte(r)) && r != '-' }
	}
	if n := strings.IndexFunc(text[1:], ends); n >= 0 {
		return text[:1+n]
	}
	return text
}

// tagKind returns the kind of node for an implied tag, or 0.
func tagKind(tag string) yaml.Kind {
	switch tag {
	case "!!str", "!!int", "!!float", "!!bool", "!!null":
		return yaml.ScalarNode
	case "!!map":
		return yaml.MappingNode
	case "!!seq":
		return yaml.SequenceNode
	}
	return 0
}

// typed checks an explicit tag against the value: the library does so only when decoding.
func (b *builder) typed(n *Node, start, end int) {
	bare := yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}
	if got := bare.ShortTag(); got == n.Tag || got == "!!int" && n.Tag == "!!float" {
		return
	}
	b.report(start, end, CheckTag, fmt.Sprintf("`%s` does not fit the tag `%s`", n.Value, n.Tag), "remove the tag")
	n.Tag = "!!str"
}

// scalar looks for common mistakes in scalars, and sets the tags of YAML 1.2.
func (b *builder) scalar(n *Node, parent int, flow bool) {
	switch n.Tag {
	case "!!timestamp", "!!merge": // of YAML 1.1
		n.Tag = "!!str"
	}
	switch n.Style {
	case Plain:
		b.cut(n, flow)
	case SingleQuoted, DoubleQuoted:
		b.swallowed(n, parent)
	}
}

// cut reports a plain expression that ends too early: with brackets open, before a ` #` or, between brackets, a comma.
func (b *builder) cut(n *Node, flow bool) {
	if n.Comment == "" && !flow || !strings.ContainsAny(n.Value, "([{\"'") {
		return
	}
	text, next := b.file.text, n.end()
	for next < len(text) && (text[next] == ' ' || text[next] == '\t') {
		next++
	}
	switch {
	case next >= len(text):
	case text[next] == '#' && torn(n.Value, text[next:b.file.lineEnd(next)]), text[next] == ',' && flow && open(n.Value) == '(':
		b.wrong(n, "an expression that is cut off")
	}
}

// split reports an expression that a `: ` made a map.
func (b *builder) split(n *Node) {
	if key := n.Fields[0].Key; n.Style == Block && key.Style == Plain && unfinished(key.Value) {
		b.wrong(n, "an expression that is a key")
	}
}

// unfinished reports whether a key is the beginning of an expression: it ends with a bracket or quote open, or within a
// `? :`.
func unfinished(key string) bool { return open(key) != 0 || strings.Contains(key, " ? ") }

// swallowed reports a quoted scalar that continues on the lines below because its closing quote is missing: the library
// reads up to the next quote anywhere.
func (b *builder) swallowed(n *Node, parent int) {
	text := b.file.text
	if quotedEnd(text[n.offset:b.file.lineEnd(n.offset)]) > 0 {
		return
	}
	first, end := b.file.lineAt(n.offset), n.end()
	for line := first + 1; line < len(b.file.lines) && int(b.file.lines[line]) < end; line++ {
		if start, stop, col := b.file.content(line); start < stop && col <= parent {
			b.wrong(n, "a quote that is not closed")
			return
		}
	}
}

// key checks that a key is text.
func (b *builder) key(key *Node, y *yaml.Node) {
	var message, help string
	check := CheckKey
	switch {
	case y.Tag == "!!merge":
		check, message, help = CheckAlias, "`<<` is a YAML merge key; a policy has none", "write the fields out"
	case key.Kind != Scalar:
		message, help = fmt.Sprintf("a %s as a key", key.Kind), helpKey
	case key.Tag == "!!str":
		return
	case key.Value == "":
		message, help = messageNoKey, helpKey
	default:
		message = fmt.Sprintf("the key `%s` must be a string; got a %s", key.Value, tagName(key.Tag))
		help = fmt.Sprintf("quote it: %q", key.Value)
	}
	b.report(key.offset, key.end(), check, message, help)
}

// tagName returns the name of a scalar's type for users.
func tagName(tag string) string {
	switch tag {
	case "!!int", "!!float":
		return "number"
	case "!!bool":
		return "boolean"
	}
	return strings.TrimPrefix(tag, "!!")
}

// duplicates reports the keys that a map gives more than once.
func (b *builder) duplicates(n *Node) {
	if len(n.Fields) <= smallMap {
		for i, f := range n.Fields {
			for _, g := range n.Fields[:i] {
				if f.Key.Value == g.Key.Value && f.Key.Kind == Scalar && g.Key.Kind == Scalar {
					b.duplicate(f.Key, g.Key)
					break
				}
			}
		}
		return
	}
	first := make(map[string]*Node, len(n.Fields))
	for _, f := range n.Fields {
		if f.Key.Kind != Scalar {
			continue
		}
		if g := first[f.Key.Value]; g != nil {
			b.duplicate(f.Key, g)
			continue
		}
		first[f.Key.Value] = f.Key
	}
}

func (b *builder) duplicate(key, earlier *Node) {
	b.report(key.offset, key.end(), CheckDuplicate, fmt.Sprintf("duplicate key `%s`", key.Value),
		fmt.Sprintf("it is first at %s; keep one of the two", earlier.Start))
}

// style returns the style of a node of the library: a bit for each, in our order, above the bit of a tag.
func style(y *yaml.Node) Style {
	if s := Style(bits.Len32(uint32(y.Style / yaml.DoubleQuotedStyle))); s != Plain || y.Kind == yaml.ScalarNode {
		return s
	}
	return Block
}
