package yamltree

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// places maps the runes of a scalar's value to bytes of the file.
type places struct {
	runs  []run // ordered by value; the first starts at 0 unless the value is empty
	ascii bool  // runes of the value are bytes
	last  int   // the offset after the last rune
	end   int   // just after the scalar, including a closing quote
}

// A run is a part of the value whose runes are consecutive in the file, or with point all at one position, from an
// escape or a line end.
type run struct {
	rune  int // offset of its first rune in the value, in runes
	value int // the same in bytes
	src   int // byte offset in the file
	point bool
}

// at returns the offset in the file of a rune of the value.
func (p *places) at(value string, offset int) int {
	i := sort.Search(len(p.runs), func(i int) bool { return p.runs[i].rune > offset }) - 1
	if i < 0 {
		if len(p.runs) == 0 {
			return p.last
		}
		i, offset = 0, 0
	}
	r := p.runs[i]
	at := r.value
	if p.ascii {
		at, offset = min(at+max(offset-r.rune, 0), len(value)), 0
	}
	for ; offset > r.rune && at < len(value); offset-- {
		_, size := utf8.DecodeRuneInString(value[at:])
		at += size
	}
	switch {
	case at >= len(value):
		return p.last
	case r.point:
		return r.src
	}
	return r.src + at - r.value
}

// A locator walks through the text of a scalar and its value in parallel.
type locator struct {
	places
	file  *file
	value string
	block bool // | or >
	cut   int  // spaces removed from each line of a block scalar
	rune  int  // how much of the value was found: runes
	done  int  // and bytes
	lost  bool // walk and parser disagree
}

// locate returns the positions of a scalar's value.
func locate(n *Node) *places {
	text, at := n.file.text, n.offset
	l := &locator{file: n.file, value: n.Value, block: n.Style == Literal || n.Style == Folded}
	switch {
	case l.block:
		l.last = l.file.lineEnd(at)
		line := l.file.lineAt(at) + 1
		if l.cut, at = l.indent(line), len(text); line < len(l.file.lines) {
			at = l.begin(int(l.file.lines[line]))
		}
	case n.Style == Plain:
		l.last = at
	default:
		at++
		l.last = at
	}
	for l.done < len(l.value) && at < len(text) && !l.lost {
		switch c := text[at]; {
		case c == '\'' && n.Style == SingleQuoted:
			l.feed('\'', at)
			at += 2
		case c == '\\' && n.Style == DoubleQuoted:
			at = l.escape(at)
		case isSpace(c) && l.blank(at):
			at = l.breaks(at)
		default:
			size := min(len(text)-at, len(l.value)-l.done)
			if i := strings.IndexAny(text[at+1:at+size], " \t\r\n'\\"); i >= 0 {
				size = i + 1
			}
			l.exact(at, size)
			at += size
		}
		if !l.block && !l.lost {
			l.last = at
		}
	}
	l.lost = l.done < len(l.value)
	l.point(l.last, len(l.value)-l.done) // the rest has one position within the scalar
	if n.Style == SingleQuoted || n.Style == DoubleQuoted {
		if l.end = n.offset + quotedEnd(text[n.offset:]); l.end > l.last && !l.lost {
			l.last = l.end - 1
		}
	}
	l.end = max(l.end, l.last)
	l.ascii = l.rune == l.done
	return &l.places
}

// exact maps the next n bytes of the value to src. The walk is lost if they differ.
func (l *locator) exact(src, n int) {
	if l.value[l.done:l.done+n] != l.file.text[src:src+n] {
		l.lost = true
		return
	}
	if k := len(l.runs) - 1; k < 0 || l.runs[k].point || l.runs[k].src-l.runs[k].value != src-l.done {
		l.runs = append(l.runs, run{rune: l.rune, value: l.done, src: src})
	}
	l.found(n, src+n)
}

// point maps the next n bytes of the value to one position src.
func (l *locator) point(src, n int) {
	if n = min(n, len(l.value)-l.done); n > 0 {
		l.runs = append(l.runs, run{rune: l.rune, value: l.done, src: src, point: true})
		l.found(n, src)
	}
}

func (l *locator) found(n, last int) {
	l.rune += utf8.RuneCountInString(l.value[l.done : l.done+n])
	l.done += n
	l.last = last
}

// feed maps the next byte of the value, which must be want, to src.
func (l *locator) feed(want byte, src int) {
	if l.lost = l.lost || l.done >= len(l.value) || l.value[l.done] != want; !l.lost {
		l.point(src, 1)
	}
}

// blank reports whether nothing of the value follows on the line of at.
func (l *locator) blank(at int) bool {
	rest := l.file.text[at:l.file.lineEnd(at)]
	return rest == "" || !l.block && strings.TrimLeft(rest, " \t") == ""
}

// begin returns where the text of the line at start begins.
func (l *locator) begin(start int) int {
	end := l.file.lineEnd(start)
	if !l.block {
		return end - len(strings.TrimLeft(l.file.text[start:end], " \t"))
	}
	end = min(end, start+l.cut)
	return end - len(strings.TrimLeft(l.file.text[start:end], " "))
}

// lineEnds returns the line ends from at on, and where the text after them begins.
func (l *locator) lineEnds(at int) (ends []int, behind int) {
	text := l.file.text
	for at < len(text) && isSpace(text[at]) && l.blank(at) {
		end := l.file.lineEnd(at)
		ends, at = append(ends, end), len(text)
		if n := strings.IndexByte(text[end:], '\n'); n >= 0 {
			at = l.begin(end + n + 1)
		}
	}
	return ends, at
}

// breaks walks through the line ends from at on. A single one is a space, each further one a line feed, except in a
// block scalar whose value has line feeds for the first ones.
func (l *locator) breaks(at int) int {
	ends, behind := l.lineEnds(at)
	rest := l.value[l.done:]
	feeds := len(rest) - len(strings.TrimLeft(rest, "\n"))
	if !l.block {
		feeds = len(ends) - 1
	}
	if feeds == 0 {
		l.feed(' ', ends[0])
	}
	for _, end := range ends[:min(feeds, len(ends))] {
		l.feed('\n', end)
	}
	return behind
}

// escape walks through one escape of a double-quoted scalar. An escaped line end is nothing, but empty lines after it
// are line feeds.
func (l *locator) escape(at int) int {
	text, size := l.file.text, 2
	switch text[at+1 : min(at+2, len(text))] {
	case "\r", "\n":
		ends, behind := l.lineEnds(at + 1)
		for _, end := range ends[1:] {
			l.feed('\n', end)
		}
		return behind
	case "x":
		size = 4
	case "u":
		size = 6
	case "U":
		size = 10
	}
	_, n := utf8.DecodeRuneInString(l.value[l.done:])
	l.point(at, n)
	return min(at+size, len(text))
}

// indent returns how many spaces are removed from each line of a block scalar: the difference between file and value on
// the first nonblank line.
func (l *locator) indent(line int) int {
	trimmed := strings.TrimLeft(l.value, " \n")
	if trimmed == "" {
		return l.blankIndent(line)
	}
	before := l.value[:len(l.value)-len(trimmed)]
	kept := len(before) - 1 - strings.LastIndexByte(before, '\n')
	for ; line < len(l.file.lines); line++ {
		start, end := l.file.line(line)
		text := l.file.text[start:end]
		if rest := strings.TrimLeft(text, " "); rest != "" {
			return max(len(text)-len(rest)-kept, 0)
		}
	}
	return 0
}

// blankIndent returns the indent of a block scalar with only spaces and line feeds.
func (l *locator) blankIndent(line int) int {
	for _, kept := range strings.Split(l.value, "\n") {
		if line >= len(l.file.lines) {
			break
		}
		start, end := l.file.line(line)
		if kept != "" {
			return max(end-start-len(kept), 0)
		}
		line++
	}
	return MaxSize // no line keeps anything
}

// isSpace reports whether c is white space of YAML.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// skipSpace returns the offset of the first byte from i on that is not white space or part of a comment.
func skipSpace(text string, i int) int {
	for i < len(text) {
		switch {
		case isSpace(text[i]):
			i++
		case text[i] == '#' && (i == 0 || isSpace(text[i-1])):
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				return len(text)
			}
			i += n
		default:
			return i
		}
	}
	return i
}
