// Package markdown parses lines of Markdown: their ends, indentation, list signs and fences. Start with [LineAt].
package markdown

import (
	"strings"
	"unicode"
)

// LineAt returns the end of the line that begins at start, and the beginning of the next.
func LineAt(text string, start int) (end, next int) {
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

// Indentation returns the columns of white space before a line, with tab stops every four columns, and the rest,
// without trailing white space.
func Indentation(line string) (columns int, rest string) {
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

// CutMark splits the sign of a list item (-, *, + or a number) from the rest. The sign may be "".
func CutMark(rest string) (mark, text string) {
	n := NumberSize(rest)
	if rest != "" && strings.IndexByte("-*+", rest[0]) >= 0 {
		n = 1
	}
	if n == 0 || n < len(rest) && rest[n] != ' ' && rest[n] != '\t' {
		return "", rest
	}
	return rest[:n], strings.TrimLeft(rest[n:], " \t")
}

// NumberSize returns the length of a number with its point or bracket, or 0. It accepts only few digits, so it is fast
// on a line of digits.
func NumberSize(s string) int {
	i := 0
	for i < len(s) && i < 9 && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	if i > 0 && i < len(s) && (s[i] == '.' || s[i] == ')') {
		return i + 1
	}
	return 0
}

// OpensFence returns the characters with which a line opens a code block, or "".
func OpensFence(rest string) string {
	for _, sign := range []string{"`", "~"} {
		n := len(rest) - len(strings.TrimLeft(rest, sign))
		if n >= 3 && (sign == "~" || !strings.Contains(rest[n:], "`")) {
			return rest[:n]
		}
	}
	return ""
}

// ClosesFence reports whether a line ends the code block that fence opened.
func ClosesFence(rest, fence string) bool {
	return len(rest) >= len(fence) && strings.Trim(rest, fence[:1]) == ""
}
