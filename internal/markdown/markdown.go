// Package markdown takes lines of Markdown apart: their ends, indentation, list signs and fences.
package markdown

import (
	"strings"
	"unicode"
)

// LineAt is the end of the line that begins at start, and the beginning of the next.
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

// Indentation counts the columns of white space before a line, with tab stops every four columns, and returns what
// follows them, without white space at its end.
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

// CutMark splits the sign of a list item (-, *, + or a number) from the rest. The sign is "" if there is none.
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

// NumberSize is the length of a number with its point or bracket, 0 if there is none. A list has few digits' worth of
// items, so this stays cheap on a line of digits.
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

// OpensFence returns the characters with which a line opens a block of code, "" if it opens none.
func OpensFence(rest string) string {
	for _, sign := range []string{"`", "~"} {
		n := len(rest) - len(strings.TrimLeft(rest, sign))
		if n >= 3 && (sign == "~" || !strings.Contains(rest[n:], "`")) {
			return rest[:n]
		}
	}
	return ""
}

// ClosesFence reports whether a line ends the block of code that fence opened.
func ClosesFence(rest, fence string) bool {
	return len(rest) >= len(fence) && strings.Trim(rest, fence[:1]) == ""
}
