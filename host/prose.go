package host

import (
	"iter"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/markdown"
)

// lineKind is the kind of a line, as far as a promise depends on it.
type lineKind uint8

const (
	inProse lineKind = iota
	inCode           // of a fenced or an indented block
	inQuote          // it begins with >
	inComment
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
//   - <!--, <pre> and <blockquote> outside of code make a comment, code and a quote of their line and of those up to
//     the one with the end.
func textLines(text string) iter.Seq[line] {
	return func(yield func(line) bool) {
		var html element
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
			case html.end != "":
				l.kind, item = html.kind, false
				if strings.Contains(rest, html.end) {
					html = element{}
				}
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
			if l.kind == inProse && html.end == "" {
				html = opened(rest)
				l.kind = html.kind
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

// element is a part of a text that is open at the end of a line; the zero element is none.
type element struct {
	begin, end string
	kind       lineKind
}

// opened returns the element that a line opens and does not close.
func opened(line string) element {
	if strings.Contains(line, "<") {
		for _, e := range []element{{"<!--", "-->", inComment}, {"<pre>", "</pre>", inCode}, {"<blockquote>", "</blockquote>", inQuote}} {
			at := strings.LastIndex(line, e.begin)
			if at >= 0 && !strings.Contains(line[at:], e.end) && !within(codeSpans(line), at) {
				return e
			}
		}
	}
	return element{}
}

// within reports whether one of spans contains a position.
func within(spans []span, at int) bool {
	return slices.ContainsFunc(spans, func(s span) bool { return s.start <= at && at < s.end })
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
