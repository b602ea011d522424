package rules

import (
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// text is a template, or a list of parts. It compiles when it is first rendered, because a hook that runs once never
// needs most texts of a policy; check compiles all of them.
type text struct {
	scope *scope
	node  *yamltree.Node
	expr  bool // the node is one expression, not a template
	once  sync.Once
	parts []passage
}

// passage is a part of a text: a literal with ${expr} placeholders. It is omitted unless all its conditions are true.
type passage struct {
	when []*cond // nil is a condition that does not compile
	segs []segment
}

// passages calls f for each part of the node of a text, with its conditions and its template.
func passages(n *yamltree.Node, f func(when []*yamltree.Node, template *yamltree.Node)) {
	if n.Kind == yamltree.Scalar {
		f(nil, n)
		return
	}
	for _, item := range n.Items {
		when, template := item.Get("when"), item
		if item.Kind == yamltree.Map {
			template = item.Get("text")
		}
		switch {
		case when == nil:
			f(nil, template)
		case when.Kind == yamltree.List:
			f(when.Items, template)
		default:
			f([]*yamltree.Node{when}, template)
		}
	}
}

// segments returns those of all parts compiled so far.
func (t *text) segments() []segment {
	var out []segment
	if t != nil {
		for _, part := range t.parts {
			out = append(out, part.segs...)
		}
	}
	return out
}

// written returns the text as the policy has it, without the conditions of its parts.
func (t *text) written() string {
	var parts []string
	passages(t.node, func(_ []*yamltree.Node, n *yamltree.Node) {
		parts = append(parts, strings.TrimRight(n.Value, " \t\r\n"))
	})
	return strings.Join(parts, "\n")
}

// segment is a literal or, if placeholder or broken is set, a placeholder.
type segment struct {
	literal     string // at most one line, with its end
	solid       bool   // the literal is not blank
	ends        bool   // the literal ends a line
	placeholder *cond
	src         string // of the placeholder
	broken      bool   // the placeholder does not compile
	number      bool   // its value must be a number
}

// constant reports whether params alone determine a segment.
func (s *segment) constant() bool {
	reads := false
	s.placeholder.walk(func(o *operand) {
		reads = reads || len(o.uses.calls) > 0 || slices.ContainsFunc(o.uses.syms, func(s *symbol) bool { return s.kind != constSymbol })
	})
	return !reads
}

// placeholder is a ${…} in a template, with offsets in runes.
type placeholder struct {
	literal  string // the literal before it, unescaped
	src      string
	offset   int // of src
	unclosed bool
	last     bool // no placeholder, only the trailing literal
}

// splitTemplate returns the placeholders of a template. A placeholder ends at the brace that matches its first one,
// outside of quotes. $${ is a literal ${.
func splitTemplate(s string) []placeholder {
	var placeholders []placeholder
	var lit strings.Builder
	offset := 0 // in runes
	for i := 0; i < len(s); {
		if strings.HasPrefix(s[i:], "$${") {
			lit.WriteString("${")
			i, offset = i+3, offset+3
			continue
		}
		if strings.HasPrefix(s[i:], "${") {
			end := closingBrace(s, i+2)
			h := placeholder{literal: lit.String(), offset: offset + 2}
			lit.Reset()
			if end < 0 {
				h.unclosed = true
				h.src = s[i+2:]
				return append(placeholders, h)
			}
			h.src = s[i+2 : end]
			placeholders = append(placeholders, h)
			offset += utf8.RuneCountInString(s[i : end+1])
			i = end + 1
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		lit.WriteString(s[i : i+n])
		i, offset = i+n, offset+1
	}
	return append(placeholders, placeholder{literal: lit.String(), last: true})
}

// closingBrace returns the offset of the } that closes the placeholder which begins at i, -1 if none does.
func closingBrace(s string, i int) int {
	depth, end := 0, -1
	unquoted([]byte(s), i, func(i, _ int) bool {
		switch s[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				end = i
			}
		}
		return end < 0
	})
	return end
}

// segments compiles a template. Problems are reported; the text is still usable.
func (c *compiler) segments(sc *scope, n *yamltree.Node) []segment {
	var segs []segment
	for _, h := range splitTemplate(n.Value) {
		if h.literal != "" {
			segs = append(segs, segment{literal: h.literal})
		}
		switch {
		case h.last:
		case h.unclosed:
			c.report(sc.file, n.At(h.offset-2), n.At(h.offset), Error, "template", "close it with }, or write $${ for the two characters", "the placeholder ${ is never closed")
			c.index.expression(&snippet{scope: sc, src: h.src, node: n, offset: h.offset}, nil)
			segs = append(segs, segment{src: h.src, broken: true})
		default:
			root, kind := c.expression(snippet{scope: sc, src: h.src, node: n, offset: h.offset}, false)
			segs = append(segs, segment{placeholder: root, src: h.src, broken: root == nil, number: kind.IsInteger || kind.IsFloat})
		}
	}
	return segs
}

func (c *compiler) newText(sc *scope, n *yamltree.Node) *text {
	if n == nil {
		return nil
	}
	t := c.addText(&text{scope: sc, node: n})
	if !c.lazy {
		passages(n, func(_ []*yamltree.Node, n *yamltree.Node) { c.checkForeign(sc, n) })
	}
	return t
}

// addText compiles t now, or at its first use if the program is loaded lazily.
func (c *compiler) addText(t *text) *text {
	if c.texts = append(c.texts, t); !c.lazy {
		t.once.Do(func() { c.fill(t) })
	}
	return t
}

// fill compiles a text.
func (c *compiler) fill(t *text) {
	if t.expr {
		t.parts = []passage{{segs: c.number(t.scope, t.node)}}
		return
	}
	passages(t.node, func(when []*yamltree.Node, n *yamltree.Node) {
		part := passage{}
		for _, w := range when {
			root, _ := c.expression(snippetOf(t.scope, w), true)
			part.when = append(part.when, root)
		}
		part.segs = lines(c.segments(t.scope, n))
		for _, s := range part.segs {
			s.placeholder.walk((*operand).findExplained)
		}
		t.parts = append(t.parts, part)
	})
}

// lines splits the literals of segments at line ends.
func lines(segs []segment) []segment {
	out := make([]segment, 0, len(segs))
	for _, s := range segs {
		if s.literal == "" {
			out = append(out, s)
		}
		for line := range strings.Lines(s.literal) {
			out = append(out, segment{literal: line, solid: strings.TrimSpace(line) != "", ends: strings.HasSuffix(line, "\n")})
		}
	}
	return out
}

// findExplained records the facts whose problem an operand shows.
func (o *operand) findExplained() {
	readBy(&cond{op: leaf, operand: o}, map[*symbol]bool{}, func(s *symbol) {
		if s.kind == askSymbol && s.ask == "problem" {
			o.explains = append(o.explains, s.fact)
		}
	})
}

// compiled returns the parts of t, which it compiles at the first call.
func (p *Program) compiled(t *text) []passage {
	t.once.Do(func() {
		p.machine.mu.Lock()
		defer p.machine.mu.Unlock()
		reported := p.machine.compiler.diags
		p.machine.compiler.diags = new(Diagnostics) // check reports the errors; a text works without its invalid parts
		p.machine.compiler.fill(t)
		p.machine.compiler.diags = reported
	})
	return t.parts
}
