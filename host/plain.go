package host

import (
	"slices"
	"strings"
)

func plainLine(line []byte) string {
	s := strings.TrimSuffix(string(line), "\r")
	return strings.ToValidUTF8(strings.TrimPrefix(s, "\ufeff"), "\ufffd")
}

func joinBackwards(lines []string) string {
	slices.Reverse(lines)
	return strings.Join(lines, "\n")
}
