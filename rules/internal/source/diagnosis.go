package source

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Help that fits wherever a value holds what YAML takes for its own.
const (
	helpQuote = "quote the whole value, or put it into a |- block"
	helpFlow  = "quote the value"
)

// A diagnosis reads text that the library could not, line by line, to find the
// places where it breaks the rules of YAML. It knows the forms in which policies
// are written (block maps and lists, scalars in every style, { } and [ ]) and
// reports only what is certainly wrong.
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
		start, end := f.line(n)
		if start >= len(f.text) {
			return
		}
		line := f.text[start:end]
		text := strings.TrimLeft(line, " ")
		col := len(line) - len(text)
		rest := strings.TrimLeft(text, "\t ")
		switch {
		case rest == "" || rest[0] == '#':
			n++
			continue
		case text[0] == '\t':
			d.tab(start+col, end-len(rest))
			return // no column below can be trusted
		case col == 0 && marker(text, "---"):
			if strings.TrimSpace(text[3:]) != "" {
				return // a document on the line of its marker: not a policy
			}
			n++
			continue
		case col == 0 && text[0] == '%' && !d.seen:
			d.report(start, end, "a `%` directive", "remove this line")
			d.broken = true
			n++
			continue
		case text == "?" || strings.HasPrefix(text, "? "):
			return // a key in its long form: nobody writes that by accident
		}
		n = d.entry(n, start+col, end)
		d.seen = true
	}
}

func (d *diagnosis) report(start, end int, message, help string) {
	d.problems = append(d.problems, d.file.problem(start, end, CheckSyntax, message, help))
}

// mend reports a value that should have been quoted: what is wrong stands from
// start to end, the value is the span.
func (d *diagnosis) mend(start, end int, value span, message, help string) {
	d.report(start, end, message, help)
	d.raw = append(d.raw, value)
}

func (d *diagnosis) tab(start, end int) {
	d.report(start, end, "a tab in the indentation", "indent with spaces")
	d.broken = true
}

// entry reads a line that begins a list item, a map entry or a scalar, and
// returns the number of the line behind what it read.
func (d *diagnosis) entry(n, at, end int) int {
	f := d.file
	lineStart, _ := f.line(n)
	parent := -1 // column of the key or dash that a value here belongs to
	if len(d.levels) > 0 && d.wants {
		parent = d.levels[len(d.levels)-1].col
	}
	dash := false
	for f.text[at] == '-' && (at+1 == end || isSpace(f.text[at+1])) {
		if !d.place(at, at-lineStart, true, dash) {
			d.broken = true
		}
		parent, dash = at-lineStart, true
		for at++; at < end && (f.text[at] == ' ' || f.text[at] == '\t'); at++ {
		}
		if at == end || f.text[at] == '#' {
			d.wants = true
			return n + 1
		}
	}
	col := at - lineStart
	if _, colon := key(f.text[at:end]); colon >= 0 {
		if colon == 0 {
			d.broken = true
			d.problems = append(d.problems, f.problem(at, at+1, CheckKey, "a key is missing before the `:`",
				"write a name as the key, or quote the whole value"))
		}
		if !d.place(at, col, false, dash) {
			d.broken = true
		}
		return d.value(n, at+colon+1, end, col)
	}
	if dash || (d.wants || !d.seen) && col > parent {
		d.wants = false
		return d.value(n, at, end, parent)
	}
	d.stray(at, end)
	return n + 1
}

// stray reports a line that is neither an entry nor part of the value above.
func (d *diagnosis) stray(at, end int) {
	d.broken = true
	text := d.file.text[at:end]
	if name, value, ok := strings.Cut(text, ":"); ok && value != "" && isName(name) {
		d.report(at, at+len(name)+1, fmt.Sprintf("a space is missing behind `%s:`", name),
			fmt.Sprintf("write `%s: %s`", name, clip(value)))
		return
	}
	d.report(at, end, fmt.Sprintf("`%s` is neither a key with a value nor part of the text above", clip(text)),
		"write `key: value`; if it belongs to the text above, indent it deeper than the key of that text")
}

// place puts an entry at its level. It reports an indentation that fits none.
// Inline tells that the entry stands behind a dash on the same line.
func (d *diagnosis) place(at, col int, list, inline bool) bool {
	wants := d.wants || inline
	d.wants = false
	top, deeper := len(d.levels)-1, -1 // deeper is the column of the outermost level that ends here
	for ; top >= 0 && d.levels[top].col > col; top-- {
		deeper = d.levels[top].col
	}
	d.levels = d.levels[:top+1]
	switch {
	case top < 0 && deeper < 0 && !d.seen, top < 0 && inline:
		d.levels = append(d.levels, level{col, list})
		return true
	case top >= 0 && d.levels[top].col == col && d.levels[top].list == list:
		return true
	case top >= 0 && d.levels[top].col == col && list:
		if wants { // a list may stand at the column of its key
			d.levels = append(d.levels, level{col, list})
			return true
		}
		d.misplaced(at, "a `-` where a key should be", "indent the list below its key, and give that key no other value")
	case top >= 0 && d.levels[top].col == col:
		if top > 0 && d.levels[top-1].col == col { // the end of such a list
			d.levels = d.levels[:top]
			return true
		}
		d.misplaced(at, "a key at the column of the list's `-`",
			"indent it like the other keys of its item, or begin a new item with `- `")
		return false
	case wants && deeper < 0:
		d.levels = append(d.levels, level{col, list})
		return true
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
	return false
}

func (d *diagnosis) misplaced(at int, message, help string) {
	end := at
	for end < len(d.file.text) && !isSpace(d.file.text[end]) {
		end++
	}
	d.report(at, end, message, help)
}

// value reads the value that begins in line n behind at and belongs to a key or
// dash in the column parent. It returns the number of the line behind it.
func (d *diagnosis) value(n, at, end, parent int) int {
	text := d.file.text
	for {
		for at < end && (text[at] == ' ' || text[at] == '\t') {
			at++
		}
		if at == end || text[at] == '#' && isSpace(text[at-1]) {
			d.wants = true
			return n + 1
		}
		if text[at] != '!' {
			break
		}
		word := property(text[at:end])
		switch text[at : at+word] {
		case "!!str", "!!int", "!!float", "!!bool", "!!null", "!!map", "!!seq":
			at += word
			continue
		}
		break
	}
	switch c := text[at]; {
	case c == '|' || c == '>':
		return d.block(n, at, end, parent)
	case c == '"' || c == '\'':
		return d.quoted(n, at, end, parent)
	case c == '[' || c == '{':
		return d.flow(n, at, parent)
	case c == '!':
		return d.tag(n, at, end, parent)
	case c == '&' || c == '*':
		return d.reference(n, at, end, parent)
	case strings.IndexByte("%@`,]}", c) >= 0:
		next := d.extent(n, at, end, parent)
		d.mend(at, at+1, next.span, fmt.Sprintf("a plain value cannot begin with %s", quoteByte(c)), helpQuote)
		return next.line
	case c == '-' && (at+1 == end || isSpace(text[at+1])):
		d.report(at, end, "a list cannot begin on the line of its key", "begin it on the next line, deeper, or write [a, b]; if it is text, quote it")
		d.broken = true
		return d.extent(n, at, end, parent).line
	case (c == '?' || c == ':') && (at+1 == end || isSpace(text[at+1])):
		next := d.extent(n, at, end, parent)
		d.mend(at, at+1, next.span, fmt.Sprintf("a plain value cannot begin with `%c `", c), helpQuote)
		return next.line
	}
	return d.plain(n, at, end, parent)
}

// tag reports a value that begins with a `!`.
func (d *diagnosis) tag(n, at, end, parent int) int {
	word := at + property(d.file.text[at:end])
	next := d.extent(n, at, end, parent)
	if next.line > n+1 && strings.TrimSpace(d.file.text[word:end]) == "" { // of the map or list below
		d.broken, d.wants = true, true
		d.problems = append(d.problems, d.file.problem(at, word, CheckTag,
			fmt.Sprintf("the YAML tag `%s` means nothing in a policy", d.file.text[at:word]), "remove it"))
		return n + 1
	}
	d.tagProblem(at, word)
	d.raw = append(d.raw, next.span)
	return next.line
}

func (d *diagnosis) tagProblem(at, end int) {
	word := d.file.text[at:end]
	d.problems = append(d.problems, d.file.problem(at, end, CheckTag,
		fmt.Sprintf("`%s` is a YAML tag here", word), negation(strings.TrimLeft(word, "!"))))
}

// reference reports an anchor or alias, or a text that looks like one.
func (d *diagnosis) reference(n, at, end, parent int) int {
	text := d.file.text
	word := at + property(text[at:end])
	next := d.extent(n, at, end, parent)
	name := text[at:word]
	switch {
	case !isName(name[1:]):
		d.mend(at, at+1, next.span, fmt.Sprintf("a plain value cannot begin with `%c`", name[0]), helpQuote)
	case name[0] == '*':
		d.problems = append(d.problems, d.file.problem(at, word, CheckAlias,
			fmt.Sprintf("`%s` is a YAML alias; a policy has none", name),
			"write it out, or quote the whole value if a `*` was meant"))
		d.raw = append(d.raw, next.span)
	default:
		d.problems = append(d.problems, d.file.problem(at, word, CheckAlias,
			fmt.Sprintf("`%s` is a YAML anchor; a policy has none", name),
			"remove it, or quote the whole value if a `&` was meant"))
		if strings.TrimSpace(text[word:end]) == "" { // of the map or list below
			d.broken, d.wants = true, true
			return n + 1
		}
		d.raw = append(d.raw, next.span)
	}
	return next.line
}

// An extent is a plain value with the lines that belong to it.
type extent struct {
	span
	line int // behind it
}

// extent is the value from at in line n on, with all the lines below that are
// indented deeper than its parent. A comment behind its last line is not part of
// it, unless it was torn out of an expression.
func (d *diagnosis) extent(n, at, end, parent int) extent {
	last := d.uncommented(at, end)
	for n++; n < len(d.file.lines); n++ {
		start, end, col := d.lineAt(n)
		if start == end {
			continue
		}
		if col <= parent || d.file.text[start] == '#' {
			break
		}
		last = d.uncommented(start, end)
	}
	return extent{span{at, last}, n}
}

// lineAt is line n without its indentation, and the column where it begins. Start
// is end if it is empty.
func (d *diagnosis) lineAt(n int) (start, end, col int) {
	start, end = d.file.line(n)
	line := d.file.text[start:end]
	col = len(line) - len(strings.TrimLeft(line, " "))
	return end - len(strings.TrimLeft(line, " \t")), end, col
}

// uncommented is where the text from start to end stops before its comment.
func (d *diagnosis) uncommented(start, end int) int {
	text := d.file.text[start:end]
	if i := comment(text); i >= 0 && !torn(text[:i], text[i:]) {
		text = text[:i]
	}
	return start + len(strings.TrimRight(text, " \t"))
}

// plain reads a value without quotes, with the lines that go on with it.
func (d *diagnosis) plain(n, at, end, parent int) int {
	text := d.file.text
	whole := d.extent(n, at, end, parent)
	first := true
	for ; n < whole.line; n++ {
		start := at
		if !first {
			var col int
			if start, end, col = d.lineAt(n); start == end {
				continue
			}
			if name, colon := key(text[start:end]); colon >= 0 && isName(text[start:start+name]) {
				if parent < 0 {
					return n // there is no key: the entry itself is wrong
				}
				d.broken = true
				d.report(start, start+name+1,
					fmt.Sprintf("`%s:` is indented deeper than the key above, which has a value already", text[start:start+name]),
					fmt.Sprintf("begin it at column %d", parent+1))
				// Go on below as if it stood where it should.
				d.levels = append(d.levels, level{col: col})
				return n
			}
		}
		first = false
		stop := end
		hash := comment(text[start:end])
		if hash >= 0 {
			stop = start + hash
			if torn(text[at:stop], text[stop:end]) {
				d.problems = append(d.problems, d.file.cutProblem(stop, end))
				d.raw = append(d.raw, whole.span)
				return whole.line
			}
		}
		if colon := colon(text[start:stop]); colon >= 0 {
			colon += start
			d.mend(colon, colon+1, whole.span, colonMessage(text[at:colon], text[colon+1:stop]), helpQuote)
			return whole.line
		}
		if hash >= 0 {
			return d.afterComment(n+1, whole.line)
		}
	}
	return whole.line
}

// colonMessage says what a colon between before and after does.
func colonMessage(before, after string) string {
	switch {
	case strings.Contains(before, "? "):
		return "the `:` of `? :` cannot stand in a plain value"
	case after == "":
		return "a plain value cannot end with `:`"
	}
	return "a `: ` cannot stand in a plain value"
}

// afterComment reports lines of a value that stand behind a comment within it.
func (d *diagnosis) afterComment(n, stop int) int {
	for ; n < stop; n++ {
		if start, end, _ := d.lineAt(n); start < end {
			d.broken = true
			d.report(start, end, "the comment above ended the value, so this line belongs to nothing",
				"put the comment above the key, or the value into a |- block")
			break
		}
	}
	return stop
}

// block reads a | or > text.
func (d *diagnosis) block(n, at, end, parent int) int {
	text := d.file.text
	i, explicit := at+1, false
	for i < end && (text[i] == '+' || text[i] == '-' || text[i] >= '1' && text[i] <= '9') {
		explicit = explicit || text[i] >= '1'
		i++
	}
	if rest := strings.TrimLeft(text[i:end], " \t"); i-at > 3 || rest != "" && (rest[0] != '#' || len(rest) == end-i) {
		next := d.extent(n, at, end, parent)
		d.mend(at, at+1, next.span,
			fmt.Sprintf("`%c` begins a block text, which starts on the next line", text[at]), helpQuote)
		return next.line
	}
	indent := 0 // of the text; 0 is not known
	for n++; n < len(d.file.lines); n++ {
		start, end, col := d.lineAt(n)
		if start == end {
			continue
		}
		tabbed := text[start-1] == '\t' && start > int(d.file.lines[n])
		if tabbed && col <= max(parent, indent-1) || tabbed && indent == 0 {
			d.tab(int(d.file.lines[n])+col, start)
			return d.skip(n, parent)
		}
		switch {
		case col <= parent:
			return n
		case indent == 0 && !explicit:
			indent = col
		case col < indent && text[start] != '#':
			d.broken = true
			d.report(start, end, "this line is indented less than the block text it belongs to",
				fmt.Sprintf("begin it at column %d", indent+1))
			return d.skip(n, parent)
		}
	}
	return n
}

// skip is the number of the first line from n on that is not deeper than parent.
func (d *diagnosis) skip(n, parent int) int {
	for n++; n < len(d.file.lines); n++ {
		if start, end, col := d.lineAt(n); start < end && col <= parent {
			break
		}
	}
	return n
}

// quoted reads a value between quotes.
func (d *diagnosis) quoted(n, at, end, parent int) int {
	text := d.file.text
	stop, bad := d.unquote(at, parent)
	if bad >= 0 {
		d.badEscape(bad)
	}
	if stop < 0 {
		d.unclosed(at)
		return n + 1
	}
	n = d.file.lineAt(stop - 1)
	end = d.file.lineEnd(stop)
	rest := strings.TrimLeft(text[stop:end], " \t")
	if rest == "" || rest[0] == '#' && len(rest) < end-stop {
		return n + 1
	}
	next := d.extent(n, stop, end, parent)
	left := end - len(rest)
	d.mend(left, max(d.uncommented(left, end), left+1), span{at, max(next.end, left+1)},
		fmt.Sprintf("the value ends with its quote, but `%s` follows", clip(text[left:d.uncommented(left, end)])),
		"quote the whole value, with the other kind of quotes, or put it into a |- block")
	return next.line
}

func (d *diagnosis) unclosed(at int) {
	d.broken = true
	d.report(at, at+1, fmt.Sprintf("the quote %s is not closed", quoteByte(d.file.text[at])),
		"close it; a text of several lines is better put into a | block")
}

func (d *diagnosis) badEscape(at int) {
	d.broken = true
	text := d.file.text[at:]
	if len(text) < 2 {
		return
	}
	switch _, size := utf8.DecodeRuneInString(text[1:]); text[1] {
	case 'x', 'u', 'U':
		end := 2
		for end < len(text) && end < 10 && isHex(text[end]) {
			end++
		}
		d.report(at, at+end, fmt.Sprintf("`%s` is no character", text[:end]),
			"give \\x two digits, \\u four, \\U eight, or write the character itself")
	default:
		text = text[:1+size]
		d.report(at, at+len(text), fmt.Sprintf("`%s` is no escape between double quotes", text),
			fmt.Sprintf("write `\\%s`, or use single quotes", text))
	}
}

// unquote is the offset behind the quoted text that begins at at, or -1 if it is
// not closed before an entry of the parent or one above begins. Bad is the offset
// of its first wrong escape, or -1.
func (d *diagnosis) unquote(at, parent int) (stop, bad int) {
	text, quote := d.file.text, d.file.text[at]
	bad = -1
	for i := at + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			n := d.file.lineAt(i) + 1
			if n >= len(d.file.lines) {
				return -1, bad
			}
			if start, end, col := d.lineAt(n); start < end && col <= parent {
				return -1, bad
			}
		case c == '\\' && quote == '"':
			if size := escapeSize(text[i:]); size > 0 {
				i += size - 1
			} else if bad < 0 {
				bad = i
				i++
			}
		case c == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case c == quote:
			return i + 1, bad
		}
	}
	return -1, bad
}

// escapeSize is the length of the escape that text begins with, up to the line
// end if that is escaped, or 0 if it is none.
func escapeSize(text string) int {
	if len(text) < 2 {
		return 0
	}
	digits := 0
	switch text[1] {
	case '0', 'a', 'b', 't', '\t', 'n', 'v', 'f', 'r', 'e', ' ', '"', '\'', '/', '\\', 'N', '_', 'L', 'P':
		return 2
	case '\n', '\r': // the line end itself is read as any other
		return 1
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return 0
	}
	if len(text) < 2+digits {
		return 0
	}
	value, err := strconv.ParseUint(text[2:2+digits], 16, 32)
	if err != nil || value > utf8.MaxRune || value >= 0xd800 && value < 0xe000 {
		return 0
	}
	return 2 + digits
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
