package yamltree

import (
	"fmt"
	"strings"
)

// The state of an entry between brackets.
const (
	nothing = iota
	words   = iota // unquoted, which the next line may continue
	sealed  = iota // complete: only a comma, a bracket or, after a key, a colon may follow
)

// flow returns the offset after the bracket that closes the one at at. It returns -1 and reports the first problem if
// there is one between them, or if an entry of the block with this parent begins first.
func (d *diagnosis) flow(at, parent int) int {
	var open []int          // brackets
	var keys []bool         // whether their entries have a key
	read, keyed := 0, false // of the current entry
	for i, ok := at, true; ok; i, ok = d.gap(i, parent) {
		end := d.lineEnd(i)
		i = d.tags(i, end)
		if i == end {
			continue
		}
		text := d.text[i:end]
		switch c := text[0]; {
		case c == ']' || c == '}':
			last := len(open) - 1
			if d.text[open[last]] != opener(c) {
				d.report(i, i+1, fmt.Sprintf("`%c` closes a `%c`", c, d.text[open[last]]), "close the brackets in the order in which they were opened")
				return -1
			}
			i++
			if last == 0 {
				return i
			}
			keyed, read = keys[last], sealed
			open, keys = open[:last], keys[:last]
		case c == ',':
			i++
			read, keyed = nothing, false
		case c == ':' && read == sealed && !keyed:
			i++
			read, keyed = nothing, true
		case read == sealed || read == words && keyed && d.pair(i):
			d.report(i, i+1, "a `,` is missing before this", "end the entry above with a comma")
			return -1
		case c == '[' || c == '{':
			if len(open) > MaxDepth {
				return -1
			}
			open, keys = append(open, i), append(keys, keyed)
			i++
			read, keyed = nothing, false
		case c == '"' || c == '\'':
			stop := d.unquote(i, parent)
			if stop < 0 {
				return -1
			}
			if next := skipSpace(d.text, stop); next <= d.lineEnd(stop) && next < len(d.text) && strings.IndexByte(",]}:", d.text[next]) < 0 {
				d.follows(next, max(next+d.size(next), next+1), "quote", helpFlow)
				return -1
			}
			i, read = stop, sealed
		default:
			size := d.size(i)
			if size == 0 { // a comment
				break
			}
			text = text[:size]
			if _, colon := key(text); !keyed && colon >= 0 && !strings.Contains(text[:colon], "? ") {
				i, read = i+colon, sealed
				break
			}
			if n := strings.IndexAny(text, "[{"); !keyed && n > 1 && text[n-1] == ':' && isName(text[:n-1]) {
				d.report(i, i+n, fmt.Sprintf("a space is missing after `%s`", text[:n]), fmt.Sprintf("write `%s %c`", text[:n], text[n]))
				return -1
			}
			around := "[%s, x]"
			if keyed {
				around = "{k: %s, x}"
			}
			if (c == '!' || !isName(text) && !reads(fmt.Sprintf(around, text))) && d.trap(i, i, i+size, true) {
				return -1
			}
			i, read = i+size, words
		}
	}
	d.report(at, at+1, fmt.Sprintf("the `%c` is not closed", d.text[at]), "close it, or quote the whole value if it is text")
	return -1
}

// gap skips white space and comments. ok is false at the end of the text and where an entry of the surrounding block
// begins.
func (d *diagnosis) gap(i, parent int) (int, bool) {
	for ; i < len(d.text); i++ {
		switch c := d.text[i]; {
		case c == '\n':
			start, end, col := d.content(d.lineAt(i + 1))
			if start == end || col > parent {
				continue
			}
			if _, colon := key(d.text[start:end]); colon >= 0 || strings.HasPrefix(d.text[start:], "- ") {
				return i, false
			}
		case c == '#' && isSpace(d.text[i-1]):
			i = d.lineEnd(i) - 1
		case !isSpace(c):
			return i, true
		}
	}
	return i, false
}

// pair reports whether an entry with a key begins at at, the first on its line.
func (d *diagnosis) pair(at int) bool {
	start, end, _ := d.content(d.lineAt(at))
	length, colon := key(d.text[at:end])
	return start == at && colon >= 0 && isName(d.text[at:at+length])
}

// size returns the length of a value as intended: up to the comma or bracket outside of its own quotes and brackets, or
// to the end of the line.
func (d *diagnosis) size(at int) int {
	text := d.text[at:d.lineEnd(at)]
	n, _ := walk(text, func(i, depth int) bool {
		return depth == 0 && (strings.IndexByte(",]}", text[i]) >= 0 || text[i] == '#' && i > 0 && isSpace(text[i-1]))
	})
	return len(strings.TrimRight(text[:n], " \t"))
}
