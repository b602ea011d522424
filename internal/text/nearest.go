package text

import (
	"strconv"
	"strings"
)

// Limits of a guess, since comparing takes time.
const (
	maxWord  = 64   // bytes of a word that may be a typo
	maxNames = 1000 // that are compared
	fewNames = 12   // that are listed if none is near
	minStart = 3    // letters that are enough for a word that another one begins with
)

// Nearest returns help for a name that is not known: a question such as `did you mean "phase"?` if a known name is near, else the list
// of the known names if they are few, else "". Of names that are equally near the first counts.
func Nearest(name string, known []string) string {
	if best := nearest(name, known); best != "" {
		return "did you mean " + strconv.Quote(best) + "?"
	}
	if len(known) == 0 || len(known) > fewNames {
		return ""
	}
	return "there is " + strings.Join(known, ", ")
}

func nearest(name string, known []string) (best string) {
	if len(name) > maxWord || len(known) > maxNames {
		return ""
	}
	letters := func(s string) []rune { return []rune(strings.ToLower(strings.TrimLeft(s, "-"))) } // the dashes of a flag are none
	a, limit := letters(name), maxWord
	for _, k := range known {
		if k == name || len(k) > maxWord {
			continue
		}
		b := letters(k)
		longest := max(len(a), len(b))
		atMost, d := min(max(1, (longest+1)/3), longest-1, limit-1), distance(a, b)
		if short := min(len(a), len(b)); short >= minStart && string(a[:short]) == string(b[:short]) {
			atMost = limit - 1 // lenght begins as len does, claude as claude-code
		}
		if d <= atMost {
			best, limit = k, d
		}
	}
	return best
}

// distance returns the number of letters to insert, delete, replace or swap with the next to turn a into b.
func distance(a, b []rune) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			case i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1]:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1], rows[i-2][j-2])
			default:
				rows[i][j] = 1 + min(rows[i-1][j-1], rows[i-1][j], rows[i][j-1])
			}
		}
	}
	return rows[len(a)][len(b)]
}
