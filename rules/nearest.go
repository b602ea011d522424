package rules

import (
	"slices"
	"strings"
)

// nearest gives the candidate that a person most likely meant by name, or "".
// Candidates further away than a third of their length are not offered: a wrong
// guess costs the reader more than none.
func nearest(name string, candidates []string) string {
	best, bestDistance := "", 1<<30
	for _, c := range candidates {
		d := editDistance(strings.ToLower(name), strings.ToLower(c))
		if longest := max(len(c), len(name)); d < bestDistance && d < longest && d <= max(1, (longest+1)/3) {
			best, bestDistance = c, d
		}
	}
	return best
}

// didYouMean turns nearest into a help sentence, or "".
func didYouMean(name string, candidates []string) string {
	if n := nearest(name, candidates); n != "" && n != name {
		return "did you mean " + quote(n) + "?"
	}
	return ""
}

// editDistance is the optimal string alignment distance: insert, delete, replace
// and swap of neighbours cost one each, since swapped letters are the commonest
// slip of fast fingers.
func editDistance(a, b string) int {
	ar, br := []rune(a), []rune(b)
	before := make([]int, len(br)+1)
	row := make([]int, len(br)+1)
	next := make([]int, len(br)+1)
	for j := range row {
		row[j] = j
	}
	for i, ca := range ar {
		next[0] = i + 1
		for j, cb := range br {
			cost := 1
			if ca == cb {
				cost = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+cost)
			if i > 0 && j > 0 && ca == br[j-1] && ar[i-1] == cb {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(br)]
}

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
