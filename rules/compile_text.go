package rules

import (
	"bytes"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/rules/internal/source"
)

// text is a template: literal text with ${expr} holes. It compiles when it is
// first rendered, because most texts of a policy are never needed by a hook that
// runs once; check compiles them all.
type text struct {
	scope *scope
	node  *source.Node
	once  sync.Once
	segs  []segment
}

// segment is a literal, or a hole if literal is empty and hole or broken is set.
type segment struct {
	literal string
	hole    *cond
	src     string // of the hole
	broken  bool   // the hole could not be compiled
}

// hole is where a ${…} stands in a template, in runes of the template.
type hole struct {
	literal  string // what stands before it, unescaped
	src      string
	offset   int // of src
	unclosed bool
	last     bool // there is no hole, only the trailing literal
}

// splitTemplate finds the holes of a template. A hole ends at the brace that
// matches its first one, outside of quotes. $${ is a literal ${.
func splitTemplate(s string) []hole {
	var holes []hole
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
			h := hole{literal: lit.String(), offset: offset + 2}
			lit.Reset()
			if end < 0 {
				h.unclosed = true
				h.src = s[i+2:]
				return append(holes, h)
			}
			h.src = s[i+2 : end]
			holes = append(holes, h)
			offset += utf8.RuneCountInString(s[i : end+1])
			i = end + 1
			continue
		}
		_, n := utf8.DecodeRuneInString(s[i:])
		lit.WriteString(s[i : i+n])
		i, offset = i+n, offset+1
	}
	return append(holes, hole{literal: lit.String(), last: true})
}

// closingBrace gives the offset of the } that closes the hole which begins at i.
func closingBrace(s string, i int) int {
	depth := 0
	for i < len(s) {
		switch c := s[i]; c {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		case '"', '\'', '`':
			j := i + 1
			for j < len(s) && s[j] != c {
				if s[j] == '\\' && c != '`' {
					j++
				}
				j++
			}
			if j >= len(s) {
				return -1
			}
			i = j
		}
		i++
	}
	return -1
}

// segments compiles a template. Problems are reported; the text is still usable.
func (c *compiler) segments(sc *scope, n *source.Node) []segment {
	var segs []segment
	for _, h := range splitTemplate(n.Value) {
		if h.literal != "" {
			segs = append(segs, segment{literal: h.literal})
		}
		switch {
		case h.last:
		case h.unclosed:
			c.report(sc.file, n.At(h.offset-2), n.At(h.offset), Error, "template", "close it with }, or write $${ for the two characters", "the hole ${ is never closed")
			segs = append(segs, segment{src: h.src, broken: true})
		default:
			root, _ := c.expression(snippet{scope: sc, src: h.src, node: n, offset: h.offset}, false)
			segs = append(segs, segment{hole: root, src: h.src, broken: root == nil})
		}
	}
	return segs
}

func (c *compiler) newText(sc *scope, n *source.Node) *text {
	if n == nil {
		return nil
	}
	t := &text{scope: sc, node: n}
	if !c.cfg.LazyTexts {
		t.once.Do(func() { t.segs = c.segments(sc, n) })
	}
	return t
}

// compiled gives the segments of t, compiling them at the first call.
func (p *Program) compiled(t *text) []segment {
	t.once.Do(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		var unheard Diagnostics // check tells them; here the text degrades
		p.compiler.diags = &unheard
		t.segs = p.compiler.segments(t.scope, t.node)
		p.compiler.diags = nil
	})
	return t.segs
}

// maxText bounds a rendered text, in bytes: a hole can show a whole file, and a
// text can have many holes.
const maxText = 1 << 20

// render writes a text. A hole that cannot be worked out is written as (?) and
// told in the trace: texts never change a decision.
func (ev *evaluation) render(t *text) string {
	if t == nil {
		return ""
	}
	segs := ev.program.compiled(t)
	defer func(before bool) { ev.telling = before }(ev.telling)
	ev.telling = true
	w := lineWriter{b: ev.buf[:0]}
	ev.buf = nil // a hole may ask a model, whose question is a text too
	for i := range segs {
		s := &segs[i]
		switch {
		case s.literal != "":
			w.literal(s.literal)
		case s.broken:
			ev.warn("the hole ${" + s.src + "} cannot be compiled")
			w.value("(?)")
		default:
			ev.quoted = ev.quoted || s.hole.private()
			v, state := ev.value(s.hole)
			if state != known {
				ev.warn("the hole ${" + s.src + "} is unknown: " + ev.why)
				v = "(?)"
			}
			w.value(v)
		}
		if len(w.b) > maxText {
			ev.warn("a text is longer than " + strconv.Itoa(maxText) + " bytes and is cut")
			w.b = append(truncate(w.b, maxText), "…"...)
			break
		}
	}
	ev.buf = w.end()
	return string(bytes.TrimRight(ev.buf, " \t\r\n"))
}

// truncate cuts b to at most n bytes and tears no character apart.
func truncate(b []byte, n int) []byte {
	for n > 0 && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// lineWriter drops lines that held only holes which rendered to nothing.
type lineWriter struct {
	b     []byte
	start int  // of the line
	hole  bool // the line had a hole
	solid bool // the line has something to show
}

func (w *lineWriter) literal(s string) {
	for {
		i := strings.IndexByte(s, '\n')
		if i < 0 {
			break
		}
		w.text(s[:i])
		w.newline()
		s = s[i+1:]
	}
	w.text(s)
}

func (w *lineWriter) text(s string) {
	w.solid = w.solid || strings.TrimSpace(s) != ""
	w.b = append(w.b, s...)
}

func (w *lineWriter) newline() {
	if w.hole && !w.solid {
		w.b = w.b[:w.start]
	} else {
		w.b = append(w.b, '\n')
	}
	w.start, w.hole, w.solid = len(w.b), false, false
}

func (w *lineWriter) value(v any) {
	before := len(w.b)
	w.b = appendDisplay(w.b, v)
	w.hole = true
	w.solid = w.solid || len(w.b) > before
}

func (w *lineWriter) end() []byte {
	if w.hole && !w.solid {
		w.b = w.b[:w.start]
	}
	return w.b
}
