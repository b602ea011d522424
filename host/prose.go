package host

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/markdown"
)

// lineKind is the kind of a line, as far as a promise depends on it.
type lineKind uint8

const (
	inProse lineKind = iota
	inCode           // of a fenced or an indented block
	inQuote          // it begins with >
)

// span is a part of a text.
type span struct{ start, end int }

// line is a line of a text, with its line end.
type line struct {
	span
	kind lineKind
}

// textLines yields the lines of a text, in order, with as much of Markdown as agents write:
//
//   - A fence is three or more ` or ~, after any indentation and list signs. It ends with a line of at least as many,
//     or with the text.
//   - A line that is indented by four columns or more is code after a blank line and after code. In a list, columns
//     count from the text of the item.
//   - A line that begins with > is a quote, also after list signs. Unlike in Markdown, the next line is not.
func textLines(text string) iter.Seq[line] {
	return func(yield func(line) bool) {
		fence := ""       // that opened the block, "" outside of one
		blank := true     // the line before was blank
		indented := false // the latest line that was not blank was indented code
		list := 0         // the column of the current item's text, 0 outside of a list
		for start := 0; start < len(text); {
			end, next := markdown.LineAt(text, start)
			l := line{span: span{start, next}}
			indent, rest := markdown.Indentation(text[start:end])
			inner := pastListSigns(rest)
			item := len(inner) < len(rest)
			switch {
			case fence != "":
				l.kind, item = inCode, false
				if markdown.ClosesFence(rest, fence) {
					fence = ""
				}
			case rest == "":
			case markdown.OpensFence(inner) != "":
				l.kind, fence, indented = inCode, markdown.OpensFence(inner), false
			case strings.HasPrefix(inner, ">"):
				l.kind, indented = inQuote, false
			case indent >= list+4 && (blank || indented):
				l.kind, indented, item = inCode, true, false
			default:
				indented = false
				if !item && blank {
					list = min(list, indent)
				}
			}
			if item {
				list = indent + len(rest) - len(inner)
			}
			if !yield(l) {
				return
			}
			blank, start = rest == "", next
		}
	}
}

// pastListSigns returns rest without the signs of a list item, which may be nested.
func pastListSigns(rest string) string {
	for {
		mark, text := markdown.CutMark(rest)
		if mark == "" || text == "" {
			return rest
		}
		rest = text
	}
}

// codeSpans returns what is between runs of equally many backticks on a line.
func codeSpans(line string) (spans []span) {
	var runs []span
	for i := 0; ; {
		n := strings.IndexByte(line[i:], '`')
		if n < 0 {
			break
		}
		start := i + n
		i = start + len(line[start:]) - len(strings.TrimLeft(line[start:], "`"))
		runs = append(runs, span{start, i})
	}
	// The next run of the same length, looked up from the end so that this takes one pass.
	next, seen := make([]int, len(runs)), map[int]int{}
	for k, run := range slices.Backward(runs) {
		next[k] = seen[run.end-run.start]
		seen[run.end-run.start] = k
	}
	for k := 0; k < len(runs); k++ {
		if to := next[k]; to > 0 {
			spans = append(spans, span{runs[k].end, runs[to].start})
			k = to
		}
	}
	return spans
}

// ornamentBefore returns the length of the ornament at the beginning of a line.
func ornamentBefore(line string) int {
	i := 0
	for i < len(line) {
		if n := markdown.NumberSize(line[i:]); n > 0 {
			i += n
			continue
		}
		if hasAnyPrefix(line[i:], "[x]", "[X]") {
			i += 3
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		if !ornament(r) || strings.HasPrefix(line[i:], "[ ]") {
			break
		}
		i += size
	}
	return i
}

// ornamentAfter returns the index at which the ornament at the end of a line begins.
func ornamentAfter(line string) int {
	i := len(line)
	for i > 0 {
		r, size := utf8.DecodeLastRuneInString(line[:i])
		if !ornament(r) {
			break
		}
		i -= size
	}
	return i
}

func ornament(r rune) bool {
	switch r {
	case '?', '¿', '？', '/', '\\', '@', '%', '&':
		return false // a question, a path, a variable
	case '❌', '✖', '✗', '✘', '❎', '🚫', '⛔':
		return false // the opposite
	case '`', '>', '|', '+', '\ufe0f', '\u200d', '\ufeff':
		return true
	case utf8.RuneError:
		return false
	}
	return unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.Is(unicode.So, r)
}
