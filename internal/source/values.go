package source

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// An extent is a value with the lines that belong to it.
type extent struct {
	span
	parent int // the column of its key or dash
	line   int // behind it
}

// extent is the value from at in line n on, with all the lines below that are
// indented deeper than its parent. A comment behind its last line is not part of
// it, unless it was torn out of an expression.
func (f *file) extent(n, at, end, parent int) extent {
	last := f.uncommented(at, end)
	for n++; n < len(f.lines); n++ {
		start, end, col := f.content(n)
		if start < end && col <= parent {
			break
		}
		if start < end && f.text[start] != '#' {
			last = f.uncommented(start, end)
		}
	}
	return extent{span{start: at, end: last}, parent, n}
}

// uncommented is where the text from start to end stops before its comment.
func (f *file) uncommented(start, end int) int {
	text := f.text[start:end]
	if i := comment(text); i >= 0 && !torn(text[:i], text[i:]) {
		text = text[:i]
	}
	return start + len(strings.TrimRight(text, " \t"))
}

// value reads the value that begins in line n behind at and belongs to a key or
// dash in the column parent. It returns the number of the line behind it.
func (d *diagnosis) value(n, at, end, parent int) int {
	text := d.file.text
	v := d.file.extent(n, at, end, parent)
	below := v.line > n+1
	if !below && v.line < len(d.file.lines) && at > 0 && text[at-1] == ':' { // a list may stand at the column of its key
		start, _, col := d.file.content(v.line)
		below = col == parent && strings.HasPrefix(text[start:], "- ")
	}
	at = d.properties(at, end, below)
	v.start = at
	if at == end || text[at] == '#' && isSpace(text[at-1]) {
		d.wants = true
		return n + 1
	}
	if text[at] == '[' || text[at] == '{' {
		return d.flow(v)
	}
	whole := text[at:]
	if v.line < len(d.file.lines) {
		whole = text[at:d.file.lines[v.line]]
	}
	if parent >= 0 {
		whole = strings.Repeat(" ", parent) + "k: " + whole
	}
	if text[at] != '!' && reads(whole) {
		return v.line
	}
	switch text[at] {
	case '"', '\'':
		return d.quoted(v)
	case '|', '>':
		if d.block(v) {
			return v.line
		}
	case '-':
		if parent >= 0 && (at+1 == end || isSpace(text[at+1])) {
			d.breaks(at, end, "a list cannot begin on the line of its key", "begin it on the next line, deeper, or write [a, b]; if it is text, quote it")
			return v.line
		}
	}
	return d.plain(v)
}

// properties is where a value begins that stands behind at, and behind blanks and tags that say what YAML means anyway.
// It passes over a tag or anchor of something else than a plain value, which it reports; below says that something
// stands in the lines below.
func (d *diagnosis) properties(at, end int, below bool) int {
	text := d.file.text
	for {
		for at < end && (text[at] == ' ' || text[at] == '\t') {
			at++
		}
		if at == end || text[at] != '!' && text[at] != '&' {
			return at
		}
		behind := at + property(text[at:end])
		word, rest := text[at:behind], strings.TrimLeft(text[behind:end], " \t")
		alone := rest == "" || rest[0] == '#'
		switch {
		case tagKind(word) != 0:
		case alone && (below || word[0] == '&' && word != "&"), !alone && word[0] == '!' && strings.IndexByte("\"'[{|>", rest[0]) >= 0, strings.HasPrefix(word, "!!"):
			message, check, help := "the YAML tag `%s` means nothing in a policy", CheckTag, "remove it"
			if word[0] == '&' {
				message, check, help = messageAnchor, CheckAlias, helpAnchor
			}
			d.problems = append(d.problems, d.file.problem(at, behind, check, fmt.Sprintf(message, word), help))
			d.raw = append(d.raw, span{at, behind, true})
		default:
			return at
		}
		at = behind
	}
}

const (
	messageAnchor = "`%s` is a YAML anchor; a policy has none"
	helpAnchor    = "remove it, or quote the whole value if a `&` was meant"
)

// quoted reads a value between quotes that the library refused.
func (d *diagnosis) quoted(v extent) int {
	stop := d.unquote(v.start, v.parent)
	if stop < 0 {
		return d.file.lineAt(v.start) + 1
	}
	return d.rest(v, stop, "quote", "quote the whole value, with the other kind of quotes, or put it into a |- block")
}

// rest reports what follows on the line on which a value ends, with its last sign.
func (d *diagnosis) rest(v extent, stop int, sign, help string) int {
	f, n := d.file, d.file.lineAt(stop-1)
	end := f.lineEnd(stop)
	left := end - len(strings.TrimLeft(f.text[stop:end], " \t"))
	if left == end || f.text[left] == '#' {
		return n + 1
	}
	behind := f.extent(n, stop, end, v.parent)
	last := max(f.uncommented(left, end), left+1)
	d.quote(left, last, span{start: v.start, end: max(behind.end, last)},
		fmt.Sprintf("the value ends with its %s, but `%s` follows", sign, clip(f.text[left:last])), help)
	return behind.line
}

// unquote is the offset behind the quoted text that begins at at. It is -1 if that is not closed before an entry of the
// parent or one above begins, which it reports, as it does an escape that the library does not read.
func (d *diagnosis) unquote(at, parent int) (stop int) {
	f := d.file
	stop = at + quotedEnd(f.text[at:])
	if stop < at {
		stop = len(f.text) + 1
	}
	for n := f.lineAt(at) + 1; n < len(f.lines) && int(f.lines[n]) < stop; n++ {
		if start, end, col := f.content(n); start < end && col <= parent {
			stop = len(f.text) + 1
		}
	}
	closed := stop <= len(f.text)
	if !closed {
		stop = f.lineEnd(at)
	}
	if f.text[at] == '"' {
		d.escapes(f.text[:stop], at+1)
	}
	if !closed {
		d.breaks(at, at+1, fmt.Sprintf("the quote %s is not closed", quoteByte(f.text[at])),
			"close it; a text of several lines is better put into a | block")
		return -1
	}
	return stop
}

// escapes reports the first escape from at on that the library does not read.
func (d *diagnosis) escapes(text string, at int) {
	for ; at+1 < len(text); at++ {
		if text[at] != '\\' {
			continue
		}
		_, size := utf8.DecodeRuneInString(text[at+1:])
		end, digits := at+1+size, 0
		switch text[at+1] {
		case '\n', '\r':
			continue
		case 'x':
			digits = 2
		case 'u':
			digits = 4
		case 'U':
			digits = 8
		}
		whole := end
		for whole < len(text) && whole-at < 10 && isHex(text[whole]) {
			whole++
		}
		if end = min(end+digits, whole); reads(`"` + text[at:end] + `"`) {
			at = end - 1
			continue
		}
		message, help := "is no escape between double quotes", fmt.Sprintf("write `\\%s`, or use single quotes", text[at:at+1+size])
		if end > at+2 && digits > 0 {
			message, help = "is no character", "give \\x two digits, \\u four, \\U eight, or write the character itself"
		}
		d.breaks(at, end, fmt.Sprintf("`%s` %s", text[at:end], message), help)
		return
	}
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// block finds out what is wrong with a | or > text. It reports false if it is none.
func (d *diagnosis) block(v extent) bool {
	f := d.file
	n := f.lineAt(v.start)
	head := strings.TrimLeft(f.text[v.start+1:f.lineEnd(v.start)], "+-123456789")
	if head = strings.TrimLeft(head, " \t"); head != "" && head[0] != '#' {
		return false
	}
	indent := 0 // of the text; 0 is not known
	for n++; n < v.line; n++ {
		start, end, col := f.content(n)
		switch first := int(f.lines[n]) + col; {
		case start == end:
		case first < start && col < max(indent, 1):
			d.tab(first, start)
			return true
		case indent == 0:
			indent = col
		case col < indent && f.text[start] != '#':
			d.breaks(start, end, "this line is indented less than the block text it belongs to",
				fmt.Sprintf("begin it at column %d", indent+1))
			return true
		}
	}
	return true
}

// plain finds out why a value without quotes, or what would be one, is none.
func (d *diagnosis) plain(v extent) int {
	f, first := d.file, d.file.lineAt(v.start)
	for n := first; n < v.line; n++ {
		start, end, col := f.content(n)
		if start == end {
			continue
		}
		text := f.text[start:end]
		if n == first {
			start = v.start
		} else if name, colon := key(text); colon >= 0 && isName(text[:name]) {
			if v.parent < 0 {
				return n // there is no key: the entry itself is wrong
			}
			d.breaks(start, start+name+1, fmt.Sprintf("`%s:` is indented deeper than the key above, which has a value already", text[:name]),
				fmt.Sprintf("begin it at column %d", v.parent+1))
			// Go on below as if it stood where it should.
			d.levels = append(d.levels, level{col: col})
			return n
		}
		if d.trap(v.span, span{start: start, end: end}, false) {
			return v.line
		}
		if text[0] != '#' && comment(f.text[start:end]) < 0 {
			continue
		}
		for n++; n < v.line; n++ {
			if start, end, _ := f.content(n); start < end && f.text[start] != '#' {
				d.breaks(start, end, "the comment above ended the value, so this line belongs to nothing",
					"put the comment above the key, or the value into a |- block")
				return v.line
			}
		}
	}
	return v.line
}

// trap reports the first sign in a part of a value that makes YAML read something else than a text without quotes. Flow
// says that the value stands between brackets.
func (d *diagnosis) trap(whole, part span, flow bool) bool {
	f, text := d.file, d.file.text[:part.end]
	help := helpQuote
	if flow {
		help = helpFlow
	}
	found := func(start, end int, check, message, help string) bool {
		d.problems = append(d.problems, f.problem(start, end, check, message, help))
		d.raw = append(d.raw, whole)
		return true
	}
	blank := func(i int) bool { return i >= len(text) || isSpace(text[i]) }
	at := part.start
	if at == whole.start {
		word := text[at : at+property(text[at:])]
		switch c := text[at]; {
		case c == '!':
			rest := strings.TrimLeft(word, "!")
			if rest == "" {
				rest = strings.TrimSpace(text[at+len(word):])
			}
			return found(at, at+len(word), CheckTag, fmt.Sprintf("`%s` is a YAML tag here", word), negation(rest))
		case c == '&' && len(word) > 1:
			return found(at, at+len(word), CheckAlias, fmt.Sprintf(messageAnchor, word), helpAnchor)
		case c == '*' && len(word) > 1 && !flow:
			return found(at, at+len(word), CheckAlias, fmt.Sprintf("`%s` is a YAML alias; a policy has none", word),
				"write it out, or quote the whole value if a `*` was meant")
		case c == '|' && !flow, c == '>' && !flow:
			return found(at, at+1, CheckSyntax, fmt.Sprintf("`%c` begins a block text, which starts on the next line", c), help)
		case strings.HasPrefix(text[at:], "{{"):
			return found(at, at+2, CheckSyntax, "a plain value cannot begin with `{{`",
				"a hole in a text is written ${…}; otherwise quote the whole value")
		case strings.IndexByte("*&%@`,]}|>", c) >= 0:
			return found(at, at+1, CheckSyntax, "a plain value cannot begin with "+quoteByte(c), help)
		case strings.IndexByte("-?:", c) >= 0 && blank(at+1):
			return found(at, at+1, CheckSyntax, fmt.Sprintf("a plain value cannot begin with `%c `", c), help)
		}
	}
	for i := at; i < len(text); i++ {
		switch c := text[i]; {
		case c == '#' && i > at && isSpace(text[i-1]):
			if torn(text[whole.start:i], text[i:]) {
				return found(i, f.lineEnd(i), CheckComment, messageCut, helpQuote)
			}
			return false
		case c == ':' && blank(i+1):
			return found(i, i+1, CheckSyntax, colonMessage(text[whole.start:i], text[i+1:]), help)
		case c == ',' && flow && open(text[at:i]) == '(':
			return found(i, i+1, CheckFlow, messageComma, helpComma)
		case flow && (c == '[' || c == '{' || c == '?' && i > at):
			return found(i, i+1, CheckSyntax, fmt.Sprintf("a `%c` cannot stand in a plain value between brackets", c), help)
		}
	}
	return false
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
