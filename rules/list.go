package rules

import (
	"slices"
	"strings"
)

// list joins names for a message: sorted, quoted, at most so many
// that all keys of a policy are among them.
func list(names []string) string {
	const maxListed = 16
	names = slices.Sorted(slices.Values(names))
	more := ""
	if len(names) > maxListed {
		names, more = names[:maxListed], ", …"
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
