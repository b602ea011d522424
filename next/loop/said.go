package loop

import (
	"strings"
)

// maxBroken is how many bytes of a marker may stand on its first line if it is broken over lines.
const maxBroken = 500

// index finds markers in texts, each of which it reads once, whatever number of rules ask.
type index struct {
	lines  []string         // of all texts, without decoration; "" between texts
	at     map[string][]int // where a line is
	folded string           // the last text
}

func newIndex(texts []string) *index {
	i := &index{at: map[string][]int{}}
	for n, t := range texts {
		if n == 0 {
			i.folded = fold(t)
		}
		for line := range strings.Lines(t) {
			line = bare(line)
			i.at[line] = append(i.at[line], len(i.lines))
			i.lines = append(i.lines, line)
		}
		i.lines = append(i.lines, "")
	}
	return i
}

// tags removes the white space inside of tags, which does not matter.
var tags = strings.NewReplacer("> ", ">", " <", "<")

// bare returns a line without the signs of emphasis, headings and code around it.
func bare(line string) string {
	return tags.Replace(strings.Trim(squeeze(line), "#*_` "))
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), " ") }

func fold(s string) string { return strings.ToLower(squeeze(s)) }

// said reports whether a marker is alone on its line. It may be broken over lines.
func (i *index) said(marker string) bool {
	marker = bare(marker)
	if marker == "" {
		return false
	}
	if len(i.at[marker]) > 0 {
		return true
	}
	for end := range marker[:min(len(marker), maxBroken)] {
		for _, at := range i.at[marker[:end]] {
			if end > 0 && i.joined(at, marker) {
				return true
			}
		}
	}
	return false
}

// joined reports whether a marker begins at a line and ends at another one.
func (i *index) joined(at int, marker string) bool {
	s := i.lines[at]
	for _, next := range i.lines[at+1:] {
		s = tags.Replace(s + " " + next)
		if s == marker {
			return true
		}
		if next == "" || !strings.HasPrefix(marker, s) {
			return false
		}
	}
	return false
}

// mentions reports whether the last text has words, or one of several that | separates, in any case.
func (i *index) mentions(words string) bool {
	for _, w := range append(strings.Split(words, "|"), words) {
		if w = fold(w); w != "" && strings.Contains(i.folded, w) {
			return true
		}
	}
	return false
}
