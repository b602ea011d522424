// Package nearest guesses which name a user meant. Start with [DidYouMean].
package nearest

import (
	"slices"
	"strconv"
	"strings"
)

// maxWord bounds a word that may be a typo, in bytes.
const maxWord = 64

// maxCandidates bounds the names to compare, since each takes time.
const maxCandidates = 1000

// DidYouMean returns a question for the candidate nearest to word, as in `did you mean "phase"?`, or "" if none is
// near: a wrong guess is worse than none. Of equally near candidates the first counts; word itself does not.
func DidYouMean(word string, candidates []string) string {
	if len(word) > maxWord || len(candidates) > maxCandidates {
		return ""
	}
	best, limit := "", maxWord
	w := []rune(strings.ToLower(word))
	for _, c := range candidates {
		if c == word || len(c) > maxWord {
			continue
		}
		r := []rune(strings.ToLower(c))
		longest := max(len(w), len(r))
		atMost := min(max(1, (longest+1)/3), longest-1, limit-1)
		if d := distance(w, r, atMost); d <= atMost {
			best, limit = c, d
		}
	}
	if best == "" {
		return ""
	}
	return "did you mean " + strconv.Quote(best) + "?"
}

// OrBeginning is like DidYouMean for names with long and short forms: if none is near, it suggests a candidate that
// begins with word, with which word begins, or whose part before the hyphen is near.
func OrBeginning(word string, candidates []string) string {
	meant := DidYouMean(word, candidates)
	for _, c := range candidates {
		short, _, isLong := strings.Cut(c, "-")
		if meant == "" && word != "" && c != "" && (strings.HasPrefix(c, word) || strings.HasPrefix(word, c) || isLong && DidYouMean(word, []string{short}) != "") {
			meant = "did you mean " + strconv.Quote(c) + "?"
		}
	}
	return meant
}

// Slip returns the candidate that word is with one slip: in other letter case, with other signs between its words, or
// with one letter that is wrong, missing, too much or swapped with the next. It returns "" if there is none. A short word
// has no slip in a letter, because others are near it by chance.
func Slip(word string, candidates []string) string {
	fold := func(s string) string { return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s)) }
	near := ""
	if len(word) > maxWord {
		return ""
	}
	for _, c := range candidates {
		a, b := []rune(fold(word)), []rune(fold(c))
		switch {
		case slices.Equal(a, b):
			return c
		case near == "" && min(len(a), len(b)) >= minSlip && len(c) <= maxWord && distance(a, b, 1) <= 1:
			near = c
		}
	}
	return near
}

// minSlip is the shortest word, in letters, in which one may be wrong.
const minSlip = 4

// distance returns the number of letters to insert, delete, replace or swap to turn a into b, or more than atMost.
func distance(a, b []rune, atMost int) int {
	if max(len(a)-len(b), len(b)-len(a)) > atMost {
		return atMost + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		if min(slices.Min(row), slices.Min(last)) > atMost {
			return atMost + 1
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
