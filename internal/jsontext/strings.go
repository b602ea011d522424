package jsontext

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Replace returns a document with other strings. replace gets the bytes between the quotes of each string, with their
// escapes, and out, which is the result before it, and returns what replaces them.
func Replace(doc []byte, replace func(out, text []byte) []byte) []byte {
	out := make([]byte, 0, len(doc))
	for {
		start := bytes.IndexByte(doc, '"') + 1
		end := start + stringEnd(doc[start:])
		if start == 0 || end < start {
			return append(out, doc...)
		}
		out = append(out, doc[:start]...)
		out = append(append(out, replace(out, doc[start:end])...), '"')
		doc = doc[end+1:]
	}
}

// stringEnd returns where a string ends, without its quote; -1 if it does not.
func stringEnd(doc []byte) int {
	for i := 0; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			return i
		case '\\':
			i++
		}
	}
	return -1
}

// Clip returns a document in which strings of more than most bytes are cut and end with an ellipsis.
func Clip(doc []byte, most int) []byte {
	return Replace(doc, func(_, text []byte) []byte {
		if len(text) <= most {
			return text
		}
		size, end := 0, 0 // of what is decoded, and where to cut
		for i := 0; i < len(text); {
			n, decoded := character(text[i:])
			if size+decoded <= most-len("…") {
				end = i + n
			}
			i, size = i+n, size+decoded
			if size > most {
				return append(bytes.Clone(text[:end]), "…"...)
			}
		}
		return text
	})
}

// character returns how many bytes the first character of a string has, with its escape, and how many when decoded.
func character(text []byte) (n, decoded int) {
	switch {
	case text[0] != '\\':
		_, n = utf8.DecodeRune(text)
		return n, n
	case len(text) < 6 || text[1] != 'u':
		return min(2, len(text)), 1
	}
	unit := func(at int) rune {
		if len(text) < at+6 || text[at] != '\\' {
			return 0
		}
		u, _ := strconv.ParseUint(string(text[at+2:at+6]), 16, 16)
		return rune(u)
	}
	if r := utf16.DecodeRune(unit(0), unit(6)); r != utf8.RuneError {
		return 12, utf8.RuneLen(r)
	}
	return 6, max(1, utf8.RuneLen(unit(0)))
}
