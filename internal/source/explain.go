package source

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// explain finds out why the library could not read the text: its errors have no
// column and often the wrong line. Where all that is wrong is a value that should
// have been quoted, the tree is built as if it were.
func (f *file) explain(cause error, problems []Problem) (*Node, []Problem) {
	d := &diagnosis{file: f}
	d.read()
	problems = append(problems, d.problems...)
	if len(d.problems) == 0 {
		return nil, append(problems, f.unexplained(cause))
	}
	if d.broken {
		return nil, problems
	}
	doc, err := decode(f.mask(d.raw))
	if err != nil {
		return nil, append(problems, f.unexplained(err))
	}
	b := builder{file: f, problems: problems, raw: make(map[int]int, len(d.raw))}
	for _, r := range d.raw {
		if !r.blank {
			b.raw[r.start] = r.end
		}
	}
	root := b.document(doc)
	if b.misread != nil {
		return nil, append(b.problems, f.unexplained(b.misread))
	}
	return root, b.problems
}

// reads reports whether the library reads a text, and none of it as something else than was meant.
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

// unexplained is what the library says, at the line that it names, or what comes
// to mind: an error on a line that looks empty.
func (f *file) unexplained(err error) Problem {
	for n := range f.lines {
		first, _ := f.line(n)
		start, end, col := f.content(n)
		if tab := first + col; (start == end || f.text[start] == '#') && tab < end && f.text[tab] == '\t' {
			return f.problem(tab, start, CheckSyntax, "a tab in the indentation, on a line without a value", "remove it")
		}
	}
	message := strings.TrimPrefix(err.Error(), "yaml: ")
	n := 0
	if rest, ok := strings.CutPrefix(message, "line "); ok {
		if number, what, ok := strings.Cut(rest, ": "); ok {
			if k, err := strconv.Atoi(number); err == nil {
				n, message = min(max(k-1, 0), len(f.lines)-1), what
			}
		}
	}
	start, end, _ := f.content(n)
	for n > 0 && start == end {
		n--
		start, end, _ = f.content(n)
	}
	return f.problem(start, end, CheckSyntax, "this is not YAML: "+message,
		"look at this line and those around it; a value with signs of YAML in it must be quoted")
}

// A span is a stretch of the text in bytes.
type span struct {
	start, end int
	blank      bool // nothing is meant by it
}

// mask is the text with other runes in place of the spans, as many, such that
// they are plain values, or nothing, and nothing else moves.
func (f *file) mask(spans []span) string {
	slices.SortFunc(spans, func(a, b span) int { return a.start - b.start })
	var out strings.Builder
	out.Grow(len(f.text))
	at := 0
	for _, s := range spans {
		if s.start < at {
			continue
		}
		out.WriteString(f.text[at:s.start])
		indent := false
		for _, r := range f.text[s.start:s.end] {
			switch {
			case r == '\n' || r == '\r':
				indent = true
				out.WriteRune(r)
			case s.blank:
				out.WriteByte(' ')
			case indent && (r == ' ' || r == '\t'):
				out.WriteRune(r)
			default:
				indent = false
				out.WriteByte('x')
			}
		}
		at = s.end
	}
	out.WriteString(f.text[at:])
	return out.String()
}

// unfold is the value of a plain scalar with this text: a line end is a space, an
// empty line is a line feed.
func unfold(text string) string {
	if !strings.Contains(text, "\n") {
		return strings.TrimRight(text, " \t")
	}
	var out strings.Builder
	feeds := 0
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimFunc(line, func(r rune) bool { return r < unicode.MaxASCII && isSpace(byte(r)) })
		if i > 0 {
			feeds++
		}
		if line == "" {
			continue
		}
		switch {
		case feeds == 1:
			out.WriteByte(' ')
		case feeds > 1:
			out.WriteString(strings.Repeat("\n", feeds-1))
		}
		feeds = 0
		out.WriteString(line)
	}
	return out.String()
}
