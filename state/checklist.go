package state

import (
	"bytes"
	"strings"
	"unicode"

	"github.com/ralph-sdk/ralph/internal/markdown"
)

// An Item is a task of a Markdown task list: a list item with a checkbox.
type Item struct {
	Text string   // its first line without list mark and checkbox, with tags
	Done bool     // the box is ticked
	Tags []string // [WORD]s in capitals in the first line, in order, without brackets; nil if none

	// Depth is the number of list items around the task, with or without a checkbox; 0 is the top.
	Depth int

	Section string // the text of the nearest heading above; "" if there is none

	// Source is the item as written, including everything indented below it, with \n at line ends except the last.
	// Blank lines inside are kept, those at the end are not.
	Source string

	Line int // its first line, from 1
}

// parseChecklist returns the tasks of a Markdown text. It ignores code, fenced or indented, and HTML comments.
func parseChecklist(src []byte) []Item {
	if m, err := splitFrontMatter(src, false); err == nil {
		// Blank lines in place of the front matter keep the line numbers.
		head := len(src) - len(m.body)
		src = append(bytes.Repeat([]byte("\n"), bytes.Count(src[:head], []byte("\n"))), m.body...)
	}
	p := checklistParser{text: strings.ReplaceAll(string(trimBOM(src)), "\r\n", "\n")}
	start := 0
	for line := range strings.Lines(p.text) {
		p.number++
		p.line(start, start+len(strings.TrimSuffix(line, "\n")))
		start += len(line)
	}
	p.close(-1)
	return p.items
}

// A checklistParser reads line by line. Only indentation determines nesting: a line that is further right than an item
// belongs to it.
type checklistParser struct {
	text    string // the whole text, with \n line ends
	items   []Item
	open    []openItem // list items to which the current line may belong
	fence   string     // the characters that opened the current fence; "" outside
	comment bool       // inside an HTML comment
	inside  int        // column of the list item with the fence or comment, -1 if none
	section string
	prose   string // the previous line, if an underline may make it a heading
	flows   bool   // the previous line is text that this line may continue
	list    bool   // a list may continue, also after blank lines and unindented text
	number  int    // of the current line, from 1
	last    int    // end of the latest nonblank line
}

type openItem struct {
	column int
	task   int // index in items, -1 without checkbox
	start  int // where its first line begins
}

// line reads text[start:end].
func (p *checklistParser) line(start, end int) {
	column, text := markdown.Indentation(p.text[start:end])
	if text == "" {
		p.prose, p.flows = "", false
		return
	}
	above, flows := p.prose, p.flows
	p.prose, p.flows = "", false

	mark, rest := markdown.CutMark(text)
	done, label, isTask := cutBox(rest, mark)
	if p.fence != "" || p.comment {
		// What is never closed ends with its item.
		if !isTask || column > p.inside {
			if p.comment {
				p.comment = !strings.Contains(text, "-->")
			} else if markdown.ClosesFence(text, p.fence) {
				p.fence = ""
			}
			p.last = end
			return
		}
		p.fence, p.comment = "", false
	}

	if column >= codeColumn && !flows && !p.list {
		return // an indented block of code
	}
	p.close(column)
	p.last = end
	p.fence, p.comment = markdown.OpensFence(text), opensComment(text)
	if p.fence != "" || strings.HasPrefix(text, "<!--") {
		p.inside = -1
		if p.list = len(p.open) > 0; p.list {
			p.inside = p.open[len(p.open)-1].column
		}
		return
	}
	p.flows = true
	if mark != "" {
		p.list = true
		item := openItem{column: column, task: -1, start: start}
		if isTask {
			item.task = len(p.items)
			p.items = append(p.items, Item{
				Text:    label,
				Done:    done,
				Tags:    tagsOf(label),
				Depth:   len(p.open),
				Section: p.section,
				Line:    p.number,
			})
		}
		p.open = append(p.open, item)
		p.comment, p.inside = opensComment(rest), column
		return
	}
	if len(p.open) > 0 {
		return // part of an item
	}
	switch heading, ok := cutHeading(text); {
	case ok && column < codeColumn:
		p.section, p.flows, p.list = heading, false, false
	case above != "" && column < codeColumn && isUnderline(text):
		p.section, p.flows, p.list = above, false, false
	default:
		p.prose = strings.TrimSpace(text)
		p.list = p.list && flows // otherwise a paragraph begins, and ends the list
	}
}

// codeColumn is where an indented code block begins, outside of lists.
const codeColumn = 4

// close ends the items to which a line at column does not belong; -1 ends all.
func (p *checklistParser) close(column int) {
	for len(p.open) > 0 {
		top := p.open[len(p.open)-1]
		if column > top.column {
			return
		}
		if top.task >= 0 {
			// A substring, not a copy: nested items would copy each other.
			p.items[top.task].Source = p.text[top.start:p.last]
		}
		p.open = p.open[:len(p.open)-1]
	}
}

// cutBox separates the checkbox from a list item's first line.
func cutBox(rest, mark string) (done bool, label string, ok bool) {
	if mark == "" || len(rest) < 3 || rest[0] != '[' || rest[2] != ']' {
		return false, "", false
	}
	if len(rest) > 3 && rest[3] != ' ' && rest[3] != '\t' {
		return false, "", false // a link, or text that only looks like a box
	}
	switch rest[1] {
	case ' ':
	case 'x', 'X':
		done = true
	default:
		return false, "", false
	}
	return done, strings.TrimSpace(rest[3:]), true
}

// tagsOf returns the words in capitals in brackets.
func tagsOf(label string) []string {
	var tags []string
	for {
		_, rest, ok := strings.Cut(label, "[")
		if !ok {
			return tags
		}
		word := rest[:tagSize(rest)]
		label = rest[len(word):]
		if word != "" && strings.HasPrefix(label, "]") {
			tags = append(tags, word)
		}
	}
}

// tagSize returns how many bytes of text can be a tag: a capital, then capitals, digits, _ and -.
func tagSize(text string) int {
	for i, c := range text {
		switch {
		case unicode.IsUpper(c):
		case i > 0 && (unicode.IsDigit(c) || c == '_' || c == '-'):
		default:
			return i
		}
	}
	return len(text)
}

// opensComment reports whether an HTML comment begins that continues after the line.
func opensComment(text string) bool {
	return strings.HasPrefix(text, "<!--") && !strings.Contains(text, "-->")
}

// cutHeading returns the text of a heading marked by number signs.
func cutHeading(text string) (string, bool) {
	rest := strings.TrimLeft(text, "#")
	size := len(text) - len(rest)
	if size == 0 || size > 6 || (rest != "" && rest[0] != ' ' && rest[0] != '\t') {
		return "", false
	}
	rest = strings.TrimSpace(rest)
	if bare := strings.TrimRight(rest, "#"); bare == "" || strings.HasSuffix(bare, " ") || strings.HasSuffix(bare, "\t") {
		rest = strings.TrimSpace(bare)
	}
	return rest, true
}

// isUnderline reports whether a line makes the one above it a heading.
func isUnderline(text string) bool {
	text = strings.TrimRight(text, " \t")
	return strings.Trim(text, "=") == "" || strings.Trim(text, "-") == ""
}
