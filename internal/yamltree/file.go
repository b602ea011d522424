package yamltree

import (
	"bytes"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

const bom = "\xef\xbb\xbf"

// A file is the text of one document with its line table.
type file struct {
	text  string  // without byte order mark
	lines []int32 // byte offset at which each line starts
	ascii bool    // columns are bytes
	runes []int32 // how many are before each block of the text; nil unless a line is long
}

// newFile checks that editors and the YAML parser see the same text. It returns nil otherwise.
func newFile(src []byte) (*file, []Problem) {
	if len(src) > MaxSize {
		return nil, []Problem{{
			Start: Pos{1, 1}, End: Pos{1, 1}, Check: CheckSize,
			Message: fmt.Sprintf("the file is too large: %d bytes (limit %d)", len(src), MaxSize),
			Help:    "split it and include the parts",
		}}
	}
	if bytes.HasPrefix(src, []byte("\xff\xfe")) || bytes.HasPrefix(src, []byte("\xfe\xff")) {
		return nil, []Problem{{
			Start: Pos{1, 1}, End: Pos{1, 1}, Check: CheckEncoding,
			Message: "the file is UTF-16", Help: "save it as UTF-8",
		}}
	}
	f := &file{text: string(bytes.TrimPrefix(src, []byte(bom))), ascii: true}
	f.lines = make([]int32, 1, 1+strings.Count(f.text, "\n"))
	if problems := f.scan(); problems != nil {
		return nil, problems
	}
	f.measure()
	return f, nil
}

// Columns of a line that is longer than long are counted by blocks, so that many positions in it take no longer than others.
const long, block = 1 << 10, 1 << 8

// measure fills the table of blocks.
func (f *file) measure() {
	for n := range f.lines {
		if start, end := f.line(n); !f.ascii && f.runes == nil && end-start > long {
			count := int32(0)
			for i := range len(f.text) + 1 {
				if i%block == 0 {
					f.runes = append(f.runes, count)
				}
				if i < len(f.text) && utf8.RuneStart(f.text[i]) {
					count++
				}
			}
		}
	}
}

// before returns how many characters are before an offset.
func (f *file) before(offset int) int {
	count := int(f.runes[offset/block])
	for i := offset / block * block; i < offset; i++ {
		if utf8.RuneStart(f.text[i]) {
			count++
		}
	}
	return count
}

// scan fills the line table and reports invisible characters and those that break lines only for YAML.
func (f *file) scan() (problems []Problem) {
	text := f.text
	for i := 0; i < len(text); {
		for i < len(text) && text[i] >= ' ' && text[i] < 0x7f {
			i++
		}
		if i == len(text) {
			break
		}
		switch c := text[i]; {
		case c == '\n':
			i++
			f.lines = append(f.lines, int32(i))
			continue
		case c == '\t', c == '\r' && i+1 < len(text) && text[i+1] == '\n':
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if message, help := unreadable(r, size); message != "" {
			if len(problems) < maxProblems {
				at := f.pos(i)
				problems = append(problems, Problem{
					Start: at, End: Pos{at.Line, at.Col + 1}, Check: CheckEncoding,
					Message: message, Help: help,
				})
			}
		}
		f.ascii = false
		i += size
	}
	return problems
}

// unreadable describes the problem of a character that is not allowed.
func unreadable(r rune, size int) (message, help string) {
	switch {
	case r == utf8.RuneError && size == 1:
		return "this byte is not UTF-8", "save the file as UTF-8"
	case r == 0:
		return "the file contains a NUL byte", "save it as UTF-8 text"
	case r == '\r':
		return "a carriage return without a line feed", "end lines with a line feed, or with both"
	case r == 0x85, r == 0x2028, r == 0x2029:
		return fmt.Sprintf("U+%04X ends a line for YAML, but not for editors", r),
			fmt.Sprintf("remove it, or write \\u%04x between double quotes", r)
	case r == 0xfeff:
		return "a byte order mark within the text", "remove it; editors do not show it"
	case r < ' ', r >= 0x7f && r < 0xa0, r == 0xfffe, r == 0xffff:
		return fmt.Sprintf("the control character U+%04X", r),
			fmt.Sprintf("remove it, or write \\u%04x between double quotes", r)
	}
	return "", ""
}

// pos returns the position of the byte at offset.
func (f *file) pos(offset int) Pos {
	n := sort.Search(len(f.lines), func(i int) bool { return int(f.lines[i]) > offset })
	start := int(f.lines[n-1])
	if f.ascii {
		return Pos{n, offset - start + 1}
	}
	if f.runes != nil && offset-start > long {
		return Pos{n, f.before(offset) - f.before(start) + 1}
	}
	return Pos{n, utf8.RuneCountInString(f.text[start:offset]) + 1}
}

// line returns the byte range of line n (from 0) without its line end.
func (f *file) line(n int) (start, end int) {
	start, end = int(f.lines[n]), len(f.text)
	if n+1 < len(f.lines) {
		end = min(end, int(f.lines[n+1])-1)
	}
	start = min(start, end)
	if end > start && f.text[end-1] == '\r' && end < len(f.text) {
		end--
	}
	return start, end
}

// lineAt returns the number (from 0) of the line with the byte at offset.
func (f *file) lineAt(offset int) int {
	return sort.Search(len(f.lines), func(i int) bool { return int(f.lines[i]) > offset }) - 1
}

// lineEnd returns the end of the line with the byte at offset.
func (f *file) lineEnd(offset int) int {
	_, end := f.line(f.lineAt(offset))
	return max(offset, end)
}

// marker reports whether the line that begins text is the document marker m.
func marker(text, m string) bool {
	if !strings.HasPrefix(text, m) {
		return false
	}
	return len(text) == len(m) || strings.IndexByte(" \t\r\n", text[len(m)]) >= 0
}

// Line returns line n (from 1) of src without its line end and, for the first line, without byte order mark, for a
// snippet; "" if there is no such line. Invalid UTF-8 stays unchanged.
func Line(src []byte, n int) string {
	if n < 1 {
		return ""
	}
	rest := bytes.TrimPrefix(src, []byte(bom))
	for range n - 1 {
		_, rest, _ = bytes.Cut(rest, []byte("\n"))
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return string(bytes.TrimSuffix(line, []byte("\r")))
}
