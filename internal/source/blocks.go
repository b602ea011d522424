package source

import (
	"fmt"
	"strings"
)

// Help that fits wherever a value holds what YAML takes for its own.
const (
	helpQuote = "quote the whole value, or put it into a |- block"
	helpFlow  = "quote the value"
	helpComma = "quote the whole value, or write it on a line of its own without { } and [ ]"
)

// What is said of an expression that ended too early.
const (
	messageCut   = "a ` #` starts a comment and cuts the value off here"
	messageComma = "the `,` ends the value here, before its `(` is closed"
)

// A diagnosis finds out where a text that the library could not read breaks the rules of YAML. It reads no more of YAML
// than which keys and dashes there are and where their values end: the library reads each value alone, and only of
// a value that it refuses the reason is looked for. So nothing is said about a text that is right.
type diagnosis struct {
	file     *file
	problems []Problem
	raw      []span // values that become readable when they are taken as they stand
	broken   bool   // something else is wrong: there is no tree to build

	levels []level // the open block maps and lists, outermost first
	wants  bool    // the entry before has no value yet: one may follow, deeper
	seen   bool    // something was read
}

// A level is an open block map or list.
type level struct {
	col  int  // of its keys or dashes, from 0
	list bool // dashes
}

// read goes through the lines.
func (d *diagnosis) read() {
	f := d.file
	for n := 0; n < len(f.lines) && len(d.problems) < maxProblems; {
		at, end, col := f.content(n)
		text, before := f.text[at:end], int(f.lines[n])+col
		switch {
		case text == "" || text[0] == '#':
			n++
			continue
		case before < at:
			d.tab(before, at)
			return // no column below can be trusted
		case col == 0 && marker(text, "---"):
			if strings.TrimSpace(text[3:]) != "" {
				return // a document on the line of its marker: not a policy
			}
			n++
			continue
		case col == 0 && text[0] == '%' && !d.seen:
			d.breaks(at, end, "a `%` directive", "remove this line")
			n++
			continue
		case text == "?" || strings.HasPrefix(text, "? "):
			return // a key in its long form: that is not written by accident
		}
		n = d.entry(n, at, end)
		d.seen = true
	}
}

// content is line n (from 0) without its indentation, and the column where its spaces end. Start is end if it is empty.
func (f *file) content(n int) (start, end, col int) {
	start, end = f.line(n)
	line := f.text[start:end]
	col = len(line) - len(strings.TrimLeft(line, " "))
	return end - len(strings.TrimLeft(line, " \t")), end, col
}

func (d *diagnosis) report(start, end int, message, help string) {
	d.problems = append(d.problems, d.file.problem(start, end, CheckSyntax, message, help))
}

// breaks reports what leaves no tree to build.
func (d *diagnosis) breaks(start, end int, message, help string) {
	d.broken = true
	d.report(start, end, message, help)
}

// quote reports a value that should have been quoted: what is wrong stands from
// start to end, the value is the span.
func (d *diagnosis) quote(start, end int, value span, message, help string) {
	d.report(start, end, message, help)
	d.raw = append(d.raw, value)
}

func (d *diagnosis) tab(start, end int) {
	d.breaks(start, end, "a tab in the indentation", "indent with spaces")
}

// entry reads a line that begins a list item, a map entry or a scalar, and
// returns the number of the line behind what it read.
func (d *diagnosis) entry(n, at, end int) int {
	f := d.file
	lineStart := int(f.lines[n])
	parent := -1 // column of the key or dash that a value here belongs to
	if len(d.levels) > 0 && d.wants {
		parent = d.levels[len(d.levels)-1].col
	}
	dash := false
	for f.text[at] == '-' && (at+1 == end || isSpace(f.text[at+1])) {
		dashAt := at
		d.place(at, at-lineStart, true, dash)
		parent, dash = at-lineStart, true
		for at++; at < end && (f.text[at] == ' ' || f.text[at] == '\t'); at++ {
		}
		if at == end || f.text[at] == '#' {
			d.wants = true
			return n + 1
		}
		if i := strings.IndexByte(f.text[dashAt:at], '\t'); i >= 0 {
			d.breaks(dashAt+i, at, "a tab behind the `-`", "write a space")
		}
	}
	col := at - lineStart
	if size, colon := key(f.text[at:end]); colon >= 0 {
		if v := f.extent(n, at, end, col); (dash || d.wants || !d.seen) && d.alone(v.line, parent) && strings.IndexByte(`"'`, f.text[at]) < 0 && unfinished(f.text[at:at+size]) {
			d.wants = false
			d.quote(at+colon, at+colon+1, v.span, "the `: ` makes the text before it a key", helpQuote)
			return v.line
		}
		if colon == 0 {
			d.broken = true
			d.problems = append(d.problems, f.problem(at, at+1, CheckKey, "a key is missing before the `:`",
				"write a name as the key, or quote the whole value"))
		}
		d.place(at, col, false, dash)
		return d.value(n, at+colon+1, end, col)
	}
	if dash || (d.wants || !d.seen) && col > parent {
		d.wants = false
		return d.value(n, at, end, parent)
	}
	d.stray(at, end)
	return n + 1
}

// alone reports whether the line does not belong to what has the parent.
func (d *diagnosis) alone(line, parent int) bool {
	if line == len(d.file.lines) {
		return true
	}
	_, _, col := d.file.content(line)
	return col <= parent
}

// stray reports a line that is neither an entry nor part of the value above.
func (d *diagnosis) stray(at, end int) {
	text := d.file.text[at:end]
	if name, value, ok := strings.Cut(text, ":"); ok && value != "" && isName(name) {
		d.breaks(at, at+len(name)+1, fmt.Sprintf("a space is missing behind `%s:`", name),
			fmt.Sprintf("write `%s: %s`", name, clip(value)))
		return
	}
	d.breaks(at, end, fmt.Sprintf("`%s` is neither a key with a value nor part of the text above", clip(text)),
		"write `key: value`; if it belongs to the text above, indent it deeper than the key of that text")
}

// place puts an entry at its level. It reports an indentation that fits none.
// Inline says that the entry stands behind a dash on the same line.
func (d *diagnosis) place(at, col int, list, inline bool) {
	wants := d.wants || inline
	d.wants = false
	top, deeper := len(d.levels)-1, -1 // deeper is the column of the outermost level that ends here
	for ; top >= 0 && d.levels[top].col > col; top-- {
		deeper = d.levels[top].col
	}
	d.levels = d.levels[:top+1]
	switch {
	case top < 0 && deeper < 0 && !d.seen, top < 0 && inline:
	case top >= 0 && d.levels[top].col == col && d.levels[top].list == list:
		return
	case top >= 0 && d.levels[top].col == col && list:
		if wants { // a list may stand at the column of its key
			break
		}
		d.misplaced(at, "a `-` where a key should be", "indent a list below its key, which has no other value, and a text deeper than its key")
	case top >= 0 && d.levels[top].col == col:
		if top > 0 && d.levels[top-1].col == col { // the end of such a list
			d.levels = d.levels[:top]
			return
		}
		d.misplaced(at, "a key at the column of the list's `-`",
			"indent it like the other keys of its item, or begin a new item with `- `")
		return
	case wants && deeper < 0:
	case deeper >= 0:
		where := fmt.Sprintf("column %d", deeper+1)
		if top >= 0 {
			where = fmt.Sprintf("column %d or %d", d.levels[top].col+1, deeper+1)
		}
		d.misplaced(at, "the indentation fits no line above", "begin it at "+where)
	case top < 0:
		d.misplaced(at, "an entry behind a value that is no map or list", "remove one of the two")
	default:
		d.misplaced(at, "this is indented deeper than the entry above, which has a value already",
			fmt.Sprintf("begin it at column %d", d.levels[top].col+1))
	}
	d.levels = append(d.levels, level{col, list})
}

func (d *diagnosis) misplaced(at int, message, help string) {
	end := at
	for end < len(d.file.text) && !isSpace(d.file.text[end]) {
		end++
	}
	d.breaks(at, end, message, help)
}
