package text

import "unicode/utf8"

// Cut returns the first n characters of a text, and … if there were more. It reads no more of the text than that.
func Cut(s string, n int) string {
	count := 0
	for i := range s {
		if count >= n {
			return s[:i] + "…"
		}
		count++
	}
	return s
}

// Tail returns the last n characters of a text, after … if there were more.
func Tail(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	if at > 0 {
		return "…" + s[at:]
	}
	return s
}
