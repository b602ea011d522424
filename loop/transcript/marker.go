package transcript

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Said reports whether one of the texts has the marker alone on a line. Around it may stand what users put around a
// word to make it stand out: white space, bold and italic signs, heading, list, quote and table signs, quotation marks,
// brackets, a list number, a ticked box, an emoji, and punctuation; but no letter or digit, no question mark, no empty
// box, no cross, and nothing that strikes it out. Letters count as they are. A blank marker, and one of several lines, is never said.
func Said(texts []string, marker string) bool {
	marker = strings.TrimSpace(marker)
	if marker == "" || strings.ContainsAny(marker, "\r\n") {
		return false
	}
	for _, text := range texts {
		for {
			i := strings.Index(text, marker)
			if i < 0 {
				break
			}
			begin := strings.LastIndexAny(text[:i], "\r\n") + 1
			end := len(text)
			if n := strings.IndexAny(text[i:], "\r\n"); n >= 0 {
				end = i + n
			}
			if aloneOn(text[begin:end], marker) {
				return true
			}
			text = text[end:]
		}
	}
	return false
}

// aloneOn reports whether the marker stands somewhere on the line with nothing but ornament on both sides. Both
// ornaments are measured once, so the time is linear however often the marker occurs.
func aloneOn(line, marker string) bool {
	before, after := ornamentBefore(line), ornamentAfter(line)
	for from := 0; ; {
		i := strings.Index(line[from:], marker)
		if i < 0 {
			return false
		}
		i += from
		if i > before {
			return false
		}
		if i+len(marker) >= after {
			return true
		}
		_, size := utf8.DecodeRuneInString(line[i:])
		from = i + size
	}
}

// ornamentBefore is the length of the ornament at the beginning of a line.
func ornamentBefore(line string) int {
	i := 0
	for i < len(line) {
		if n := listNumber(line[i:]); n > 0 {
			i += n
			continue
		}
		if hasAnyPrefix(line[i:], "[x]", "[X]") {
			i += 3
			continue
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		if !ornament(r) || strings.HasPrefix(line[i:], "[ ]") {
			break
		}
		i += size
	}
	return i
}

// ornamentAfter is the index from which on a line is ornament.
func ornamentAfter(line string) int {
	i := len(line)
	for i > 0 {
		r, size := utf8.DecodeLastRuneInString(line[:i])
		if !ornament(r) {
			break
		}
		i -= size
	}
	return i
}

// listNumber is the length of a number with its point or bracket, 0 if there is none. A list has few digits' worth of
// items, so this stays cheap on a line of digits.
func listNumber(s string) int {
	i := 0
	for i < len(s) && i < 9 && '0' <= s[i] && s[i] <= '9' {
		i++
	}
	if i > 0 && i < len(s) && (s[i] == '.' || s[i] == ')') {
		return i + 1
	}
	return 0
}

func ornament(r rune) bool {
	switch r {
	case '?', '¿', '？', '/', '\\', '@', '%', '&':
		return false // a question, a path, a variable
	case '❌', '✖', '✗', '✘', '❎', '🚫', '⛔':
		return false // the opposite
	case '`', '>', '|', '+', '\ufe0f', '\u200d', '\ufeff':
		return true
	case utf8.RuneError:
		return false
	}
	return unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.Is(unicode.So, r)
}

func collapse(s string) string { return strings.Join(strings.Fields(s), " ") }

// fold maps every letter to the first of those that differ from it in case only.
func fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z':
			return r - 'a' + 'A'
		case r < utf8.RuneSelf:
			return r
		}
		first := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			first = min(first, next)
		}
		return first
	}, s)
}
