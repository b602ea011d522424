package transcript

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// passageKind is what a passage of a text is to a promise.
type passageKind uint8

const (
	prose passageKind = iota // a paragraph, an item of a list, a heading
	code                     // a fenced or an indented block
	quote                    // a line that begins with >
)

// passage is a part of a text, without its last line end.
type passage struct {
	kind       passageKind
	start, end int
}

// passages lists the passages of a text, in order. It reads as much of Markdown as agents write:
//
//   - A fence is three or more ` or ~, behind any indentation and list signs. It ends with such a line of at least as
//     many, or with the text.
//   - A line that is indented by four columns or more is code behind a blank line and behind code. In a list, the text
//     of the item begins the count.
//   - A line that begins with > is a quote, behind list signs too. Unlike in Markdown, the next line is none.
func passages(text string) iter.Seq[passage] {
	return func(yield func(passage) bool) {
		open := passage{start: -1} // the one that goes on; start is -1 if there is none
		flush := func() bool {
			b := open
			open = passage{start: -1}
			return b.start < 0 || yield(b)
		}
		// put adds a line to the passage that goes on if that is of its kind, and begins one otherwise.
		put := func(kind passageKind, start, end int, begins bool) bool {
			if open.start >= 0 && (begins || open.kind != kind) && !flush() {
				return false
			}
			if open.start < 0 {
				open = passage{kind: kind, start: start}
			}
			open.end = end
			return true
		}
		fence := ""   // that opened the block, "" outside of one
		blank := true // the line before was blank
		list := 0     // the column at which the text of the item begins that goes on, 0 outside of a list
		for start := 0; start < len(text); {
			end, next := lineAt(text, start)
			line := text[start:end]
			indent, rest := indentation(line)
			inner := pastListSigns(rest)
			item := len(inner) < len(rest)
			column := indent + len(rest) - len(inner) // at which the text of the line begins
			ok := true
			switch {
			case fence != "":
				ok = put(code, start, end, false)
				if closes(rest, fence) {
					fence = ""
					ok = ok && flush()
				}
			case rest == "":
				ok = open.kind == code || flush() // code goes on behind a blank line
			case opens(inner) != "":
				fence = opens(inner)
				ok = put(code, start, end, true)
				if item {
					list = column
				}
			case strings.HasPrefix(inner, ">"):
				ok = put(quote, start, end, true)
			case indent >= list+4 && (blank || open.start >= 0 && open.kind == code):
				ok = put(code, start, end, false)
			default:
				if item {
					list = column
				} else if blank {
					list = min(list, indent)
				}
				if heading := strings.HasPrefix(rest, "#") || strings.HasPrefix(rest, "|") || isRule(rest); heading || item {
					ok = put(prose, start, end, true)
					if ok && heading {
						ok = flush()
					}
				} else {
					ok = put(prose, start, end, false)
				}
			}
			if !ok {
				return
			}
			blank, start = rest == "", next
		}
		flush()
	}
}

// lineAt is the end of the line that begins at start, and the beginning of the next.
func lineAt(text string, start int) (end, next int) {
	n := strings.IndexAny(text[start:], "\r\n")
	if n < 0 {
		return len(text), len(text)
	}
	end = start + n
	if strings.HasPrefix(text[end:], "\r\n") {
		return end, end + 2
	}
	return end, end + 1
}

// indentation counts the columns of white space before a line, and gives what follows them, without white space at its
// end.
func indentation(line string) (columns int, rest string) {
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
	return columns, ""
}

// pastListSigns gives what stands behind the signs of an item, which may be the item of an item. Without such signs that
// is all of it.
func pastListSigns(rest string) string {
	for {
		n := 0
		switch {
		case strings.HasPrefix(rest, "-"), strings.HasPrefix(rest, "*"), strings.HasPrefix(rest, "+"):
			n = 1
		default:
			n = listNumber(rest)
		}
		if n == 0 || n == len(rest) || rest[n] != ' ' && rest[n] != '\t' {
			return rest
		}
		rest = strings.TrimLeft(rest[n:], " \t")
	}
}

// opens gives the fence with which a line opens a block of code, "" if it opens none.
func opens(rest string) string {
	for _, sign := range []string{"`", "~"} {
		n := len(rest) - len(strings.TrimLeft(rest, sign))
		if n >= 3 && (sign == "~" || !strings.Contains(rest[n:], "`")) {
			return rest[:n]
		}
	}
	return ""
}

// closes reports whether a line ends the block of code that fence opened.
func closes(rest, fence string) bool {
	return len(rest) >= len(fence) && strings.Trim(rest, fence[:1]) == ""
}

// isRule reports whether a line only separates what is above it from what is below.
func isRule(rest string) bool {
	return len(rest) >= 3 && slices.ContainsFunc([]string{"- ", "* ", "_ ", "="}, func(signs string) bool {
		return strings.Trim(rest, signs) == ""
	})
}

// span is a part of a text.
type span struct{ start, end int }

// codeSpans lists what stands between runs of equally many backticks, without them. A backslash takes the first
// backtick of a run away from it, outside of code.
func codeSpans(text string) []span {
	var runs []span
	for i := 0; i < len(text); {
		n := strings.IndexByte(text[i:], '`')
		if n < 0 {
			break
		}
		start := i + n
		for i = start; i < len(text) && text[i] == '`'; i++ {
		}
		runs = append(runs, span{start, i})
	}
	// The next run of the same length, looked up from the end so that this takes one pass.
	next, seen := make([]int, len(runs)), map[int]int{}
	for k := len(runs) - 1; k >= 0; k-- {
		size := runs[k].end - runs[k].start
		next[k] = -1
		if escaped(text, runs[k].start) {
			if at, ok := seen[size-1]; ok {
				next[k] = at
			}
		} else if at, ok := seen[size]; ok {
			next[k] = at
		}
		seen[size] = k
	}
	var spans []span
	for k := 0; k < len(runs); k++ {
		if to := next[k]; to >= 0 {
			spans = append(spans, span{runs[k].end, runs[to].start})
			k = to
		}
	}
	return spans
}

// escaped reports whether an odd number of backslashes stands before i.
func escaped(text string, i int) bool {
	n := 0
	for n < i && text[i-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// quotations lists what stands between quotation marks and between the promise's tags, without them. Spans of one kind
// of marks do not overlap, and those of different kinds may. An apostrophe is no mark.
func quotations(text string) [][]span {
	kinds := []struct {
		open, close rune
		flanked     bool // the marks look alike, or turn round in other languages: only their neighbours show which
	}{
		{'"', '"', true}, {'\'', '\'', true}, {'‘', '’', true}, {'“', '”', false}, {'”', '”', true}, {'„', '“', false}, {'„', '”', false}, {'‚', '‘', true},
		{'«', '»', false}, {'»', '«', true}, {'‹', '›', false}, {'「', '」', false}, {'『', '』', false},
	}
	spans, starts := make([][]span, len(kinds)+1), make([]int, len(kinds))
	before := ' '
	for i, r := range text {
		if strings.ContainsRune("\"'‘’“”„‚«»‹›「」『』", r) {
			size := utf8.RuneLen(r)
			after, _ := utf8.DecodeRuneInString(text[i+size:])
			if i+size == len(text) {
				after = ' '
			}
			opens, closes := !isWord(before) && !unicode.IsSpace(after), !unicode.IsSpace(before) && !isWord(after)
			for k, kind := range kinds {
				switch {
				case r == kind.close && starts[k] > 0 && (closes || !kind.flanked):
					spans[k] = append(spans[k], span{starts[k], i})
					starts[k] = 0
				case r == kind.open && starts[k] == 0 && (opens || !kind.flanked):
					starts[k] = i + size
				}
			}
		}
		before = r
	}
	spans[len(kinds)] = tags(text)
	return spans
}

// tags lists what stands between the promise's tags, in whatever letter case. Of several that open before the first
// that closes, the last is the one that is closed.
func tags(text string) []span {
	var spans []span
	for i, start := 0, -1; i < len(text); {
		n := strings.IndexByte(text[i:], '<')
		if n < 0 {
			break
		}
		i += n
		switch {
		case hasTag(text[i:], openTag):
			i += len(openTag)
			start = i
		case hasTag(text[i:], closeTag):
			if start >= 0 {
				spans = append(spans, span{start, i})
			}
			i, start = i+len(closeTag), -1
		default:
			i++
		}
	}
	return spans
}

const (
	openTag  = "<promise>"
	closeTag = "</promise>"
)

func hasTag(s, tag string) bool { return len(s) >= len(tag) && strings.EqualFold(s[:len(tag)], tag) }

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// sentences lists where the sentences of a paragraph end. A full stop within a quotation ends none, nor does one
// behind a single letter, as in e.g.; and a line that begins with a capital letter or an emoji begins a sentence.
func sentences(text string, quoted [][]span) []int {
	var ends []int
	inside := func(i int) bool {
		for _, spans := range quoted {
			if _, in := find(spans, i); in {
				return true
			}
		}
		return false
	}
	letters := 0 // that stand before i without a break
	for i, r := range text {
		switch next := i + utf8.RuneLen(r); r {
		case '。', '！', '？':
			if !inside(i) {
				ends = append(ends, next)
			}
		case '.', '!', '?', '…':
			if !(r == '.' && letters == 1) && breaks(text[next:]) && !inside(i) {
				ends = append(ends, next)
			}
		case '\n', '\r':
			first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text[next:], unicode.IsSpace))
			if (unicode.IsUpper(first) || unicode.Is(unicode.So, first)) && !inside(i) {
				ends = append(ends, next)
			}
		}
		if letters++; !unicode.IsLetter(r) {
			letters = 0
		}
	}
	return append(ends, len(text))
}

// breaks reports whether what follows a full stop shows that a sentence ends there: a space, a tag, the end, behind
// closing marks.
func breaks(rest string) bool {
	marks := 0
	for _, r := range rest {
		switch {
		case unicode.IsSpace(r), r == '<':
			return true
		case r == '.', !unicode.IsPunct(r) && r != '`', marks == 8:
			return false
		}
		marks++
	}
	return true
}

// find gives the span that holds i, if there is one, of spans in order that do not overlap.
func find(spans []span, i int) (span, bool) {
	lo, hi := 0, len(spans)
	for lo < hi {
		mid := (lo + hi) / 2
		if spans[mid].end <= i {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(spans) && spans[lo].start <= i {
		return spans[lo], true
	}
	return span{}, false
}
