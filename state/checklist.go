package state

import (
	"fmt"
	"strings"
	"unicode"
)

// maxItems bounds the items of a checklist.
const maxItems = 100_000

// ParseChecklist returns the items of a Markdown checklist as a list of objects with text, mark, done, depth, line, section, tags and
// source.
//
// An item is anything that looks like a box: a list sign (-, *, +, a bullet, or a number with a point or bracket) and at most one
// character between brackets, or no sign and a blank, x or X; but never before (, [ or :, which make it a link. ☐ and ☑ are [ ] and [x]
// in one character. Only x and X are done: another mark is an open item. What is in a code fence that is closed, or in an HTML
// comment that begins a line and is closed, is no item; one that is not closed hides nothing, and neither does one that a box further
// left interrupts.
//
// text is what follows the box, tags are its [WORD]s in capitals. depth counts the list items around the item, by indentation. line
// counts from 1. section is the nearest heading above. source is the item as written, with all lines below that are further right.
// More than 100,000 items are an error.
func ParseChecklist(b []byte) ([]any, error) {
	text, err := decode(b)
	if err != nil {
		return nil, err
	}
	p := &list{text: strings.ReplaceAll(text, "\r\n", "\n"), items: []any{}}
	if m, err := split([]byte(p.text)); err == nil {
		p.at, p.line = m.body, strings.Count(p.text[:m.body], "\n")
	}
	for p.at < len(p.text) && len(p.items) <= maxItems {
		p.next()
	}
	p.close(-1)
	if len(p.items) > maxItems {
		return nil, fmt.Errorf("has more than %d boxes", maxItems)
	}
	return p.items, nil
}

// box matches an item: list sign, mark between brackets, or mark in one character, text.
var box = lazy(`^((?:[-*+•◦▪‣·–—]|[0-9]+[.)])[\s\p{Z}]*)?(?:\[[\s\p{Z}]*([^\s\p{Z}]?)\x{FE0F}?[\s\p{Z}]*\]|([☐☑])\x{FE0F}?)(.*)$`)

var (
	tag     = lazy(`\[([A-Z][A-Z0-9_-]*)\]`)
	sign    = lazy(`^(?:[-*+•◦▪‣·–—]|[0-9]+[.)])(?:[\s\p{Z}]|$)`)
	heading = lazy(`^#{1,6}(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	ruler   = lazy(`^(?:=+|-+)[ \t]*$`)
	fence   = lazy("^(`{3,}|~{3,})[^`]*$")
)

// list is a checklist that is read line by line.
type list struct {
	text    string
	at      int // where the next line begins
	line    int // number of the last line
	last    int // end of the last line with text
	items   []any
	open    []openItem // list items that the next line may belong to
	section string
	prose   string // the line above, if a ruler makes it a heading

	unclosed [3]unclosed // of `, ~ and comments
}

// openItem is a list item, with or without a box.
type openItem struct {
	column, start int
	item          map[string]any // nil without a box
}

// unclosed remembers that no line before an offset closes a fence of this length or a longer one. Without it, a text of many fences would
// be searched from each.
type unclosed struct{ length, before int }

// next reads one line.
func (p *list) next() {
	start := p.at
	line, next := p.lineAt(start)
	p.at = next
	p.line++
	column, text := indentation(line)
	above := p.prose
	p.prose = ""
	if text == "" {
		return
	}
	item := p.parse(text)
	p.close(column)
	p.last = start + len(strings.TrimRightFunc(line, unicode.IsSpace))
	mark := sign().FindString(text)
	switch {
	case item != nil || mark != "":
		if item != nil {
			item["depth"], item["line"], item["section"] = len(p.open), p.line, p.section
			p.items = append(p.items, item)
		}
		p.open = append(p.open, openItem{column, start, item})
		p.hidden(strings.TrimLeft(text[len(mark):], " \t"))
	case p.hidden(text), column >= 4, len(p.open) > 0:
	case heading().MatchString(text):
		p.section = heading().FindStringSubmatch(text)[1]
	case above != "" && ruler().MatchString(text):
		p.section = above
	default:
		p.prose = text
	}
}

// hidden reports whether a line opens a fence or a comment, and goes to its end.
func (p *list) hidden(text string) bool {
	comment := strings.HasPrefix(text, "<!--")
	switch m := fence().FindStringSubmatch(text); {
	case m != nil:
		p.skip(strings.IndexByte("`~", text[0]), len(m[1]), func(text string) bool {
			return strings.HasPrefix(text, m[1]) && strings.Trim(text, m[1][:1]) == ""
		})
		return true
	case comment && !strings.Contains(text, "-->"):
		p.skip(2, 1, func(text string) bool { return strings.Contains(text, "-->") })
	}
	return comment
}

// parse returns the item that a line is, or nil.
func (p *list) parse(text string) map[string]any {
	if !strings.ContainsAny(text, "[☐☑") {
		return nil
	}
	m := box().FindStringSubmatch(text)
	if m == nil || m[4] != "" && strings.IndexByte("([:", m[4][0]) >= 0 {
		return nil
	}
	mark := m[2]
	switch {
	case m[3] == "☑":
		mark = "x"
	case mark == "":
		mark = " "
	}
	done := mark == "x" || mark == "X"
	if m[1] == "" && (!done && mark != " " || strings.HasPrefix(text, "[]")) {
		return nil
	}
	tags := []any{}
	for _, t := range tag().FindAllStringSubmatch(m[4], -1) {
		tags = append(tags, t[1])
	}
	return map[string]any{"text": strings.TrimSpace(m[4]), "mark": mark, "done": done, "tags": tags}
}

// close ends the items that a line at a column does not belong to; -1 ends all.
func (p *list) close(column int) {
	for n := len(p.open) - 1; n >= 0 && column <= p.open[n].column; n-- {
		if o := p.open[n]; o.item != nil {
			o.item["source"] = p.text[o.start:p.last] // shares the text: nested items would copy each other
		}
		p.open = p.open[:n]
	}
}

// skip goes to the line after the one that closes a fence or a comment, if there is one before a box that ends the item around it.
func (p *list) skip(kind, length int, closes func(text string) bool) {
	around := -1
	if n := len(p.open); n > 0 {
		around = p.open[n-1].column
	}
	at, known := p.at, &p.unclosed[kind]
	if length >= known.length {
		at = max(at, known.before)
	}
	for at < len(p.text) {
		line, next := p.lineAt(at)
		column, text := indentation(line)
		if closes(text) {
			p.line += strings.Count(p.text[p.at:next], "\n")
			p.at, p.last = next, at+len(strings.TrimRightFunc(line, unicode.IsSpace))
			return
		}
		if column <= around && p.parse(text) != nil {
			break
		}
		at = next
	}
	*known = unclosed{length, at}
}

// lineAt returns the line at an offset without its end, and where the next one begins.
func (p *list) lineAt(at int) (line string, next int) {
	line, _, found := strings.Cut(p.text[at:], "\n")
	if next = at + len(line); found {
		next++
	}
	return line, next
}

// indentation returns the columns of white space before a line, with tab stops every four columns, and the rest without space around it.
func indentation(line string) (columns int, text string) {
	for i, r := range line {
		switch {
		case r == '\t':
			columns += 4 - columns%4
		case unicode.IsSpace(r):
			columns++
		default:
			return columns, strings.TrimRightFunc(line[i:], unicode.IsSpace)
		}
	}
	return 0, ""
}
