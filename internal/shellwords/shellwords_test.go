package shellwords

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSplitCommands(t *testing.T) {
	for line, want := range map[string]string{
		`a "b c" 'd'"e"\ f`:            `a|b c|de f`,
		`cd x && y=1 go 2>&1 &>out;z&`: `cd|x|(&&)|y=1|go|2>&1|&>out|(;)|z|(&)`,
		"a\nb | c |& d || e":           "a|(\n)|b|(|)|c|(|&)|d|(||)|e",
		`C:\ralph\x "not closed; `:     `C:\ralph\x|not closed; `,
		`''`:                           ``,
	} {
		var got []string
		for _, w := range SplitCommands(line) {
			if w.Operator {
				w.Text = "(" + w.Text + ")"
			}
			got = append(got, w.Text)
		}
		if diff := cmp.Diff(want, strings.Join(got, "|")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", line, diff)
		}
	}
}

// The words are all of the line but blanks, in order, and a line with one command has the same words in both functions.
func FuzzSplit(f *testing.F) {
	for _, line := range []string{`a "b c" 'd' \ `, "a&&b || c;\n2>&1", `"`, `a\`, `'' x`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		for _, words := range [][]Word{Split(line), SplitCommands(line)} {
			rest := line
			for _, w := range words {
				before, after, ok := strings.Cut(rest, w.Raw)
				if !ok || w.Raw == "" || strings.Trim(before, " \t") != "" {
					t.Fatalf("%q: %q does not follow in %q", line, w.Raw, rest)
				}
				rest = after
			}
			if strings.Trim(rest, " \t") != "" {
				t.Fatalf("%q: %q is no word", line, rest)
			}
		}
	})
}
