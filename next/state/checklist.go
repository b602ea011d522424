package state

import (
	"fmt"
	"regexp"
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
// in one character. Only x and X are done: another mark is an open item. What stands in a code fence that is closed, or in an HTML
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
var box = regexp.MustCompile(`^((?:[-*+•◦▪‣·–—]|[0-9]{1,9}[.)])[\s\p{Z}]*)?(?:\[[\s\p{Z}]*([^\s\p{Z}]?)\x{FE0F}?[\s\p{Z}]*\]|([☐☑])\x{FE0F}?)(.*)$`)

var (
	tag     = regexp.MustCompile(`\[(\p{Lu}[\p{Lu}\p{Nd}_-]*)\]`)
	sign    = regexp.MustCompile(`^(?:[-*+•◦▪‣·–—]|[0-9]{1,9}[.)])(?:[\s\p{Z}]|$)`)
	heading = regexp.MustCompile(`^#{1,6}(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$`)
	ruler   = regexp.MustCompile(`^(?:=+|-+)[ \t]*$`)
	fence   = regexp.MustCompile("^(`{3,}|~{3,})([^`]*)$")
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

	noFence   [2]noFence // for ` and ~
	noComment bool       // no comment is closed below
}

// openItem is a list item, with or without a box.
type openItem struct {
	column, start int
	item          map[string]any // nil without a box
}

// noFence remembers that no line between two offsets closes a fence of this length. It keeps a text of many fences from being
// searched again for each.
type noFence struct{ length, from, to int }

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
	switch {
	case item != nil || sign.MatchString(text):
		if item != nil {
			item["depth"], item["line"], item["section"] = len(p.open), p.line, p.section
			p.items = append(p.items, item)
		}
		p.open = append(p.open, openItem{column, start, item})
	case strings.HasPrefix(text, "<!--"):
		p.skipComment(start)
	case fence.MatchString(text):
		p.skipFence(text)
	case column >= 4 || len(p.open) > 0:
	case heading.MatchString(text):
		p.section = heading.FindStringSubmatch(text)[1]
	case above != "" && ruler.MatchString(text):
		p.section = above
	default:
		p.prose = text
	}
}

// parse returns the item that a line is, or nil.
func (p *list) parse(text string) map[string]any {
	if !strings.ContainsAny(text, "[☐☑") {
		return nil
	}
	m := box.FindStringSubmatch(text)
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
	if m[1] == "" && !done && mark != " " {
		return nil
	}
	tags := []any{}
	for _, t := range tag.FindAllStringSubmatch(m[4], -1) {
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

// skipComment goes to the line after a comment, if it is closed.
func (p *list) skipComment(start int) {
	n := -1
	if !p.noComment {
		n = strings.Index(p.text[start:], "-->")
	}
	if p.noComment = n < 0; !p.noComment {
		p.skipTo(start + n)
	}
}

// skipFence goes to the line after the one that closes a fence, if there is one before a box that ends the item around it.
func (p *list) skipFence(text string) {
	m := fence.FindStringSubmatch(text)
	known := &p.noFence[strings.IndexByte("`~", text[0])]
	around := -1
	if len(p.open) > 0 {
		around = p.open[len(p.open)-1].column
	}
	at, from := p.at, p.at
	if len(m[1]) >= known.length && known.length > 0 && known.from <= at && at < known.to {
		at, from = known.to, known.from
	}
	for at < len(p.text) {
		line, next := p.lineAt(at)
		column, text := indentation(line)
		if c := fence.FindStringSubmatch(text); c != nil && c[2] == "" && c[1][0] == m[1][0] && len(c[1]) >= len(m[1]) {
			p.skipTo(at)
			return
		}
		if column <= around && p.parse(text) != nil {
			break
		}
		at = next
	}
	*known = noFence{len(m[1]), from, at}
}

// skipTo goes to the line after the one at an offset.
func (p *list) skipTo(offset int) {
	line, next := p.lineAt(offset)
	p.line += strings.Count(p.text[p.at:max(next, p.at)], "\n")
	p.last = offset + len(strings.TrimRightFunc(line, unicode.IsSpace))
	p.at = max(next, p.at)
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
