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
	lines []int // where lines begin for the protocol, in bytes
	rows  []int // and for YAML, which a single carriage return does not end
}

func newText(src string, units encoding) *text {
	t := &text{src: src, units: units, lines: []int{0}, rows: []int{0}}
	for i := 0; i < len(src); i++ {
		switch {
		case src[i] == '\n':
			t.lines, t.rows = append(t.lines, i+1), append(t.rows, i+1)
		case src[i] == '\r' && (i+1 == len(src) || src[i+1] != '\n'):
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

// offset returns the byte at a position, the nearest one if there is none. within reports that the position is in the
// middle of a character of two units; then the byte is that of the character.
func (t *text) offset(p position) (at int, within bool) {
	if p.Line < 0 {
		return 0, false
	}
	if p.Line >= len(t.lines) {
		return len(t.src), false
	}
	at = t.lines[p.Line]
	for left, end := p.Character, t.lineEnd(p.Line); left > 0 && at < end; {
		r, n := utf8.DecodeRuneInString(t.src[at:])
		if size := t.units.size(r); size > left {
			return at, true
		} else {
			left -= size
		}
		at += n
	}
	return at, false
}

// position returns the position of a byte.
func (t *text) position(at int) position {
	at = min(max(at, 0), len(t.src))
	line := sort.Search(len(t.lines), func(i int) bool { return t.lines[i] > at }) - 1
	p := position{Line: line}
	for _, r := range t.src[t.lines[line]:min(at, t.lineEnd(line))] {
		p.Character += t.units.size(r)
	}
	return p
}

// place returns the byte at a place of a finding.
func (t *text) place(p yamltree.Pos) int {
	if p.Line < 1 {
		return 0
	}
	if p.Line > len(t.rows) {
		return len(t.src)
	}
	at, end := t.rows[p.Line-1], len(t.src)
	if p.Line < len(t.rows) {
		end = t.rows[p.Line] - 1
	}
	if p.Line == 1 && strings.HasPrefix(t.src, "\ufeff") { // it does not count
		at += len("\ufeff")
	}
	for left := p.Col - 1; left > 0 && at < end; left-- {
		_, n := utf8.DecodeRuneInString(t.src[at:])
		at += n
	}
	return at
}

// pos returns the place of a byte.
func (t *text) pos(at int) yamltree.Pos {
	row := sort.Search(len(t.rows), func(i int) bool { return t.rows[i] > at }) - 1
	line := t.src[t.rows[row]:at]
	if row == 0 {
		line = strings.TrimPrefix(line, "\ufeff")
	}
	return yamltree.Pos{Line: row + 1, Col: utf8.RuneCountInString(line) + 1}
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
	before, behind := t.src[:from], ""
	if cut {
		before += "\ufffd"
	}
	if to = max(from, to); torn {
		_, n := utf8.DecodeRuneInString(t.src[to:])
		behind, to = "\ufffd", to+n
	}
	if cut && from == to { // both ends are within one character, or there is nothing to remove
		_, n := utf8.DecodeRuneInString(t.src[from:])
		behind, to = "\ufffd", from+n
	}
	return newText(before+c.Text+behind+t.src[to:], t.units)
}
