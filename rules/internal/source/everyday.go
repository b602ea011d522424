package source

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// A hook reads its policies at every stop, and the YAML library is most of what
// that costs. Policies are written in a small part of YAML: block maps and lists,
// values on one line, literal blocks. everyday reads that part, in a tenth of the
// time, into the very nodes that the library makes. It is sure of what it reads
// or it gives up, and then the library reads the whole text: whatever is unusual,
// and whatever is wrong, is the library's. A fuzz target holds the two together.
func everyday(text string) *yaml.Node {
	if !strings.HasSuffix(text, "\n") || strings.ContainsFunc(text, unusual) {
		return nil
	}
	e := everydayReader{text: text}
	if !e.next() || e.indent != 0 {
		return nil
	}
	root := e.block(0, 0)
	if root == nil || !e.done {
		return nil
	}
	return &yaml.Node{Kind: yaml.DocumentNode, Line: root.Line, Column: root.Column, Content: []*yaml.Node{root}}
}

// unusual reports whether YAML may have something to say about a character.
func unusual(r rune) bool {
	switch {
	case r < 0x7f:
		return r < ' ' && r != '\n'
	case r < 0xa0, r >= 0xd800 && r < 0xe000, r >= 0xfff0:
		return true
	}
	return r == '\u2028' || r == '\u2029' || r == '\ufeff'
}

// everydayReader stands on a line that holds something.
type everydayReader struct {
	text   string
	at     int    // offset of the line behind
	num    int    // of the line, from 1
	line   string // without its end
	indent int
	done   bool // there is no line any more
	free   []yaml.Node
}

func (e *everydayReader) alloc() *yaml.Node {
	if len(e.free) == 0 {
		e.free = make([]yaml.Node, slab(e.text))
	}
	n := &e.free[0]
	e.free = e.free[1:]
	return n
}

// advance goes to the next line of any kind.
func (e *everydayReader) advance() bool {
	if e.at >= len(e.text) {
		e.done = true
		return false
	}
	rest := e.text[e.at:]
	end := strings.IndexByte(rest, '\n')
	e.line = rest[:end]
	e.at += end + 1
	e.num++
	e.indent = len(e.line) - len(strings.TrimLeft(e.line, " "))
	return true
}

// next goes to the next line that is neither blank nor a comment. It is false at
// the end.
func (e *everydayReader) next() bool {
	for e.advance() {
		if rest := e.line[e.indent:]; rest != "" && rest[0] != '#' {
			return true
		}
	}
	return false
}

// column is where a byte of the line stands, in runes from 1.
func (e *everydayReader) column(offset int) int {
	return utf8.RuneCountInString(e.line[:offset]) + 1
}

func (e *everydayReader) node(kind yaml.Kind, tag string, offset int) *yaml.Node {
	n := e.alloc()
	n.Kind, n.Tag, n.Line, n.Column = kind, tag, e.num, e.column(offset)
	return n
}

// block reads the map or list that begins on this line at this indentation.
func (e *everydayReader) block(indent, depth int) *yaml.Node {
	if depth > MaxDepth {
		return nil
	}
	if isItem(e.line[indent:]) {
		return e.list(indent, depth)
	}
	return e.mapping(indent, depth)
}

func isItem(s string) bool { return strings.HasPrefix(s, "- ") }

// list reads items as long as they stand at this indentation.
func (e *everydayReader) list(indent, depth int) *yaml.Node {
	n := e.node(yaml.SequenceNode, "!!seq", indent)
	for !e.done && e.indent == indent && isItem(e.line[indent:]) {
		at := indent + 2
		at += len(e.line[at:]) - len(strings.TrimLeft(e.line[at:], " "))
		if at == len(e.line) {
			return nil // an empty item
		}
		var item *yaml.Node
		switch _, isKey := keyOf(e.line[at:]); {
		case isItem(e.line[at:]):
			return nil
		case isKey:
			item = e.mapping(at, depth+1)
		default:
			item = e.value(at, indent, depth+1)
		}
		if item == nil {
			return nil
		}
		n.Content = append(n.Content, item)
	}
	if !e.done && e.indent > indent {
		return nil
	}
	return n
}

// mapping reads entries as long as they stand at this indentation. The first one
// may stand behind the dash of an item.
func (e *everydayReader) mapping(indent, depth int) *yaml.Node {
	n := e.node(yaml.MappingNode, "!!map", indent)
	for {
		key, ok := keyOf(e.line[indent:])
		if !ok {
			return nil
		}
		k := e.node(yaml.ScalarNode, plainTag(key), indent)
		k.Value = key
		at := indent + len(key) + 1
		at += len(e.line[at:]) - len(strings.TrimLeft(e.line[at:], " "))
		var v *yaml.Node
		if at == len(e.line) {
			if !e.next() {
				return nil // an empty value
			}
			switch {
			case e.indent > indent:
				v = e.block(e.indent, depth+1)
			case e.indent == indent && isItem(e.line[indent:]):
				v = e.list(indent, depth+1)
			}
		} else {
			v = e.value(at, indent, depth+1)
		}
		if v == nil {
			return nil
		}
		n.Content = append(n.Content, k, v)
		switch {
		case e.done || e.indent < indent:
			return n
		case e.indent > indent || isItem(e.line[indent:]):
			if e.indent == indent { // the next item of a list around it
				return n
			}
			return nil
		}
	}
}

// keyOf gives the plain key that s begins with.
func keyOf(s string) (string, bool) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '_' || c == '-' && i > 0 || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' && i > 0:
		case c == ':' && i > 0 && (i+1 == len(s) || s[i+1] == ' '):
			return s[:i], true
		default:
			return "", false
		}
	}
	return "", false
}

// value reads the value that stands at this offset of the line, below a key or
// dash at the indentation parent, and goes to the line behind it.
func (e *everydayReader) value(at, parent, depth int) *yaml.Node {
	s := e.line[at:]
	switch s[0] {
	case '|':
		return e.literal(at, parent)
	case '{', '[':
		return e.flow(at, parent, depth)
	case '"', '\'':
		n, rest := e.quoted(at)
		if n == nil || !e.ends(n, rest) {
			return nil
		}
		return e.single(n, parent)
	}
	if !startsPlain(s) {
		return nil
	}
	end := len(s)
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case ':':
			if i+1 == len(s) || s[i+1] == ' ' {
				return nil
			}
		case '#':
			if s[i-1] == ' ' { // the first is no #
				end = i
				i = len(s)
			}
		}
	}
	text := strings.TrimRight(s[:end], " ")
	n := e.node(yaml.ScalarNode, plainTag(text), at)
	n.Value = text
	if !e.ends(n, s[end:]) {
		return nil
	}
	return e.single(n, parent)
}

// ends reports whether nothing but a comment is left of a line. A comment whose
// neighbour below is a comment too may be more than one line: that is unusual.
func (e *everydayReader) ends(n *yaml.Node, rest string) bool {
	trimmed := strings.TrimLeft(rest, " ")
	switch {
	case trimmed == "":
		return true
	case trimmed[0] != '#', n.Style != 0 && rest[0] != ' ':
		return false // a comment stands apart
	}
	below := strings.TrimLeft(e.text[e.at:], " ")
	if strings.HasPrefix(below, "#") || strings.HasSuffix(trimmed, " ") {
		return false
	}
	n.LineComment = trimmed
	return true
}

// single goes behind a value of one line. If it goes on below, it is unusual.
func (e *everydayReader) single(n *yaml.Node, parent int) *yaml.Node {
	if e.next() && e.indent > parent {
		return nil
	}
	return n
}

// startsPlain reports whether s begins with a plain value, without a second thought.
func startsPlain(s string) bool {
	c := s[0]
	if c == '-' && len(s) > 1 && s[1] != ' ' {
		c = s[1]
		if c == '-' && len(s) > 2 {
			c = s[2]
		}
	}
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("(./$_<=+;^", c) >= 0
}

// plainTag is the tag that the library gives to a plain value.
func plainTag(s string) string {
	switch c := s[0]; {
	case c == '(' || c == '$' || c == '/' || c == '_':
		return "!!str"
	case c|0x20 < 'a' || c|0x20 > 'z':
	case len(s) > 5 || c|0x20 != 't' && c|0x20 != 'f' && c|0x20 != 'n':
		return "!!str" // neither true nor false nor null
	}
	n := yaml.Node{Kind: yaml.ScalarNode, Value: s}
	return n.ShortTag()
}

// quoted reads a quoted text of one line without escapes.
func (e *everydayReader) quoted(at int) (n *yaml.Node, rest string) {
	s := e.line[at:]
	end := strings.IndexByte(s[1:], s[0]) + 1
	if end == 0 || strings.IndexByte(s[:end], '\\') >= 0 && s[0] == '"' || end+1 < len(s) && s[end+1] == s[0] {
		return nil, ""
	}
	n = e.node(yaml.ScalarNode, "!!str", at)
	n.Value = s[1:end]
	n.Style = yaml.DoubleQuotedStyle
	if s[0] == '\'' {
		n.Style = yaml.SingleQuotedStyle
	}
	return n, s[end+1:]
}

// literal reads a block of lines that begins with | or |-.
func (e *everydayReader) literal(at, parent int) *yaml.Node {
	header := e.line[at:]
	if header != "|" && header != "|-" {
		return nil
	}
	n := e.node(yaml.ScalarNode, "!!str", at)
	n.Style = yaml.LiteralStyle
	if !e.advance() || e.indent <= parent || e.indent == len(e.line) {
		return nil
	}
	indent := e.indent
	var b strings.Builder
	blank := 0 // lines that count only if more text follows
	for more := true; more; more = e.advance() {
		if e.indent == len(e.line) {
			if e.indent > indent {
				return nil // blanks beyond the indentation are text
			}
			blank++
			continue
		}
		if e.indent <= parent {
			break
		}
		if e.indent < indent {
			return nil
		}
		b.WriteString(strings.Repeat("\n", blank))
		blank = 0
		b.WriteString(e.line[indent:])
		b.WriteByte('\n')
	}
	n.Value = b.String()
	if header == "|-" {
		n.Value = n.Value[:len(n.Value)-1]
	}
	if !e.done && e.line[e.indent] == '#' {
		e.next()
	}
	return n
}

// flow reads a map or list in brackets that stands on one line.
func (e *everydayReader) flow(at, parent, depth int) *yaml.Node {
	n, end := e.brackets(at, depth)
	if n == nil || !e.ends(n, e.line[end:]) {
		return nil
	}
	return e.single(n, parent)
}

// brackets reads from an opening bracket and gives the offset behind the closing one.
func (e *everydayReader) brackets(at, depth int) (n *yaml.Node, end int) {
	if depth > MaxDepth {
		return nil, 0
	}
	closing := byte(']')
	if e.line[at] == '{' {
		n, closing = e.node(yaml.MappingNode, "!!map", at), '}'
	} else {
		n = e.node(yaml.SequenceNode, "!!seq", at)
	}
	n.Style = yaml.FlowStyle
	i := e.skip(at + 1)
	if i < len(e.line) && e.line[i] == closing {
		return n, i + 1
	}
	for {
		if closing == '}' {
			key, ok := keyOf(e.line[i:])
			if !ok {
				return nil, 0
			}
			k := e.node(yaml.ScalarNode, plainTag(key), i)
			k.Value = key
			n.Content = append(n.Content, k)
			i = e.skip(i + len(key) + 1)
		}
		var v *yaml.Node
		if v, i = e.inner(i, depth+1); v == nil {
			return nil, 0
		}
		n.Content = append(n.Content, v)
		i = e.skip(i)
		switch {
		case i >= len(e.line):
			return nil, 0
		case e.line[i] == closing:
			return n, i + 1
		case e.line[i] != ',' || i+1 >= len(e.line) || e.line[i+1] != ' ':
			return nil, 0
		}
		if i = e.skip(i + 1); i >= len(e.line) {
			return nil, 0
		}
	}
}

func (e *everydayReader) skip(i int) int {
	for i < len(e.line) && e.line[i] == ' ' {
		i++
	}
	return i
}

// inner reads one value between brackets.
func (e *everydayReader) inner(at, depth int) (n *yaml.Node, end int) {
	if at >= len(e.line) {
		return nil, 0
	}
	switch c := e.line[at]; {
	case c == '{' || c == '[':
		return e.brackets(at, depth)
	case c == '"' || c == '\'':
		n, rest := e.quoted(at)
		return n, len(e.line) - len(rest)
	case !startsPlain(e.line[at:]):
		return nil, 0
	}
	end = at
	for end < len(e.line) && strings.IndexByte(",]}", e.line[end]) < 0 {
		if e.line[end] == ':' && end+1 < len(e.line) && strings.IndexByte(" ,[]{}", e.line[end+1]) < 0 {
			end++
			continue
		}
		if strings.IndexByte("{[:#?&*!|>'\"%@`", e.line[end]) >= 0 {
			return nil, 0
		}
		end++
	}
	text := strings.TrimRight(e.line[at:end], " ")
	n = e.node(yaml.ScalarNode, plainTag(text), at)
	n.Value = text
	return n, end
}
