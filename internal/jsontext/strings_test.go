package jsontext

import (
	"encoding/json"
	"strings"
	"testing"
)

// A string is cut between characters, whatever its escapes, and counts as what it decodes to.
func TestClip(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{"short", `{"a":"12345678"}`, `{"a":"12345678"}`},
		{"long", `{"a":"123456789","b":["123456789"],"c":9}`, `{"a":"12345…","b":["12345…"],"c":9}`},
		{"escapes", `"1234\n\n\n\n\n"`, `"1234\n…"`},
		{"escapes that fit", `"\n\n\n\n\n\n\n\n"`, `"\n\n\n\n\n\n\n\n"`},
		{"quotes", `["\"\"\"\"\"\"\"\"\"","\\"]`, `["\"\"\"\"\"…","\\"]`},
		{"units", `"\u0041\u0042\u0043\u0044\u0045\u0046\u0047\u0048\u0049"`, `"\u0041\u0042\u0043\u0044\u0045…"`},
		{"pairs", `"123\udb40\udc73\udb40\udc61y"`, `"123…"`},
		{"characters", `"äöüäöü"`, `"äö…"`},
		{"torn", `{"a":"123456789`, `{"a":"123456789`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := string(Clip([]byte(c.doc), 8)); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func FuzzClip(f *testing.F) {
	for _, text := range []string{"", strings.Repeat("a\n\"\\", 9), "\u202e\U000E0073ä\x00<"} {
		f.Add(text, 8)
	}
	f.Fuzz(func(t *testing.T, text string, most int) {
		if most < len("…") {
			return
		}
		doc, err := json.Marshal([]string{text})
		if err != nil {
			return
		}
		var got []string
		if err := json.Unmarshal(Clip(doc, most), &got); err != nil || len(got) != 1 || len(got[0]) > max(most, len(strings.ToValidUTF8(text, "\ufffd"))) {
			t.Fatalf("%q: %v", got, err)
		}
		if valid := strings.ToValidUTF8(text, "\ufffd"); !strings.HasPrefix(valid, strings.TrimSuffix(got[0], "…")) && text == valid {
			t.Errorf("%q is no beginning of %q", got[0], text)
		}
	})
}
