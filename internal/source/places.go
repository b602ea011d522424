package source

import (
	"sort"
	"strings"
	"unicode/utf8"
)

// places maps the runes of a scalar's value to bytes of the file.
type places struct {
	runs  []run // ordered by value; the first starts at 0 unless the value is empty
	ascii bool  // runes of the value are bytes
	last  int   // where the offset behind the last rune is
	end   int   // just behind the scalar, closing quote included
}

// A run is a stretch of the value. Its runes stand one after another in the file,
// or, if point is set, all at one place: they come from an escape or a line end.
type run struct {
	rune  int // offset of its first rune in the value, in runes
	value int // the same in bytes
	src   int // byte offset in the file
	point bool
}

// at is the offset in the file of a rune of the value.
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

// A locator walks the text of a scalar and its value in step.
type locator struct {
	places
	file  *file
	value string
	rune  int // how much of the value has been found: runes
	done  int // and bytes
	lost  bool
}

// locate finds the runes of a scalar's value in the file.
func locate(n *Node) *places {
	l := &locator{file: n.file, value: n.Value}
	switch n.Style {
	case SingleQuoted:
		l.quoted(n.offset, '\'')
	case DoubleQuoted:
		l.quoted(n.offset, '"')
	case Literal:
		l.literal(n.offset)
	case Folded:
		l.folded(n.offset)
	default:
		l.plain(n.offset)
	}
	if l.lost {
		// The walk and the parser disagree. All that remains is a place within
		// the scalar: where the walk stopped.
		if l.done < len(l.value) {
			l.point(l.last, len(l.value)-l.done)
		}
	}
	l.ascii = l.rune == l.done
	return &l.places
}

// exact says that the next n bytes of the value stand at src. The walk is lost if
// they do not.
func (l *locator) exact(src, n int) {
	if n == 0 || l.lost {
		return
	}
	if l.done+n > len(l.value) || l.value[l.done:l.done+n] != l.file.text[src:src+n] {
		l.lost, l.last = true, src
		return
	}
	if k := len(l.runs) - 1; k < 0 || l.runs[k].point || l.runs[k].src-l.runs[k].value != src-l.done {
		l.runs = append(l.runs, run{rune: l.rune, value: l.done, src: src})
	}
	l.rune += utf8.RuneCountInString(l.value[l.done : l.done+n])
	l.done += n
}

// point says that the next n bytes of the value come from the place src.
func (l *locator) point(src, n int) {
	n = min(n, len(l.value)-l.done)
	if n <= 0 {
		return
	}
	l.runs = append(l.runs, run{rune: l.rune, value: l.done, src: src, point: true})
	l.rune += utf8.RuneCountInString(l.value[l.done : l.done+n])
	l.done += n
}

// feed says that the next byte of the value is want and comes from the place src.
func (l *locator) feed(want byte, src int) {
	if l.lost {
		return
	}
	if l.done >= len(l.value) || l.value[l.done] != want {
		l.lost, l.last = true, src
		return
	}
	l.point(src, 1)
}

// plain walks a scalar without quotes. It ends where the value ends.
func (l *locator) plain(at int) {
	text := l.file.text
	for l.done < len(l.value) && at < len(text) && !l.lost {
		n := min(len(l.value)-l.done, len(text)-at)
		if i := strings.IndexAny(text[at:at+n], " \t\r\n"); i >= 0 {
			n = i
		}
		l.exact(at, n)
		at += n
		if l.done < len(l.value) && !l.lost {
			at = l.space(at)
		}
	}
	l.finish(at, at)
}

// space walks white space within a plain or quoted scalar and returns the offset
// behind it. Blanks around a line end are not part of the value: a single line
// end is a space, each further one a line feed.
func (l *locator) space(at int) int {
	text := l.file.text
	var breaks []int
	i := at
	for ; i < len(text) && isSpace(text[i]); i++ {
		if text[i] == '\n' {
			breaks = append(breaks, breakStart(text, i))
		}
	}
	switch len(breaks) {
	case 0:
		l.exact(at, i-at)
	case 1:
		l.feed(' ', breaks[0])
	default:
		for _, b := range breaks[:len(breaks)-1] {
			l.feed('\n', b)
		}
	}
	return i
}

// quoted walks a scalar between quotes.
func (l *locator) quoted(at int, quote byte) {
	text := l.file.text
	at++
	for at < len(text) && !l.lost {
		n := strings.IndexFunc(text[at:], func(r rune) bool {
			return r == rune(quote) || r == '\\' && quote == '"' || r == ' ' || r == '\t' || r == '\r' || r == '\n'
		})
		if n < 0 {
			n = len(text) - at
		}
		l.exact(at, n)
		at += n
		switch {
		case at >= len(text) || l.lost:
		case text[at] == '\\':
			at = l.escape(at)
		case text[at] != quote:
			at = l.space(at)
		case quote == '\'' && strings.HasPrefix(text[at:], "''"):
			l.feed('\'', at)
			at += 2
		default:
			l.finish(at, at+1)
			return
		}
	}
	l.finish(at, at)
}

// escape walks one escape of a double-quoted scalar. An escaped line end stands
// for nothing, but empty lines behind it are line feeds.
func (l *locator) escape(at int) int {
	text := l.file.text
	if at+1 >= len(text) {
		return len(text)
	}
	switch text[at+1] {
	case '\r', '\n':
		i := at + 1
		for first := true; i < len(text) && isSpace(text[i]); i++ {
			if text[i] != '\n' {
				continue
			}
			if !first {
				l.feed('\n', breakStart(text, i))
			}
			first = false
		}
		return i
	case 'x':
		return l.escaped(at, 4)
	case 'u':
		return l.escaped(at, 6)
	case 'U':
		return l.escaped(at, 10)
	}
	return l.escaped(at, 2)
}

// escaped takes one rune of the value for an escape of n bytes.
func (l *locator) escaped(at, n int) int {
	if l.done >= len(l.value) {
		l.lost, l.last = true, at
		return at
	}
	_, size := utf8.DecodeRuneInString(l.value[l.done:])
	l.point(at, size)
	return min(at+n, len(l.file.text))
}

// literal walks a | text: each line of the value is a line of the file.
func (l *locator) literal(at int) {
	line := l.file.lineAt(at) + 1
	indent := l.indent(line)
	last := l.file.lineEnd(at)
	for l.done < len(l.value) && line < len(l.file.lines) && !l.lost {
		start, end := l.file.line(line)
		n := strings.IndexByte(l.value[l.done:], '\n')
		whole := n >= 0
		if !whole {
			n = len(l.value) - l.done
		}
		start = min(start+indent, end)
		if n > end-start {
			l.lost, l.last = true, start
			break
		}
		l.exact(start, n)
		last = start + n
		if whole {
			l.feed('\n', end)
			last = end
		}
		line++
	}
	l.finish(last, last)
}

// folded walks a > text: line ends are spaces between lines of text.
func (l *locator) folded(at int) {
	line := l.file.lineAt(at) + 1
	indent := l.indent(line)
	last := l.file.lineEnd(at)
	var breaks []int // line ends since the last line of text
	for ; l.done < len(l.value) && line < len(l.file.lines) && !l.lost; line++ {
		start, end := l.file.line(line)
		start = min(start+indent, end)
		feeds := len(l.value) - l.done - len(strings.TrimLeft(l.value[l.done:], "\n"))
		if feeds > 0 && l.done+feeds == len(l.value) && len(breaks) >= feeds {
			break
		}
		if start == end { // empty: it only ends
			breaks = append(breaks, end)
			continue
		}
		if feeds == 0 && len(breaks) > 0 {
			l.feed(' ', breaks[0])
		}
		for k := range min(feeds, len(breaks)) {
			l.feed('\n', breaks[k])
		}
		n := min(end-start, len(l.value)-l.done)
		l.exact(start, n)
		last = start + n
		breaks = append(breaks[:0], end)
	}
	for _, b := range breaks {
		if l.done < len(l.value) && !l.lost {
			l.feed('\n', b)
			last = b
		}
	}
	l.finish(last, last)
}

// indent is how many spaces are cut from each line of a block text: what the
// first line with anything but spaces has more in the file than in the value.
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

// blankIndent is the indent of a text that holds nothing but spaces and line
// feeds: its lines are those of the file.
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
	return MaxSize // nothing is kept of any line
}

// finish sets the places behind the text, unless the walk was lost.
func (l *locator) finish(last, end int) {
	if l.done < len(l.value) {
		l.lost = true
	}
	if !l.lost {
		l.last = last
	} else if l.last == 0 {
		l.last = last
	}
	l.end = max(end, l.last)
}

// isSpace reports whether c is white space of YAML.
func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// breakStart is where the line end whose line feed is at i begins.
func breakStart(text string, i int) int {
	if i > 0 && text[i-1] == '\r' {
		return i - 1
	}
	return i
}

// skipSpace is the offset of the first byte from i on that is not white space or
// part of a comment.
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
