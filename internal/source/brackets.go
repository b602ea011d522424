package source

import "strings"

// open is the bracket or quote that text leaves open, the outermost, or 0. An
// apostrophe within or behind a word is no quote.
func open(text string) byte {
	var stack []byte
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '(', '[', '{':
			stack = append(stack, c)
		case ')', ']', '}':
			if n := len(stack) - 1; n >= 0 && stack[n] == opener(c) {
				stack = stack[:n]
			}
		case '"', '\'', '`':
			if c == '\'' && i > 0 && isWord(text[i-1]) {
				continue
			}
			n := closing(text[i+1:], c)
			if n < 0 {
				return c
			}
			i += n + 1
		}
	}
	if len(stack) > 0 {
		return stack[0]
	}
	return 0
}

// torn reports whether a ` #` between text and comment was within an expression:
// a bracket is open before it, or a quote that is closed behind it.
func torn(text, comment string) bool {
	switch c := open(text); c {
	case 0:
		return false
	case '(', '[', '{':
		return true
	default:
		return strings.IndexByte(comment, c) >= 0
	}
}

// closing is the index of the quote that ends the text, or -1.
func closing(text string, quote byte) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			if quote != '`' {
				i++
			}
		case quote:
			return i
		}
	}
	return -1
}

func opener(c byte) byte {
	switch c {
	case ')':
		return '('
	case ']':
		return '['
	}
	return '{'
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// closedOnLine reports whether the quoted scalar that text begins with is closed
// before its first line ends.
func closedOnLine(text string) bool {
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n':
			return false
		case c == '\\' && text[0] == '"':
			if i++; i < len(text) && (text[i] == '\n' || text[i] == '\r') {
				return false
			}
		case c == text[0] && c == '\'' && i+1 < len(text) && text[i+1] == c:
			i++
		case c == text[0]:
			return true
		}
	}
	return false
}
