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
	if rest == "" || rest[0] == '#' && len(rest) < end-stop {
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

	open  []byte // the brackets around at
	fresh bool   // a value or key may begin
	colon bool   // the entry has its key
	json  bool   // a quoted or bracketed key was read: its colon needs no space
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
				return -1
			}
		case isSpace(c):
			r.at++
		case c == '#' && isSpace(text[r.at-1]):
			r.at = r.file.lineEnd(r.at)
		case c == ',':
			r.at++
			r.fresh, r.colon, r.json = true, false, false
		case c == ']' || c == '}':
			if r.open[len(r.open)-1] != opener(c) {
				r.broken = true
				r.report(r.at, r.at+1, fmt.Sprintf("`%c` closes a `%c`", c, r.open[len(r.open)-1]),
					"close the brackets in the order in which they were opened")
				return -1
			}
			r.open = r.open[:len(r.open)-1]
			r.at++
			if len(r.open) == 0 {
				return r.at
			}
			r.fresh, r.colon, r.json = false, false, true
		case (c == '[' || c == '{') && r.fresh:
			r.open = append(r.open, c)
			r.at++
			r.colon = false
		case c == ':' && (r.json || r.blank(r.at+1)):
			r.at++
			r.fresh, r.colon, r.json = true, true, false
		case !r.fresh:
			r.at++ // told already, or behind a value
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

// blank reports whether a line or the text ends at i, or a blank stands there.
func (r *flowReader) blank(i int) bool {
	return i >= len(r.file.text) || isSpace(r.file.text[i])
}

// token reads one scalar. If it is not one, it reports that and goes on behind
// the entry.
func (r *flowReader) token() {
	text, start := r.file.text, r.at
	whole := span{start, r.entryEnd(start)}
	switch c := text[start]; {
	case c == '"' || c == '\'':
		stop, bad := r.unquote(start, r.parent)
		if bad >= 0 {
			r.badEscape(bad)
		}
		if stop < 0 {
			r.unclosed(start)
			r.at = r.file.lineEnd(start)
			return
		}
		r.at, r.json = stop, !r.colon
		next := skipSpace(text, stop)
		if next < len(text) && strings.IndexByte(",]}:", text[next]) < 0 && next < whole.end {
			r.mend(next, whole.end, whole,
				fmt.Sprintf("the value ends with its quote, but `%s` follows", clip(text[next:whole.end])),
				"quote the whole value, with the other kind of quotes")
			r.at = whole.end
		}
	case c == '!':
		r.tagProblem(start, start+property(text[start:whole.end]))
		r.raw = append(r.raw, whole)
		r.at = whole.end
	case strings.IndexByte("*&%@`|>", c) >= 0:
		r.mend(start, start+1, whole, fmt.Sprintf("a plain value cannot begin with %s", quoteByte(c)), helpFlow)
		r.at = whole.end
	case c == '-' && start+1 < len(text) && isSpace(text[start+1]):
		r.mend(start, start+1, whole, "a plain value cannot begin with `- `", helpFlow)
		r.at = whole.end
	default:
		r.plain(whole)
	}
}

// plain reads a scalar without quotes.
func (r *flowReader) plain(whole span) {
	text := r.file.text
	for i := whole.start; i < len(text); i++ {
		switch c := text[i]; {
		case c == ',' || c == ']' || c == '}' || c == '\n':
			r.at = i
			return
		case c == '[' || c == '{' || c == '?' && i > whole.start:
			if c == '[' || c == '{' {
				if name := text[whole.start:i]; !r.colon && len(name) > 1 && isName(name[:len(name)-1]) && name[len(name)-1] == ':' {
					r.broken = true
					r.report(whole.start, i, fmt.Sprintf("a space is missing behind `%s`", name), fmt.Sprintf("write `%s %c`", name, c))
					r.at, r.colon, r.fresh = i, true, true
					return
				}
			}
			r.mend(i, i+1, whole, fmt.Sprintf("a `%c` cannot stand in a plain value between brackets", c), helpFlow)
			r.at = max(whole.end, i+1)
			return
		case c == '#' && i > whole.start && isSpace(text[i-1]):
			if end := r.file.lineEnd(i); torn(text[whole.start:i], text[i:end]) {
				r.problems = append(r.problems, r.file.cutProblem(i, end))
				r.broken = true
			}
			r.at = i
			return
		case c == ':' && r.blank(i+1):
			if !r.colon && !strings.Contains(text[whole.start:i], "? ") {
				r.at = i
				return
			}
			r.mend(i, i+1, whole, colonMessage(text[whole.start:i], text[i+1:]), helpFlow)
			r.at = max(whole.end, i+1)
			return
		}
	}
	r.at = len(text)
}

// entryEnd is where the entry that begins at at ends: at the comma or bracket
// outside of its own quotes and brackets, or with the line.
func (r *flowReader) entryEnd(at int) int {
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
	return at + len(strings.TrimRight(text[at:i], " \t"))
}
