package lsp

import (
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// An encoding is how the characters of a position count.
type encoding string

const (
	utf8Units  encoding = "utf-8"
	utf16Units encoding = "utf-16"
	utf32Units encoding = "utf-32"
)

// size returns how many units a character has.
func (e encoding) size(r rune) int {
	switch e {
	case utf8Units:
		return utf8.RuneLen(r)
	case utf32Units:
		return 1
	}
	return utf16.RuneLen(r)
}

// position is a place in a text of the protocol: it counts lines and units of a line from 0.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// span is a range of the protocol: the end is exclusive.
type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

// text is one version of a file. It does not change. It is always valid UTF-8: JSON has nothing else.
type text struct {
	src   string
	units encoding
	lines []int  // where lines begin for the protocol, in bytes
	rows  []int  // and for YAML, which a single carriage return does not end
	marks []mark // places at intervals, so that a long line takes no longer than others
}

// mark is how much of a text is before a place of it.
type mark struct{ bytes, runes, units int }

func newText(src string, units encoding) *text {
	const interval = 256
	t := &text{src: src, units: units, lines: []int{0}, rows: []int{0}, marks: []mark{{}}}
	var m mark
	for i, r := range src {
		if m.bytes = i; i-t.marks[len(t.marks)-1].bytes >= interval {
			t.marks = append(t.marks, m)
		}
		m.runes, m.units = m.runes+1, m.units+units.size(r)
		switch {
		case r == '\n':
			t.lines, t.rows = append(t.lines, i+1), append(t.rows, i+1)
		case r == '\r' && (i+1 == len(src) || src[i+1] != '\n'):
			t.lines = append(t.lines, i+1)
		}
	}
	return t
}

// lineEnd returns the end of a line, without what ends it.
func (t *text) lineEnd(line int) int {
	if line+1 == len(t.lines) {
		return len(t.src)
	}
	return max(t.lines[line], t.lines[line]+len(strings.TrimRight(t.src[t.lines[line]:t.lines[line+1]], "\r\n")))
}

// next moves a mark past one character.
func (t *text) next(m mark) mark {
	r, n := utf8.DecodeRuneInString(t.src[m.bytes:])
	return mark{m.bytes + n, m.runes + 1, m.units + t.units.size(r)}
}

// markAt returns the mark of a byte.
func (t *text) markAt(at int) mark {
	m := t.marks[sort.Search(len(t.marks), func(i int) bool { return t.marks[i].bytes > at })-1]
	for m.bytes < at {
		m = t.next(m)
	}
	return m
}

// last returns the last mark from the byte start on for which within holds. It holds for the first marks.
func (t *text) last(start int, within func(mark) bool) mark {
	m := t.markAt(start)
	if i := sort.Search(len(t.marks), func(i int) bool { return !within(t.marks[i]) }) - 1; i >= 0 && t.marks[i].bytes > start {
		m = t.marks[i]
	}
	for m.bytes < len(t.src) {
		next := t.next(m)
		if !within(next) {
			break
		}
		m = next
	}
	return m
}

// offset returns the byte at a position, the nearest one if there is none. torn reports that the position is in the middle
// of a character of two units; then the byte is that of the character.
func (t *text) offset(p position) (at int, torn bool) {
	if p.Line < 0 {
		return 0, false
	}
	if p.Line >= len(t.lines) {
		return len(t.src), false
	}
	start, end := t.lines[p.Line], t.lineEnd(p.Line)
	want := t.markAt(start).units + max(p.Character, 0)
	m := t.last(start, func(m mark) bool { return m.units <= want && m.bytes <= end })
	return m.bytes, m.units < want && m.bytes < end
}

// position returns the position of a byte.
func (t *text) position(at int) position {
	at = min(max(at, 0), len(t.src))
	line := sort.Search(len(t.lines), func(i int) bool { return t.lines[i] > at }) - 1
	return position{line, t.markAt(min(at, t.lineEnd(line))).units - t.markAt(t.lines[line]).units}
}

// place returns the byte at a place of a finding.
func (t *text) place(p yamltree.Pos) int {
	if p.Line < 1 {
		return 0
	}
	if p.Line > len(t.rows) {
		return len(t.src)
	}
	start, end := t.rows[p.Line-1], len(t.src)
	if p.Line < len(t.rows) {
		end = t.rows[p.Line] - 1
	}
	if p.Line == 1 && strings.HasPrefix(t.src, bom) { // it does not count
		start += len(bom)
	}
	want := t.markAt(start).runes + p.Col - 1
	return t.last(start, func(m mark) bool { return m.runes <= want && m.bytes <= end }).bytes
}

const bom = "\ufeff"

// pos returns the place of a byte.
func (t *text) pos(at int) yamltree.Pos {
	row := sort.Search(len(t.rows), func(i int) bool { return t.rows[i] > at }) - 1
	start := t.rows[row]
	if row == 0 && strings.HasPrefix(t.src, bom) {
		start = min(at, len(bom))
	}
	return yamltree.Pos{Line: row + 1, Col: t.markAt(at).runes - t.markAt(start).runes + 1}
}

// span returns the range between two bytes.
func (t *text) span(from, to int) span { return span{t.position(from), t.position(to)} }

// between returns the range between two places.
func (t *text) between(from, to yamltree.Pos) span {
	return t.span(t.place(from), max(t.place(from), t.place(to)))
}

// a change replaces a range, or everything.
type change struct {
	Range *span  `json:"range"`
	Text  string `json:"text"`
}

// changed returns the text after a change. What is left of a character that the range cuts in two counts one unit, as in
// the editor.
func (t *text) changed(c change) *text {
	if c.Range == nil {
		return newText(c.Text, t.units)
	}
	from, cut := t.offset(c.Range.Start)
	to, torn := t.offset(c.Range.End)
	before, after := t.src[:from], ""
	if cut {
		before += "\ufffd"
	}
	if to = max(from, to); torn {
		_, n := utf8.DecodeRuneInString(t.src[to:])
		after, to = "\ufffd", to+n
	}
	if cut && from == to { // both ends are within one character, or there is nothing to remove
		_, n := utf8.DecodeRuneInString(t.src[from:])
		after, to = "\ufffd", from+n
	}
	return newText(before+c.Text+after+t.src[to:], t.units)
}
