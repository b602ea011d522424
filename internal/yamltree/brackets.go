package yamltree

import "strings"

// walk scans an expression, skipping quotes, until stop reports true; depth is the number of open brackets. It returns
// where it ended, and the offset of the quote that is open there, otherwise of the last open bracket, or -1. An
// apostrophe within or after a word is not a quote.
func walk(text string, stop func(i, depth int) bool) (at, unclosed int) {
	var brackets []int
	quote := -1
	for ; at < len(text) && !stop(at, len(brackets)); at++ {
		switch c := text[at]; c {
		case '(', '[', '{':
			brackets = append(brackets, at)
		case ')', ']', '}':
			if n := len(brackets) - 1; n >= 0 && text[brackets[n]] == opener(c) {
				brackets = brackets[:n]
			}
		case '"', '\'', '`':
			if c == '\'' && at > 0 && isWord(text[at-1]) {
				continue
			}
			if n := closing(text[at+1:], c); n >= 0 {
				at += n + 1
			} else if quote < 0 {
				quote = at
			}
		}
	}
	if n := len(brackets) - 1; quote < 0 && n >= 0 {
		return at, brackets[n]
	}
	return at, quote
}

// Unclosed returns the offset of the quote that an expression leaves open, otherwise of the last open bracket, or -1.
func Unclosed(text string) int {
	_, at := walk(text, func(int, int) bool { return false })
	return at
}

// open returns the quote or bracket that text leaves open, or 0.
func open(text string) byte {
	if at := Unclosed(text); at >= 0 {
		return text[at]
	}
	return 0
}

// torn reports whether a ` #` between text and comment is within an expression: a bracket is open before it, or a quote
// that is closed after it.
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

// closing returns the index of the quote that ends a string literal, or -1.
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

// quotedEnd returns the offset after the quoted scalar at the beginning of text, or -1 if it is not closed.
func quotedEnd(text string) int {
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && text[0] == '"':
			i++
		case c == text[0] && c == '\'' && i+1 < len(text) && text[i+1] == c:
			i++
		case c == text[0]:
			return i + 1
		}
	}
	return -1
}
