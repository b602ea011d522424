package yamltree

import (
	"fmt"
	"regexp"
	"strings"
)

// Help for values with a meaning in YAML.
const (
	helpQuote = "quote the whole value, or put it into a |- block"
	helpFlow  = "quote the value"
	helpKey   = "write a name as the key, or quote the whole value"

	messageNoKey = "a key is missing before the `:`"
)

// reads reports whether the library reads a text as it was meant.
func reads(text string) bool {
	f, _ := newFile([]byte(text))
	if f == nil {
		return false
	}
	doc, err := decode(f.text)
	if err != nil {
		return false
	}
	b := builder{file: f}
	return b.document(doc) != nil && b.misread == nil
}

// value reads the value that begins in line n after at and belongs to a key or dash in the column parent. It returns
// the number of the next line.
func (d *diagnosis) value(n, at, end, parent int) int {
	at = d.tags(at, end)
	if at == end || d.text[at] == '#' && isSpace(d.text[at-1]) {
		d.wants = true
		return n + 1
	}
	text := d.text[at:end]
	next := d.behind(n, parent)
	if word := property(text); next > n+1 && len(word) > 1 && d.blank(at+len(word)) { // of what is below
		d.trap(at, at, end, false)
		return next
	}
	if (text[0] == '[' || text[0] == '{') && !strings.HasPrefix(text, "{{") {
		if n, _ := walk(text, func(i, depth int) bool { return i > 0 && depth == 0 }); !d.blank(at + n) {
			return d.rest(at+n, fmt.Sprintf("`%c`", text[n-1]))
		}
		// The lines between the brackets need no indentation, unless a bracket is not closed: then an entry of the
		// surrounding map ends the value.
		stop := d.flow(at, -1)
		if stop < 0 {
			d.first = nil
			stop = d.flow(at, parent)
		}
		if stop < 0 {
			return next
		}
		return d.rest(stop, fmt.Sprintf("`%c`", d.text[stop-1]))
	}
	whole := d.text[at:]
	if next < len(d.lines) {
		whole = d.text[at:d.lines[next]]
	}
	if parent >= 0 {
		whole = strings.Repeat(" ", parent) + "k: " + whole
	}
	if text[0] != '!' && text[0] != '{' && reads(whole) {
		return next
	}
	switch text[0] {
	case '"', '\'':
		if stop := d.unquote(at, parent); stop >= 0 {
			return d.rest(stop, "quote")
		}
		return n + 1
	case '|', '>':
		if head := strings.TrimLeft(text[1:], "+-123456789"); d.blank(end - len(head)) {
			d.block(n, next)
			return next
		}
	case '-':
		if parent >= 0 && (at+1 == end || isSpace(d.text[at+1])) {
			d.report(at, end, "a list cannot begin on the line of its key", "begin it on the next line, deeper, or write [a, b]; if it is text, quote it")
			return next
		}
	}
	return d.plain(n, next, at, parent)
}

// tags returns where a value begins after blanks and implied tags.
func (d *diagnosis) tags(at, end int) int {
	for {
		at = end - len(strings.TrimLeft(d.text[at:end], " \t"))
		word := property(d.text[at:end])
		if tagKind(word) == 0 {
			return at
		}
		at += len(word)
	}
}

// blank reports whether only a comment follows on a line.
func (d *diagnosis) blank(at int) bool {
	rest := strings.TrimLeft(d.text[at:d.lineEnd(at)], " \t")
	return rest == "" || rest[0] == '#'
}

// rest reports text after the end of a value, which ends with sign. It returns the number of the next line.
func (d *diagnosis) rest(stop int, sign string) int {
	if end := d.lineEnd(stop); !d.blank(stop) {
		start := end - len(strings.TrimLeft(d.text[stop:end], " \t"))
		d.follows(start, max(d.uncommented(start, end), start+1), sign, helpQuote)
	}
	return d.lineAt(stop-1) + 1
}

func (d *diagnosis) follows(start, end int, sign, help string) {
	d.report(start, end, fmt.Sprintf("the value ends with its %s, but `%s` follows", sign, clip(d.text[start:end])), help)
}

// uncommented returns the end of the text from start to end without its comment.
func (d *diagnosis) uncommented(start, end int) int {
	text := d.text[start:end]
	if i := comment(text); i >= 0 && !torn(text[:i], text[i:]) {
		text = text[:i]
	}
	return start + len(strings.TrimRight(text, " \t"))
}

// unquote returns the offset after the quoted text that begins at at. It returns -1 and reports a problem if that has
// an invalid escape, or is not closed before an entry of the parent or an outer one begins.
func (d *diagnosis) unquote(at, parent int) (stop int) {
	most := len(d.text)
	if n := d.behind(d.lineAt(at), parent); n < len(d.lines) {
		most = int(d.lines[n])
	}
	stop = at + quotedEnd(d.text[at:most])
	closed := stop > at
	if !closed {
		stop = d.lineEnd(at)
	}
	if d.text[at] == '"' {
		escapes := regexp.MustCompile(`(?s)\\(x[0-9a-fA-F]{0,2}|u[0-9a-fA-F]{0,4}|U[0-9a-fA-F]{0,8}|\r?\n|.)`)
		for _, g := range escapes.FindAllStringIndex(d.text[at:stop], -1) {
			if escape := d.text[at+g[0] : at+g[1]]; !isSpace(escape[1]) && !reads(`"`+escape+`"`) {
				d.report(at+g[0], at+g[1], fmt.Sprintf("`%s` is not an escape between double quotes", escape),
					fmt.Sprintf("write `\\%s`, the character itself, or use single quotes", escape))
				return -1
			}
		}
	}
	if !closed {
		d.report(at, at+1, fmt.Sprintf("the quote %s is not closed", quoteByte(d.text[at])), "close it; put several lines into a | block")
		return -1
	}
	return stop
}

// block reports problems of the lines of a | or > scalar, after its head and before next.
func (d *diagnosis) block(head, next int) {
	indent := 0 // of the text; 0 if unknown
	for n := head + 1; n < next; n++ {
		start, end, col := d.content(n)
		switch first := int(d.lines[n]) + col; {
		case start == end:
		case first < start && col < max(indent, 1):
			d.tab(first, start)
			return
		case indent == 0:
			indent = col
		case col < indent && d.text[start] != '#':
			d.report(start, end, "this line is indented less than the block text it belongs to", fmt.Sprintf("begin it at column %d", indent+1))
			return
		}
	}
}

// plain determines why an unquoted value that begins at at in line first is invalid. It returns the next line.
func (d *diagnosis) plain(first, next, at, parent int) int {
	ended := false
	for n := first; n < next; n++ {
		start, end, col := d.content(n)
		if tab := int(d.lines[n]) + col; start == end {
			if tab < end && col <= parent {
				d.report(tab, start, "a tab in the indentation, on a line without a value", "remove it")
				return next
			}
			continue
		}
		name, colon := key(d.text[start:end])
		switch {
		case n == first:
			start = at
		case ended && d.text[start] != '#':
			d.report(start, end, "the comment above ended the value, so this line belongs to nothing",
				"put the comment above the key, or the value into a |- block")
			return next
		case colon >= 0 && isName(d.text[start:start+name]):
			if parent >= 0 { // otherwise there is no key: the entry itself is wrong
				d.report(start, start+name+1, fmt.Sprintf("`%s:` is indented deeper than the key above, which has a value already", d.text[start:start+name]),
					fmt.Sprintf("begin it at column %d", parent+1))
			}
			return n
		}
		if d.trap(at, start, end, false) {
			return next
		}
		ended = ended || d.text[start] == '#' || comment(d.text[start:end]) >= 0
	}
	return next
}

// A start is a beginning of a value that makes it something other than unquoted text.
type start struct {
	pattern              string
	check, message, help string // <word> is the match, <rest> the first word without the signs
	flow                 bool   // also between brackets
}

func starts() []start {
	return []start{
		{`^!+\S*`, CheckTag, "`<word>` is a YAML tag here", "in an expression write `not <rest>`, else remove it", true},
		{`^&[\pL\pN_-]+`, CheckAlias, "`<word>` is a YAML anchor; a policy has none", "remove it, or quote the whole value if a `&` was meant", true},
		{`^\*[\pL\pN_-]+`, CheckAlias, "`<word>` is a YAML alias; a policy has none", "write it out, or quote the whole value if a `*` was meant", false},
		{`^[|>]`, CheckSyntax, "`<word>` begins a block text, which starts on the next line", helpQuote, false},
		{`^\{\{`, CheckSyntax, "a plain value cannot begin with `<word>`", "a placeholder in a text is written ${…}; otherwise quote the whole value", true},
		{"^`", CheckSyntax, "a plain value cannot begin with a backtick", helpQuote, true},
		{`^([*&%@,\]}|>]|[-?:]($|\s))`, CheckSyntax, "a plain value cannot begin with `<word>`", helpQuote, true},
	}
}

// trap reports the first sign in a part of a value, from at to end, that makes it something other than unquoted text.
// flow says that the value is between brackets.
func (d *diagnosis) trap(value, at, end int, flow bool) bool {
	text := d.text[:end]
	help := helpQuote
	if flow {
		help = helpFlow
	}
	found := func(start, end int, check, message, help string) bool {
		d.found(start, end, check, message, help)
		return true
	}
	for _, s := range starts() {
		word := strings.TrimSpace(regexp.MustCompile(s.pattern).FindString(text[at:]))
		if at == value && word != "" && (s.flow || !flow) {
			rest, _, _ := strings.Cut(strings.TrimLeft(text[at:], "! "), " ")
			say := strings.NewReplacer("<word>", word, "<rest>", rest)
			return found(at, at+len(word), s.check, say.Replace(s.message), say.Replace(s.help))
		}
	}
	for i := at; i < len(text); i++ {
		switch c := text[i]; {
		case c == '#' && i > at && isSpace(text[i-1]):
			return torn(text[value:i], text[i:]) && found(i, d.lineEnd(i), CheckComment, "a ` #` starts a comment and cuts the value off here", helpQuote)
		case c == ':' && (i+1 == len(text) || isSpace(text[i+1])):
			return found(i, i+1, CheckSyntax, "a plain value cannot contain `: `, or end with `:`", help)
		case c == ',' && flow && open(text[at:i]) == '(':
			return found(i, i+1, CheckFlow, "the `,` ends the value here, before its `(` is closed", "quote the whole value, or write it on a line of its own without { } and [ ]")
		case flow && (c == '[' || c == '{' || c == '?' && i > at):
			return found(i, i+1, CheckSyntax, fmt.Sprintf("a plain value between brackets cannot contain `%c`", c), help)
		}
	}
	return false
}
