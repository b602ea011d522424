package escape_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/escape"
)

func TestEscape(t *testing.T) {
	for _, c := range []struct{ name, text, person, agent string }{
		{"plain", "plain äöü 日本 ✓\n\ttabs", "", ""},
		{"line ends of Windows", "a\r\nb", "a\nb", "a\nb"},
		{"a title", "a\x1b]0;title\a", `a\x1b]0;title\a`, `a\x1b]0;title\a`},
		{"what hides a line", "shown\rhidden\b\v\f\x00\x7f", `shown\rhidden\b\v\f\x00\u007f`, `shown\rhidden\b\v\f\x00\u007f`},
		{"the second set of controls", "\u0085\u009b31m", `\u0085\u009b31m`, `\u0085\u009b31m`},
		{"the same as bytes", "\x9b31m", "\ufffd31m", "\ufffd31m"},
		{"a changed direction", "user\u202e\u2066 // admin\u200f", `user\u202e\u2066 // admin\u200f`, "same"},
		{"zero width", "pass\u200bword\ufeff\u2060\u00ad\u3164", `pass\u200bword\ufeff\u2060\u00ad\u3164`, "same"},
		{"another line end", "a\u2028b", `a\u2028b`, "same"},
		{"hidden words", "a\U000E0073\U000E0061y", `a\udb40\udc73\udb40\udc61y`, "same"},
		{"hidden bytes", "a\ufe00b\U000E0101 ☺\ufe0f\ufe0f", `a\ufe00b\udb40\udd01 ☺` + "\ufe0f" + `\ufe0f`, "same"},
		{"a joiner between letters", "a\u200db\u200cc", `a\u200db\u200cc`, "same"},
		{"joiners without an end", "👩\u200d\u200d\u200d", "👩\u200d\u200d" + `\u200d`, "same"},

		{"emoji", "👩\u200d💻 👩🏽\u200d🚀 ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 1\ufe0f\u20e3 ©\ufe0f ℹ\ufe0f ‼\ufe0f ↔\ufe0f", "", ""},
		{"a flag", "🏴\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F", "", ""},
		{"Persian", "می\u200cخواهم", "", ""},
		{"Hindi", "क्\u200dष क्\u200cष", "", ""},
		{"Sinhala", "ක්\u200dෂ", "", ""},
		{"a variant of Han", "葛\U000E0100", "", ""},
		{"signs of Arabic", "\u0600١٢", "", ""},
		{"accents", "e\u0301 ก\u0e33 ∑\u0338", "", ""},
	} {
		for _, as := range []struct {
			reader, want string
			escape       func(string) string
		}{{"a person", c.person, escape.Person}, {"an agent", c.agent, escape.Agent}} {
			if as.want == "" || as.want == "same" {
				as.want = c.text
			}
			if got := as.escape(c.text); got != as.want {
				t.Errorf("%s: %s reads %+q, want %+q", c.name, as.reader, got, as.want)
			}
		}
	}
	if got, want := escape.Line("a\r\nb\tc 👩\u200d💻"), `a\r\nb\tc `+"👩\u200d💻"; got != want {
		t.Errorf("on one line: %+q, want %+q", got, want)
	}
}

// Whatever the text, nothing invisible stays but what belongs to the visible character before it, an escaped text has
// nothing more to escape, a text without such characters is unchanged, and JSON means the same.
func FuzzEscape(f *testing.F) {
	for _, s := range []string{"", "a\x1b[0m\r\n", "\u202e", "👩\u200d💻", "क्\u200dष", "\xff\u009b", "\U000E0073", "🏴\U000E0067\u200d\ufe0f", "1\ufe0f\u20e3\u200d"} {
		f.Add(s)
	}
	invisible := []*unicode.RangeTable{unicode.Cc, unicode.Bidi_Control, unicode.Zl, unicode.Zp}
	width := func(r rune) bool {
		return r == '\u200b' || r == '\u200c' || r == '\u200d' || r == '\u2060' || r == '\ufeff' || r == '\u00ad' || 0xe0000 <= r && r <= 0xe0fff
	}
	f.Fuzz(func(t *testing.T, s string) {
		person, agent, line := escape.Person(s), escape.Agent(s), escape.Line(s)
		for _, text := range []string{person, agent, line} {
			if !utf8.ValidString(text) {
				t.Fatalf("%+q is not UTF-8", text)
			}
		}
		if strings.ContainsFunc(agent, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) }) {
			t.Errorf("an agent reads %+q", agent)
		}
		run := 8 // of invisible characters; a text may begin with none
		for _, r := range person {
			if r == '\n' || r == '\t' {
				run = 8
				continue
			}
			if unicode.In(r, invisible...) {
				t.Errorf("a person reads %+q", person)
			}
			if run++; !width(r) {
				run = 0
			}
			if run > 8 {
				t.Errorf("%+q hides something", person)
			}
		}
		if strings.ContainsAny(line, "\n\t") || escape.Line(line) != line || escape.Person(person) != person || escape.Agent(agent) != agent {
			t.Errorf("escaped twice: %+q, %+q, %+q", person, agent, line)
		}
		if ascii := strings.Map(func(r rune) rune { return max(' ', r%0x7f) }, s); escape.Person(ascii) != ascii || escape.Agent(ascii) != ascii || escape.Line(ascii) != ascii {
			t.Errorf("%q is changed", ascii)
		}
		b, _ := json.Marshal(s)
		var got, want string
		if err := json.Unmarshal([]byte(escape.Person(string(b))), &got); err != nil {
			t.Fatal(err)
		}
		if _ = json.Unmarshal(b, &want); got != want {
			t.Errorf("the JSON of %+q means %+q", want, got)
		}
	})
}
