package yamltree

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// The columns of a long line are those of a short one.
func TestLongLine(t *testing.T) {
	text := "ä: 1\nb: " + strings.Repeat("é𝒳x", 2000) + "\nc: é\n"
	f, problems := newFile([]byte(text))
	if f == nil || f.runes == nil {
		t.Fatal(problems)
	}
	for at := range len(text) {
		line := strings.LastIndexByte(text[:at], '\n') + 1
		want := Pos{strings.Count(text[:at], "\n") + 1, utf8.RuneCountInString(text[line:at]) + 1}
		if got := f.pos(at); utf8.RuneStart(text[at]) && got != want {
			t.Fatalf("byte %d is at %s, want %s", at, got, want)
		}
	}
}
