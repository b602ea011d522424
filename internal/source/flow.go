package source

import (
	"fmt"
	"strings"
)

// flow reads a value that begins with [ or {, and returns the number of the line behind it.
func (d *diagnosis) flow(v extent) int {
	f := d.file
	if strings.HasPrefix(f.text[v.start:], "{{") {
		return d.plain(v)
	}
	// The lines between the brackets need no indentation, unless a bracket is not closed: then an entry of the map around
	// ends the value.
	r := flowReader{diagnosis: &diagnosis{file: f}, at: v.start, parent: -1, most: 1}
	closed := r.list(0)
	if !closed || len(r.problems) > 0 {
		r = flowReader{diagnosis: &diagnosis{file: f}, at: v.start, parent: v.parent, most: maxProblems}
		closed = r.list(0)
	}
	next, before := max(f.lineAt(r.at), f.lineAt(v.start)+1), len(d.problems)
	switch {
	case closed:
		next = d.rest(v, r.at, fmt.Sprintf("`%c`", f.text[r.at-1]), helpQuote)
	case len(r.problems) == 0: // else it is what was found that kept it open
		d.report(v.start, v.start+1, fmt.Sprintf("the `%c` is not closed", f.text[v.start]), "close it, or quote the whole value if it is text")
	}
	if !closed || len(d.problems) == before {
		d.problems, d.raw = append(d.problems, r.problems...), append(d.raw, r.raw...)
		d.broken = d.broken || r.broken || !closed
	}
	return next
}

// A flowReader reads what stands between brackets.
type flowReader struct {
	*diagnosis
	at     int
	parent int
	most   int // problems, after which reading stops
}

// list reads from the bracket at at to behind the one that closes it. It reports false if there is none.
func (r *flowReader) list(depth int) bool {
	text, sign := r.file.text, r.file.text[r.at]
	r.at++
	follows := false // the line above has a part of the same value
	for r.gap() {
		raw := len(r.raw)
		switch c := text[r.at]; c {
		case ',':
			r.at++
			follows = false
		case ']', '}':
			if sign != opener(c) {
				r.breaks(r.at, r.at+1, fmt.Sprintf("`%c` closes a `%c`", c, sign), "close the brackets in the order in which they were opened")
				return false
			}
			r.at++
			return true
		default:
			sealed, keyed, ok := r.entry(depth)
			if !ok || !r.gap() {
				return false
			}
			r.broken = r.broken || follows && len(r.raw) > raw
			follows = true
			if c := text[r.at]; strings.IndexByte(",]}", c) < 0 && (sealed || keyed && r.pair()) {
				r.breaks(r.at, r.at+1, "a `,` is missing before this", "end the entry above with a comma")
			}
		}
	}
	return false
}

// gap moves at behind white space and comments. It reports false at the end of the text, where an entry of the block
// around begins, and after too many problems.
func (r *flowReader) gap() bool {
	text := r.file.text
	for ; r.at < len(text); r.at++ {
		switch c := text[r.at]; {
		case c == '\n':
			start, end, col := r.file.content(r.file.lineAt(r.at + 1))
			if start == end || col > r.parent {
				continue
			}
			if _, colon := key(text[start:end]); colon >= 0 || strings.HasPrefix(text[start:], "- ") {
				r.at++
				return false
			}
		case c == '#' && isSpace(text[r.at-1]):
			r.at = r.file.lineEnd(r.at) - 1
		case !isSpace(c):
			return len(r.problems) < r.most
		}
	}
	return false
}

// pair reports whether an entry with a key begins at at, the first on its line.
func (r *flowReader) pair() bool {
	start, end, _ := r.file.content(r.file.lineAt(r.at))
	if start != r.at {
		return false
	}
	length, colon := key(r.file.text[start:end])
	return colon >= 0 && isName(r.file.text[start:start+length])
}

// entry reads a value, or a line of one, or a key with its value. It reports whether nothing but a comma may follow,
// since a quote or bracket closed it; whether it has a key; and false if a bracket in it is not closed.
func (r *flowReader) entry(depth int) (sealed, keyed, ok bool) {
	text, isKey := r.file.text, false
	for ; ; keyed = true {
		if r.at = r.properties(r.at, r.file.lineEnd(r.at), false); !r.gap() {
			return false, keyed, false
		}
		switch c := text[r.at]; {
		case strings.IndexByte(",]}", c) >= 0:
			return false, keyed, true
		case c == '[' || c == '{':
			if depth == MaxDepth || !r.list(depth+1) {
				return true, keyed, false
			}
			sealed = true
		case c == '"' || c == '\'':
			r.quoted()
			sealed = true
		default:
			isKey, sealed = r.plain(keyed), false
		}
		behind := r.at
		if keyed || !(isKey || sealed) || !r.gap() || text[r.at] != ':' {
			r.at = behind
			return sealed, keyed, true
		}
		r.at++
	}
}

// size is the length of a value as it was meant: up to the comma or bracket outside of its own quotes and brackets, or to
// the end of the line.
func (r *flowReader) size(at int) int {
	text := r.file.text[at:r.file.lineEnd(at)]
	n, _ := walk(text, func(i, depth int) bool {
		return depth == 0 && (strings.IndexByte(",]}", text[i]) >= 0 || text[i] == '#' && i > 0 && isSpace(text[i-1]))
	})
	return len(strings.TrimRight(text[:n], " \t"))
}

// quoted reads a scalar between quotes.
func (r *flowReader) quoted() {
	f, start := r.file, r.at
	stop := r.unquote(start, r.parent)
	if stop < 0 {
		r.at = f.lineEnd(start)
		return
	}
	r.at = stop
	next := skipSpace(f.text, stop)
	if next == len(f.text) || strings.IndexByte(",]}:", f.text[next]) >= 0 || next > f.lineEnd(stop) {
		return
	}
	r.at = max(next+r.size(next), next+1)
	r.quote(next, r.at, span{start: start, end: r.at}, fmt.Sprintf("the value ends with its quote, but `%s` follows", clip(f.text[next:r.at])), helpFlow)
}

// plain reads a scalar without quotes, or a line of one. It reports whether that is a key, at whose colon it stops.
func (r *flowReader) plain(keyed bool) (isKey bool) {
	whole := span{start: r.at, end: r.at + r.size(r.at)}
	text := r.file.text[whole.start:whole.end]
	if !keyed && text != "" {
		if _, colon := key(text); colon >= 0 && !strings.Contains(text[:colon], "? ") {
			r.at += colon
			return true
		}
		if i := strings.IndexAny(text, "[{"); i > 1 && text[i-1] == ':' && isName(text[:i-1]) {
			r.breaks(r.at, r.at+i, fmt.Sprintf("a space is missing behind `%s`", text[:i]), fmt.Sprintf("write `%s %c`", text[:i], text[i]))
			r.at += i - 1
			return true
		}
	}
	before, behind := "[", ", x]"
	if keyed {
		before, behind = "{k: ", ", x}"
	}
	if text != "" && (text[0] == '!' || !isName(text) && !reads(before+text+behind)) {
		r.trap(whole, whole, true)
	}
	r.at = whole.end
	return false
}
