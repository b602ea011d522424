package source

import "strings"

// walk goes through an expression, without its quotes, up to the index at which stop holds; depth is that of the brackets
// around it. It returns where it ended, and the outermost bracket or the quote that is open there, or 0. An apostrophe
// within or behind a word is no quote.
func walk(text string, stop func(i, depth int) bool) (at int, open byte) {
	var stack []byte
	quote := byte(0)
	for ; at < len(text); at++ {
		c := text[at]
		if stop(at, len(stack)) {
			break
		}
		switch c {
		case '(', '[', '{':
			stack = append(stack, c)
		case ')', ']', '}':
			if n := len(stack) - 1; n >= 0 && stack[n] == opener(c) {
				stack = stack[:n]
			}
		case '"', '\'', '`':
			if c == '\'' && at > 0 && isWord(text[at-1]) {
				continue
			}
			if n := closing(text[at+1:], c); n >= 0 {
				at += n + 1
			} else if quote == 0 {
				quote = c
			}
		}
	}
	if quote == 0 && len(stack) > 0 {
		quote = stack[0]
	}
	return at, quote
}

// open is the quote that text leaves open, or the outermost bracket, or 0.
func open(text string) byte {
	_, c := walk(text, func(int, int) bool { return false })
	return c
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

// closing is the index of the quote that ends a text of an expression, or -1.
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

// quotedEnd is the offset behind the quoted scalar that text begins with, or -1 if it is not closed.
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
