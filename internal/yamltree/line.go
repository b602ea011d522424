package yamltree

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// key returns the length of the key that begins a line of a block map, and the index of its colon, or -1.
func key(line string) (length, at int) {
	switch line[0] {
	case '"', '\'':
		end := quotedEnd(line)
		if end < 0 {
			return 0, -1
		}
		rest := strings.TrimLeft(line[end:], " \t")
		if rest == "" || rest[0] != ':' || len(rest) > 1 && !isSpace(rest[1]) {
			return 0, -1
		}
		return end, len(line) - len(rest)
	case '[', '{', '|', '>', '@', '`', '%', '*', '&', '!':
		return 0, -1
	}
	stop := len(line)
	if i := comment(line); i >= 0 {
		stop = i
	}
	at = colon(line[:stop])
	if at < 0 {
		return 0, -1
	}
	return len(strings.TrimRight(line[:at], " \t")), at
}

// colon returns the index of the first `:` that ends a key in YAML, or -1.
func colon(text string) int {
	for i := 0; i < len(text); i++ {
		if text[i] == ':' && (i+1 == len(text) || isSpace(text[i+1])) {
			return i
		}
	}
	return -1
}

// comment returns the index of the first `#` that begins a comment, or -1.
func comment(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] == '#' && (text[i-1] == ' ' || text[i-1] == '\t') {
			return i
		}
	}
	return -1
}

// isName reports whether text looks like the key of a policy or schema.
func isName(text string) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; !isWord(c) && c != '-' && c != '$' {
			return false
		}
	}
	return text != ""
}

// clip shortens a text for a message.
func clip(text string) string {
	const most = 32
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}

// quoteByte returns a character in quotes for a message.
func quoteByte(c byte) string {
	if c == '`' {
		return "a backtick"
	}
	return fmt.Sprintf("`%c`", c)
}
