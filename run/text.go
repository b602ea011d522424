package run

import "strings"

// maxShort bounds how much of a string short reads.
const maxShort = 4 << 10

// short returns the beginning of s on one line.
func short(s string) string {
	const most = 200
	s = strings.TrimSpace(s)
	s = s[:min(len(s), maxShort)]
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
