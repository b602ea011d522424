package schema

// nearest returns the candidate that word was probably meant to be: at most a third of its letters differ, and not all. Of equally
// near candidates the first counts; "" if none is near. Words of more than 64 bytes are nobody's typo.
func nearest(word string, candidates []string) string {
	if len(word) > 64 {
		return ""
	}
	best, limit := "", min(max(len(word)/3, 1)+1, len(word))
	for _, c := range candidates {
		if c == word {
			continue // whoever asks has a reason not to take it
		}
		if d := distance(word, c, limit); d < limit {
			best, limit = c, d
		}
	}
	return best
}

// distance is the number of letters to insert, drop, replace or swap with their neighbour to turn a into b; limit or more
// if it is not less than limit.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
