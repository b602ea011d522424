package rules

import (
	"slices"
	"strings"
)

// list returns names joined for a message: sorted, quoted, and shortened.
func list(names []string) string { return most(16, names) }

// few returns names joined for a message whose help names the right one.
func few(names []string) string { return most(5, names) }

// most returns at most n names joined for a message.
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

// theyAre returns names in a sentence that begins with what they are.
func theyAre(what string, names []string) string {
	if len(names) == 0 {
		return "there are none"
	}
	return what + " are " + list(names)
}
