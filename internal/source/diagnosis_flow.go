package source

import (
	"fmt"
	"strings"
)

// flow reads a value that begins with [ or {, in line n at at, and returns the
// number of the line behind it.
func (d *diagnosis) flow(n, at, parent int) int {
	text := d.file.text
	if strings.HasPrefix(text[at:], "{{") {
		next := d.extent(n, at, d.file.lineEnd(at), parent)
		d.mend(at, at+2, next.span, "a plain value cannot begin with `{{`",
			"a hole in a text is written ${…}; otherwise quote the whole value")
		return next.line
	}
	before, raw := len(d.problems), len(d.raw)
	r := flowReader{diagnosis: d, at: at, parent: parent}
	stop := r.read()
	if stop < 0 && r.fell && !d.strict {
		// An entry of the map around begins before the bracket is closed. Either it
		// never is, or the lines between the brackets are just not indented.
		loose := flowReader{diagnosis: &diagnosis{file: d.file}, at: at, parent: -1}
		if end := loose.read(); end >= 0 && len(loose.problems) == 0 {
			stop = end
			d.problems, d.raw = d.problems[:before], d.raw[:raw]
		} else {
			d.strict = true
		}
	}
	if stop < 0 {
		d.broken = true
		if len(d.problems) == before { // else it is what was found that kept it open
			d.report(at, at+1, fmt.Sprintf("the `%c` is not closed", text[at]), "close it, or quote the whole value if it is text")
		}
		return max(d.file.lineAt(r.at), n+1)
	}
	n = d.file.lineAt(stop - 1)
	end := d.file.lineEnd(stop)
	rest := strings.TrimLeft(text[stop:end], " \t")
	if rest == "" || rest[0] == '#' {
		return n + 1
	}
	d.problems, d.raw = d.problems[:before], d.raw[:raw]
	next := d.extent(n, stop, end, parent)
	left := end - len(rest)
	d.mend(left, max(d.uncommented(left, end), left+1), span{at, max(next.end, left+1)},
		fmt.Sprintf("the value ends with its `%c`, but `%s` follows", text[stop-1], clip(text[left:d.uncommented(left, end)])),
		helpQuote)
	return next.line
}

// A flowReader reads what stands between brackets.
type flowReader struct {
	*diagnosis
	at     int
	parent int

	open  []bracket // those around at
	fresh bool      // a value or key may begin
	colon bool      // the entry has its key
	ended bool      // a quoted or bracketed value was read: nothing may follow in its entry
	fell  bool      // reading stopped at an entry of the map around
}

// A bracket is one that is open.
type bracket struct {
	sign  byte
	colon bool // it stands behind the key of an entry
}

// read returns the offset behind the closing bracket, or -1 if there is none.
func (r *flowReader) read() int {
	text := r.file.text
	r.fresh = true
	for r.at < len(text) && len(r.problems) < maxProblems {
		switch c := text[r.at]; {
		case c == '\n':
			r.at++
			if r.below() {
				r.fell = true
				return -1
			}
		case isSpace(c):
			r.at++
		case c == '#' && isSpace(text[r.at-1]):
			r.at = r.file.lineEnd(r.at)
		case c == ',':
			r.at++
			r.fresh, r.colon, r.ended = true, false, false
		case c == ']' || c == '}':
			last := r.open[len(r.open)-1]
			if last.sign != opener(c) {
				r.broken = true
				r.report(r.at, r.at+1, fmt.Sprintf("`%c` closes a `%c`", c, last.sign),
					"close the brackets in the order in which they were opened")
				return -1
			}
			r.open = r.open[:len(r.open)-1]
			r.at++
			if len(r.open) == 0 {
				return r.at
			}
			r.fresh, r.colon, r.ended = false, last.colon, true
		case (c == '[' || c == '{') && r.fresh:
			r.open = append(r.open, bracket{c, r.colon})
			r.at++
			r.colon, r.ended = false, false
		case c == ':' && (r.ended && !r.colon || r.blank(r.at+1)):
			r.at++
			r.fresh, r.colon, r.ended = true, true, false
		case !r.fresh && (r.ended || r.colon && r.pair()):
			r.broken = true
			r.report(r.at, r.at+1, "a `,` is missing before this", "end the entry above with a comma")
			r.fresh, r.colon, r.ended = true, false, false
		case !r.fresh:
			r.at++ // a plain value goes on
		default:
			r.fresh = false
			r.token()
		}
	}
	return -1
}

// below reports whether the line at at begins an entry of the block around.
func (r *flowReader) below() bool {
	n := r.file.lineAt(r.at)
	start, end, col := r.lineAt(n)
	if start == end || col > r.parent {
		return false
	}
	_, colon := key(r.file.text[start:end])
	return colon >= 0 || strings.HasPrefix(r.file.text[start:], "- ")
}

// pair reports whether an entry with a key begins at at, the first on its line.
func (r *flowReader) pair() bool {
	n := r.file.lineAt(r.at)
	start, end, _ := r.lineAt(n)
	if start != r.at {
		return false
	}
	length, at := key(r.file.text[start:end])
	return at >= 0 && isName(r.file.text[start:start+length])
}

// blank reports whether a line or the text ends at i, or a blank stands there.
func (r *flowReader) blank(i int) bool {
	return i >= len(r.file.text) || isSpace(r.file.text[i])
}

// token reads one scalar. If it is not one, it reports that and goes on behind
// the entry.
func (r *flowReader) token() {
	text, start := r.file.text, r.at
	switch c := text[start]; {
	case c == '"' || c == '\'':
		r.quoted()
	case c == '!':
		whole := r.entry(start)
		if word := property(text[start:whole.end]); tagKind(text[start:start+word]) != 0 {
			r.at, r.fresh = start+word, true
			return
		}
		r.tagProblem(start, start+property(text[start:whole.end]))
		r.raw = append(r.raw, whole)
		r.at = whole.end
	case strings.IndexByte("*&%@`|>", c) >= 0:
		r.skip(start, start+1, r.entry(start), fmt.Sprintf("a plain value cannot begin with %s", quoteByte(c)))
	case c == '-' && r.blank(start+1):
		r.skip(start, start+1, r.entry(start), "a plain value cannot begin with `- `")
	default:
		r.plain()
	}
}

// skip reports what stands from start to end within a value, and goes on behind
// that.
func (r *flowReader) skip(start, end int, whole span, message string) {
	r.mend(start, end, whole, message, helpFlow)
	r.at = max(whole.end, start+1)
}

// quoted reads a scalar between quotes.
func (r *flowReader) quoted() {
	text, start := r.file.text, r.at
	stop, bad := r.unquote(start, r.parent)
	if bad >= 0 {
		r.badEscape(bad)
	}
	if stop < 0 {
		r.unclosed(start)
		r.at = r.file.lineEnd(start)
		return
	}
	r.at, r.ended = stop, true
	next := skipSpace(text, stop)
	if next == len(text) || strings.IndexByte(",]}:", text[next]) >= 0 || next > r.file.lineEnd(stop) {
		return
	}
	whole := span{start, max(r.entry(next).end, next+1)}
	r.skip(next, whole.end, whole, fmt.Sprintf("the value ends with its quote, but `%s` follows", clip(text[next:whole.end])))
}

// plain reads a scalar without quotes.
func (r *flowReader) plain() {
	text, start := r.file.text, r.at
	for i := start; i < len(text); i++ {
		switch c := text[i]; {
		case c == ',' && open(text[start:i]) == '(':
			whole := r.entry(start)
			r.problems = append(r.problems, r.file.problem(i, i+1, CheckFlow, messageComma, helpComma))
			r.raw = append(r.raw, whole)
			r.at = max(whole.end, i+1)
			return
		case c == ',' || c == ']' || c == '}' || c == '\n':
			r.at = i
			return
		case (c == '[' || c == '{') && r.tightKey(text[start:i]):
			r.broken = true
			r.report(start, i, fmt.Sprintf("a space is missing behind `%s`", text[start:i]),
				fmt.Sprintf("write `%s %c`", text[start:i], c))
			r.at, r.colon, r.fresh = i, true, true
			return
		case c == '[' || c == '{' || c == '?' && i > start:
			r.skip(i, i+1, r.entry(start), fmt.Sprintf("a `%c` cannot stand in a plain value between brackets", c))
			return
		case c == '#' && i > start && isSpace(text[i-1]):
			if end := r.file.lineEnd(i); torn(text[start:i], text[i:end]) {
				r.problems = append(r.problems, r.file.problem(i, end, CheckComment, messageCut, helpQuote))
				r.broken = true
			}
			r.at = i
			return
		case c == ':' && r.blank(i+1):
			if !r.colon && !strings.Contains(text[start:i], "? ") {
				r.at = i
				return
			}
			r.skip(i, i+1, r.entry(start), colonMessage(text[start:i], text[i+1:]))
			return
		}
	}
	r.at = len(text)
}

// tightKey reports whether text is a key with its colon, to which the value was
// joined.
func (r *flowReader) tightKey(text string) bool {
	name, ok := strings.CutSuffix(text, ":")
	return ok && !r.colon && isName(name)
}

// entry is the value that begins at at, as it was meant: up to the comma or
// bracket outside of its own quotes and brackets, or to the end of the line.
func (r *flowReader) entry(at int) span {
	text, depth := r.file.text, 0
	end := r.file.lineEnd(at)
	i := at
scan:
	for ; i < end; i++ {
		switch c := text[i]; c {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth == 0 && c != ')' {
				break scan
			}
			depth = max(depth-1, 0)
		case ',':
			if depth == 0 {
				break scan
			}
		case '"', '\'':
			if c == '\'' && i > at && isWord(text[i-1]) {
				continue
			}
			if n := closing(text[i+1:end], c); n >= 0 {
				i += n + 1
			}
		}
	}
	return span{at, at + len(strings.TrimRight(text[at:i], " \t"))}
}
