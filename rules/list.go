package rules

import (
	"slices"
	"strings"
)

// list joins names for a message: sorted, quoted, and not too many.
func list(names []string) string { return most(16, names) }

// few joins names for a message that a help completes: what a word means is named there.
func few(names []string) string { return most(5, names) }

// most joins so many names for a message.
func most(n int, names []string) string {
	names = slices.Sorted(slices.Values(names))
	more := ""
	if len(names) > n {
		names, more = names[:n], ", …"
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	return strings.Join(quoted, ", ") + more
}

func quote(s string) string { return `"` + s + `"` }

// theyAre lists names in a sentence that begins with what they are.
func theyAre(what string, names []string) string {
	if len(names) == 0 {
		return "there are none"
	}
	return what + " are " + list(names)
}
