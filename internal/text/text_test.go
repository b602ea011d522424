package text_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/text"
)

func TestClean(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{ // an empty want: as it is
		{"plain", "plain äöü 日本 ✓\n\ttabs", ""},
		{"line ends of Windows", "a\r\nb", "a\nb"},
		{"a title", "a\x1b]0;title\a", `a\x1b]0;title\a`},
		{"what hides a line", "shown\rhidden\b\v\f\x00\x7f", `shown\rhidden\b\v\f\x00\x7f`},
		{"the second set of controls", "\u0085\u009b31m", `\u0085\u009b31m`},
		{"the same as bytes", "\x9b31m", "\ufffd31m"},
		{"a changed direction", "user\u202e\u2066 // admin\u200f", `user\u202e\u2066 // admin\u200f`},
		{"zero width", "pass\u200bword\ufeff\u2060\u00ad\u3164", `pass\u200bword\ufeff\u2060\u00ad\u3164`},
		{"another line end", "a\u2028b", `a\u2028b`},
		{"hidden words", "a\U000E0073\U000E0061y", `a\U000e0073\U000e0061y`},
		{"hidden bytes", "a\ufe00b\U000E0101 ☺\ufe0f\ufe0f", `a\ufe00b\U000e0101 ☺` + "\ufe0f" + `\ufe0f`},
		{"a joiner between letters", "a\u200db\u200cc", `a\u200db\u200cc`},
		{"joiners without an end", "👩\u200d\u200d\u200d", "👩\u200d\u200d" + `\u200d`},

		{"emoji", "👩\u200d💻 👩🏽\u200d🚀 ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 1\ufe0f\u20e3 ©\ufe0f ℹ\ufe0f ‼\ufe0f ↔\ufe0f", ""},
		{"a flag", "🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", ""},
		{"Persian", "می\u200cخواهم", ""},
		{"Hindi", "क्\u200dष क्\u200cष", ""},
		{"a variant of Han", "葛\U000E0100", ""},
		{"signs of Arabic", "\u0600١٢", ""},
		{"accents", "e\u0301 ก\u0e33 ∑\u0338", ""},
	} {
		if c.want == "" {
			c.want = c.text
		}
		if got := text.Clean(c.text); got != c.want {
			t.Errorf("%s: got %+q, want %+q", c.name, got, c.want)
		}
	}
	if got, want := text.Line("a\r\nb\tc 👩\u200d💻"), `a\nb\tc `+"👩\u200d💻"; got != want {
		t.Errorf("on one line: got %+q, want %+q", got, want)
	}
}

// Whatever the text, nothing invisible stays but what belongs to the visible character before it, and a clean text stays as it is.
func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "a\x1b[0m\r\n", "\u202e", "👩\u200d💻", "क्\u200dष", "\xff\u009b", "\U000E0073", "🏴\U000E0067\u200d\ufe0f", "1\ufe0f\u20e3\u200d"} {
		f.Add(s)
	}
	invisible := []*unicode.RangeTable{unicode.Cf, unicode.Variation_Selector}
	f.Fuzz(func(t *testing.T, s string) {
		clean, line := text.Clean(s), text.Line(s)
		if !utf8.ValidString(clean) || strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("clean is %+q, on one line %+q", clean, line)
		}
		run := 8 // invisible characters one after the other; a text may begin with none
		for _, r := range clean {
			switch {
			case unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp) || unicode.IsControl(r) && r != '\n' && r != '\t':
				t.Errorf("%+q has %+q", clean, r)
			case r == '\n' || r == '\t':
				run = 8
			case !unicode.In(r, invisible...) || unicode.Is(unicode.Prepended_Concatenation_Mark, r):
				run = 0
			case unicode.In(r, unicode.Egyptian_Hieroglyphs): // they are signs
			default:
				run++
			}
			if run > 8 {
				t.Errorf("%+q hides something", clean)
			}
		}
		if text.Clean(clean) != clean || text.Line(line) != line {
			t.Errorf("cleaned twice: %+q, %+q", clean, line)
		}
	})
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		text      string
		n         int
		cut, tail string
	}{
		{"größe", 3, "grö…", "…öße"},
		{"größe", 5, "größe", "größe"},
		{"größe", math.MaxInt, "größe", "größe"},
		{"größe", 0, "…", "…"},
		{"größe", -1, "…", "…"},
		{"", 0, "", ""},
		{"a\xffb", 2, "a\xff…", "…\xffb"},
	} {
		if cut, tail := text.Cut(c.text, c.n), text.Tail(c.text, c.n); cut != c.cut || tail != c.tail {
			t.Errorf("%q, %d: got %q and %q, want %q and %q", c.text, c.n, cut, tail, c.cut, c.tail)
		}
	}
}

func TestNearest(t *testing.T) {
	long := strings.Repeat("a", 64)
	names := []string{"phase", "taskIndex", "totalTasks", "n", "on", "größe", "tool", "took", long, "k", "l", "p", "q", "--yes"}
	for name, want := range map[string]string{
		"phaze": "phase", "pahse": "phase", "Phase": "phase", "taskindex": "taskIndex", "taskIdx": "taskIndex", "total_tasks": "totalTasks",
		"--yse": "--yes", "--set": "", "m": "", "onn": "on", "something": "", "": "", "grösse": "größe",
		"toom": "tool", "too": "tool", // the first of two
		"otol":         "tool", // two letters that change places are one typo
		long[1:] + "b": long,
		long + "a":     "", // too long for a typo
	} {
		if want != "" {
			want = fmt.Sprintf("did you mean %q?", want)
		}
		if got := text.Nearest(name, names); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func ExampleNearest() {
	known := []string{"continue", "stop", "done"}
	fmt.Println(text.Nearest("contine", known))
	fmt.Println(text.Nearest("halt", known))
	// Output:
	// did you mean "continue"?
	// there is continue, stop, done
}
