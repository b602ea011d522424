package escape

import "strings"

// Brief returns the beginning of s on one line, at most 200 bytes and "…".
func Brief(s string) string {
	const most, read = 200, 4 << 10
	s = strings.TrimSpace(s)
	s = s[:min(len(s), read)]
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
