package graph

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"

	"github.com/ralph-sdk/ralph/internal/escape"
)

// mostText bounds a text in a graph, in characters.
const mostText = 500

// line returns a text on one line for people, see [escape.Line].
func line(s string) string {
	if len(s) > 64<<10 {
		s = s[:64<<10]
	}
	var b strings.Builder
	marks := 0
	for _, r := range escape.Line(strings.Join(strings.Fields(s), " ")) {
		if marks++; !unicode.IsMark(r) {
			marks = 0
		}
		if marks <= 2 { // stacked accents would overlap other lines
			b.WriteRune(r)
		}
	}
	return cut(b.String(), mostText)
}

// cut shortens a text to n characters.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	if runes := []rune(s); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return s
}

// A font is the font of a label. Its size is in pixels.
type font struct {
	class string
	size  float64
	mono  bool
	bold  bool
}

var (
	titleFont   = font{class: "t", size: 17, bold: true}
	nameFont    = font{class: "n", size: 13, bold: true}
	textFont    = font{class: "p", size: 11.5}
	quietFont   = font{class: "q", size: 11}
	codeFont    = font{class: "c", size: 10.5, mono: true}
	includeFont = font{class: "i", size: 11, bold: true}
	countFont   = font{class: "k", size: 10.5, bold: true}
)

// height returns the height of a line.
func (f font) height() int { return int(f.size*1.3) + 1 }

// width returns the maximum width of a text: that in DejaVu, which is wider than the list's other fonts.
func (f font) width(s string) float64 {
	var em float64
	for _, r := range s {
		em += f.advance(r)
	}
	return em * f.size
}

// letters are the widths of a to z in hundredths of an em.
var letters = [...]int{62, 64, 56, 64, 62, 37, 64, 64, 29, 35, 60, 29, 98, 64, 62, 64, 64, 43, 53, 40, 64, 60, 82, 60, 60, 54}

// advance returns the width of a character in em.
func (f font) advance(r rune) float64 {
	switch {
	case r >= 0x1100 && !known(r):
		return 1
	case f.mono:
		return 0.603
	}
	w := 0.64
	switch {
	case 'a' <= r && r <= 'z':
		w = float64(letters[r-'a']) / 100
	case strings.ContainsRune(" .,:;|'![]()/I-\"", r):
		w = 0.41
	case strings.ContainsRune("MW%@…→", r):
		w = 0.99
	case strings.ContainsRune("<>=+~#", r):
		w = 0.84
	case unicode.IsUpper(r):
		w = 0.78
	}
	if f.bold {
		w *= 1.15
	}
	return w
}

// known reports whether the width of a character is the same in all fonts of the list.
func known(r rune) bool { return r < 0x7f || strings.ContainsRune("…→×–—‘’“”", r) }

// fits returns the width to which a text must be fitted, 0 to leave it.
func (f font) fits(s string) float64 {
	for _, r := range s {
		if !known(r) {
			return f.width(s)
		}
	}
	return 0
}

// wrap breaks a text into at most most lines of a width, and marks omissions.
func (f font) wrap(s string, width float64, most int) []string {
	var lines []string
	rest := []rune(s)
	for len(rest) > 0 {
		if len(lines) == most {
			last := []rune(lines[most-1] + "…")
			for f.width(string(last)) > width && len(last) > 1 {
				last = append(last[:len(last)-2], '…')
			}
			lines[most-1] = string(last)
			return lines
		}
		n, w := 0, 0.0
		for n < len(rest) {
			if w += f.advance(rest[n]); w*f.size > width && n > 0 {
				break
			}
			n++
		}
		if n < len(rest) {
			n = f.breakAt(rest, n)
		}
		lines = append(lines, strings.TrimSpace(string(rest[:n])))
		rest = []rune(strings.TrimLeft(string(rest[n:]), " "))
	}
	return lines
}

// breakAt returns the best end for a line of at most n characters: in code before a connective, otherwise at a blank,
// otherwise after a separator in a path or name. It never leaves a line nearly empty.
func (f font) breakAt(s []rune, n int) int {
	blank, part := 0, 0
	for i := n; i > n/3; i-- {
		switch rest := string(s[i:min(i+5, len(s))]); {
		case s[i] != ' ':
			if part == 0 && strings.ContainsRune("/._-,=(", s[i-1]) {
				part = i
			}
		case f.mono && (strings.HasPrefix(rest, " and ") || strings.HasPrefix(rest, " or ")):
			return i
		default:
			blank = max(blank, i)
		}
	}
	return cmp.Or(blank, part, n)
}

// one returns a text on one line of a width.
func (f font) one(s string, width float64) string { return strings.Join(f.wrap(s, width, 1), "") }

// short returns a count in at most four characters.
func short(n int) string {
	switch {
	case n < 10_000:
		return strconv.Itoa(n)
	case n < 1_000_000:
		return strconv.Itoa(n/1000) + "k"
	}
	return strconv.Itoa(min(n/1_000_000, 999)) + "M"
}
