package rules

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// splitTemplate finds the placeholders of a template. Offsets count runes.
func TestSplitTemplate(t *testing.T) {
	end := func(literal string) placeholder { return placeholder{literal: literal, last: true} }
	tests := []struct {
		text string
		want []placeholder
	}{
		{"", []placeholder{end("")}},
		{"plain", []placeholder{end("plain")}},
		{"${a}", []placeholder{{src: "a", offset: 2}, end("")}},
		{"é ${a} b ${ c }", []placeholder{{literal: "é ", src: "a", offset: 4}, {literal: " b ", src: " c ", offset: 11}, end("")}},
		{"$${a} $$${b}", []placeholder{end("${a} $${b}")}},
		{"$ {a} $", []placeholder{end("$ {a} $")}},
		{"${ {a: {b: 1}}.a }!", []placeholder{{src: " {a: {b: 1}}.a ", offset: 2}, end("!")}},
		{`${"}" + '{' + ` + "`}`" + `}`, []placeholder{{src: `"}" + '{' + ` + "`}`", offset: 2}, end("")}},
		{`${"\"}"}`, []placeholder{{src: `"\"}"`, offset: 2}, end("")}},
		{"a ${b", []placeholder{{literal: "a ", src: "b", offset: 4, unclosed: true}}},
		{`a ${"b}`, []placeholder{{literal: "a ", src: `"b}`, offset: 4, unclosed: true}}},
		{"${}", []placeholder{{offset: 2}, end("")}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, splitTemplate(tt.text), cmp.AllowUnexported(placeholder{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.text, diff)
		}
	}
}

// FuzzTemplate splits any text. The parts, written again, are the text; every placeholder
// begins at its offset; and a text without placeholders renders to itself, except for
// white space at its end.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"", "a ${b} c", "$${a}", "${ {a: '}'} }", "é${é}", "${", "$$${a}", "a\n${b}\n", "\xff${\xff}", "${\"\\\"}\"}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var again strings.Builder
		runes := []rune(text)
		for _, h := range splitTemplate(text) {
			again.WriteString(strings.ReplaceAll(h.literal, "${", "$${"))
			if h.last {
				continue
			}
			again.WriteString("${" + h.src)
			if !h.unclosed {
				again.WriteString("}")
			}
			if at := string(runes[h.offset:]); !strings.HasPrefix(at, string([]rune(h.src))) {
				t.Errorf("%q: the placeholder %q does not stand at %d", text, h.src, h.offset)
			}
		}
		if again.String() != text && utf8.ValidString(text) {
			t.Errorf("%q is split into %q", text, again.String())
		}
		if text != "" && !strings.Contains(text, "${") {
			ev := &evaluation{meter: meter{ctx: t.Context(), limit: defaultSteps}}
			if got, _ := ev.passage(nil, lines([]segment{{literal: text}})); string(got) != text {
				t.Errorf("%q renders to %q", text, got)
			}
		}
	})
}

// FuzzSplitAssignment splits any text. Where there is an assignment, both sides and
// the sign make up the text, the left side is not empty and holds no comparison.
func FuzzSplitAssignment(f *testing.F) {
	for _, seed := range []string{"a = b", "a == b", `a["="] = 1`, "a[b = c] = 1", "a <= b", "= 1", `'a' = "b=c"`, "a != b = c", "a = b == c", "a=", "((=", "))=1"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		at, ok := splitAssignment(s)
		if !ok {
			return
		}
		if s[at] != '=' || strings.TrimSpace(s[:at]) == "" {
			t.Fatalf("%q is split at %d", s, at)
		}
		if at+1 < len(s) && s[at+1] == '=' || strings.ContainsRune("=!<>", rune(s[at-1])) {
			t.Errorf("%q is split within a comparison, at %d", s, at)
		}
	})
}

func TestSplitAssignment(t *testing.T) {
	for s, want := range map[string]string{
		"a = b": "a |b", "a=b==c": "a|b==c", `a["x=y"] = 1`: `a["x=y"] |1`, "a[b == c] = 1": "a[b == c] |1", "a.b[0] = {'x': 1}": "a.b[0] |{'x': 1}",
		"a == b": "", "a <= b": "", "a != b": "", "a": "", "= b": "", "": "", `"a = b"`: "", "a >= b = c": "",
	} {
		got := ""
		if at, ok := splitAssignment(s); ok {
			got = s[:at] + "|" + strings.TrimSpace(s[at+1:])
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", s, got, want)
		}
	}
}
