package yamltree

import (
	"fmt"
	"strconv"
	"strings"
)

// A diagnosis finds where a text that the library rejects or misreads violates YAML: the library's errors have no
// column and often the wrong line. It parses only keys, dashes and the ends of values, up to the first value that the
// library, which parses each alone, rejects. So it reports nothing about a correct text.
type diagnosis struct {
	*file
	first  []Problem // only the first: what follows may be wrong because of it
	levels []level   // the open block maps and lists, outermost first
	wants  bool      // the previous entry has no value yet: a deeper one may follow
	seen   bool      // something was read
	ended  bool      // the document has ended
}

// A level is an open block map or list.
type level struct {
	col  int  // of its keys or dashes, from 0
	list bool // dashes
}

// explain returns why the library cannot use the text.
func (f *file) explain(cause error) []Problem {
	d := &diagnosis{file: f}
	if d.read(); d.first == nil {
		return []Problem{f.unexplained(cause)}
	}
	return d.first
}

// read goes through the lines.
func (d *diagnosis) read() {
	for n := 0; n < len(d.lines) && d.first == nil; {
		at, end, col := d.content(n)
		text, before := d.text[at:end], int(d.lines[n])+col
		switch {
		case text == "" || text[0] == '#':
			n++
			continue
		case before < at:
			d.tab(before, at)
			return // no column below is reliable
		case col == 0 && marker(text, "..."):
			d.ended = true
			n++
			continue
		case d.ended || col == 0 && d.seen && marker(text, "---"):
			d.found(at, end, CheckDocument, "a second YAML document starts here", "keep one document in a file; if this line belongs to a string, indent it")
			return
		case col == 0 && marker(text, "---"):
			if strings.TrimSpace(text[3:]) != "" {
				return // a document on the line of its marker: not a policy
			}
			n++
			continue
		case col == 0 && text[0] == '%' && !d.seen:
			d.report(at, end, "a `%` directive", "remove this line")
			return
		case text == "?" || strings.HasPrefix(text, "? "):
			return // a key in its long form, which is never accidental
		}
		n = d.entry(n, at, end)
		d.seen = true
	}
}

// content returns line n (from 0) without its indentation, and the column where its spaces end. start is end if it is
// empty.
func (f *file) content(n int) (start, end, col int) {
	start, end = f.line(n)
	line := f.text[start:end]
	col = len(line) - len(strings.TrimLeft(line, " "))
	return end - len(strings.TrimLeft(line, " \t")), end, col
}

// behind returns the number of the first line after line n that does not belong to a key or dash in the column parent.
func (f *file) behind(n, parent int) int {
	for n++; n < len(f.lines); n++ {
		if start, end, col := f.content(n); start < end && col <= parent {
			break
		}
	}
	return n
}

func (d *diagnosis) found(start, end int, check, message, help string) {
	if d.first == nil {
		d.first = []Problem{d.problem(start, end, check, message, help)}
	}
}

func (d *diagnosis) report(start, end int, message, help string) {
	d.found(start, end, CheckSyntax, message, help)
}

func (d *diagnosis) tab(start, end int) {
	d.report(start, end, "a tab in the indentation", "indent with spaces")
}

// entry reads a line that begins a list item, a map entry or a scalar, and returns the number of the next line to read.
func (d *diagnosis) entry(n, at, end int) int {
	lineStart := int(d.lines[n])
	parent := -1 // column of the key or dash that a value here belongs to
	if len(d.levels) > 0 && d.wants {
		parent = d.levels[len(d.levels)-1].col
	}
	dash := false
	for d.text[at] == '-' && (at+1 == end || isSpace(d.text[at+1])) {
		dashAt := at
		d.place(at, at-lineStart, true, dash)
		parent, dash = at-lineStart, true
		at = end - len(strings.TrimLeft(d.text[at+1:end], " \t"))
		if at == end || d.text[at] == '#' {
			d.wants = true
			return n + 1
		}
		if i := strings.IndexByte(d.text[dashAt:at], '\t'); i >= 0 {
			d.report(dashAt+i, at, "a tab after the `-`", "write a space")
		}
	}
	col := at - lineStart
	size, colon := key(d.text[at:end])
	switch {
	case colon >= 0:
		next := d.behind(n, col)
		if (dash || d.wants || !d.seen) && d.alone(next, parent) && strings.IndexByte(`"'`, d.text[at]) < 0 && unfinished(d.text[at:at+size]) {
			d.report(at+colon, at+colon+1, "the `: ` makes the text before it a key", helpQuote)
			return next
		}
		if colon == 0 {
			d.found(at, at+1, CheckKey, messageNoKey, helpKey)
		}
		d.place(at, col, false, dash)
		return d.value(n, at+colon+1, end, col)
	case dash || (d.wants || !d.seen) && col > parent:
		d.wants = false
		return d.value(n, at, end, parent)
	}
	d.stray(at, end)
	return n + 1
}

// alone reports whether the line does not belong to the entry with this parent.
func (d *diagnosis) alone(line, parent int) bool {
	if line == len(d.lines) {
		return true
	}
	_, _, col := d.content(line)
	return col <= parent
}

// stray reports a line that is neither an entry nor part of the value above.
func (d *diagnosis) stray(at, end int) {
	text := d.text[at:end]
	if name, value, ok := strings.Cut(text, ":"); ok && value != "" && isName(name) {
		d.report(at, at+len(name)+1, fmt.Sprintf("a space is missing after `%s:`", name), fmt.Sprintf("write `%s: %s`", name, clip(value)))
		return
	}
	d.report(at, end, fmt.Sprintf("`%s` is neither a key with a value nor part of the text above", clip(text)),
		"write `key: value`; if it belongs to the text above, indent it deeper than the key of that text")
}

// place assigns an entry to its level, or reports its indentation. inline says that the entry follows a dash on the
// same line.
func (d *diagnosis) place(at, col int, list, inline bool) {
	wants, deeper := d.wants || inline, -1 // deeper is the column of the outermost level that ends here
	d.wants = false
	top := len(d.levels) - 1
	for ; top >= 0 && d.levels[top].col > col; top-- {
		deeper = d.levels[top].col
	}
	d.levels = d.levels[:top+1]
	beside := top >= 0 && d.levels[top].col == col
	switch {
	case beside && d.levels[top].list == list:
		return
	case beside && !list && top > 0 && d.levels[top-1].col == col: // the end of a list at the column of its key
		d.levels = d.levels[:top]
		return
	case top < 0 && deeper < 0 && (!d.seen || inline), wants && list && beside, wants && deeper < 0 && !beside && top >= 0:
	default:
		d.misplaced(at, col, deeper, beside)
	}
	d.levels = append(d.levels, level{col, list})
}

// misplaced reports an entry whose column matches nothing above.
func (d *diagnosis) misplaced(at, col, deeper int, beside bool) {
	var columns []string
	add := func(col int) { columns = append(columns, strconv.Itoa(col+1)) }
	if top := len(d.levels) - 1; beside {
		add(col + 2) // below the key, or within the item
	} else if top >= 0 {
		add(d.levels[top].col)
	}
	if deeper >= 0 {
		add(deeper)
	}
	help := "remove this, or the value above, which is not a map or list"
	if columns != nil {
		help = "begin it at column " + strings.Join(columns, " or ")
	}
	end := at + len(d.text[at:])
	if n := strings.IndexAny(d.text[at:], " \t\r\n"); n >= 0 {
		end = at + n
	}
	d.report(at, end, "the indentation fits no line above", help)
}

// unexplained returns the library's error at its line, or a guess for an error on an empty line.
func (f *file) unexplained(err error) Problem {
	for n := range f.lines {
		first, _ := f.line(n)
		start, end, col := f.content(n)
		if tab := first + col; (start == end || f.text[start] == '#') && tab < end && f.text[tab] == '\t' {
			return f.problem(tab, start, CheckSyntax, "a tab in the indentation, on a line without a value", "remove it")
		}
	}
	message, n := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if _, none := fmt.Sscanf(message, "line %d:", &n); none == nil {
		_, message, _ = strings.Cut(message, ": ")
	}
	n = min(max(n, 1), len(f.lines)) - 1
	start, end, _ := f.content(n)
	for n > 0 && start == end {
		n--
		start, end, _ = f.content(n)
	}
	return f.problem(start, end, CheckSyntax, "this is not YAML: "+message,
		"check this line and those around it; quote a value that contains YAML syntax")
}
