package state

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEditFrontMatter(t *testing.T) {
	tests := []struct {
		name, yaml string // between the fences
		sets       []Set
		want       string
		err        string
	}{
		{name: "only the scalar", yaml: "a:   1   # note\n\n# c\nb: x\n", sets: []Set{set(2, "a")}, want: "a:   2   # note\n\n# c\nb: x\n"},
		{name: "line ends of Windows", yaml: "a: 1\r\nb: 'x'\r\n", sets: []Set{set(2, "a"), set("y", "b")}, want: "a: 2\r\nb: 'y'\r\n"},
		{name: "characters before it", yaml: "é: [ü, x] # ß\nlist: {ä: 1, b: 2}\n", sets: []Set{set("z", "é"), set(3, "list")}, want: "é: z # ß\nlist: 3\n"},
		{name: "the last duplicate", yaml: "a: 1\nb: 2\na: 3\n", sets: []Set{set(9, "a")}, want: "a: 1\nb: 2\na: 9\n"},
		{name: "quotes in place", yaml: "a: 'x'\nb: \"x\"\nc: x\n", sets: []Set{set("it's", "a"), set("it's \"so\"", "b"), set("y z", "c")}, want: "a: 'it''s'\nb: \"it's \\\"so\\\"\"\nc: y z\n"},
		{name: "quotes go with the text", yaml: "a: \"1\"\nb: 'true'\n", sets: []Set{set(2, "a"), set(false, "b")}, want: "a: 2\nb: false\n"},
		{name: "quotes come with the text", yaml: "a: 1\nb: 1\nc: 1\nd: 1\ne: 1\nf: 1\n", sets: []Set{set("2", "a"), set("no", "b"), set("x: y", "c"), set("x #y", "d"), set("", "e"), set("- x", "f")}, want: "a: \"2\"\nb: \"no\"\nc: \"x: y\"\nd: \"x #y\"\ne: \"\"\nf: \"- x\"\n"},
		{name: "characters that YAML takes for line breaks", yaml: "a: 1\nb: 'x'\nc: x\n", sets: []Set{set("x\ny\t\u0085\u2028\ufeff\x7f", "a"), set("x\ny", "b"), set("😀", "c")}, want: "a: \"x\\ny\\t\\u0085\\u2028\\ufeff\\x7f\"\nb: \"x\\ny\"\nc: \"😀\"\n"},
		{name: "kinds of values", yaml: "a: 1\n", sets: []Set{set(nil, "a"), set(true, "b"), set(2.5, "c"), set(3.0, "d"), set(1e21, "e"), set([]any{1, "x"}, "f"), set(map[string]any{"k": nil}, "g")},
			want: "a: null\nb: true\nc: 2.5\nd: 3\ne: 1e+21\nf: [1,\"x\"]\ng: {\"k\":null}\n"},
		{name: "empty values", yaml: "a:\nb: # note\nc:  \n\"d\" :\nf: ~\n", sets: []Set{set(1, "a"), set("x", "b"), set(2, "c"), set(3, "d"), set(5, "f")}, want: "a: 1\nb: x # note\nc: 2  \n\"d\" : 3\nf: 5\n"},
		{name: "what YAML counts as line breaks", yaml: "# x\u0085a: 1\rb: 2\u2028c: é\u2029 3\nd: 4\n", sets: []Set{set(5, "d"), set(6, "b"), set(7, "a")}, want: "# x\u0085a: 7\rb: 6\u2028c: é\u2029 3\nd: 5\n"},
		{name: "an empty value that is shared", yaml: "a: &x\nb: *x\n", sets: []Set{set(1, "a")}, err: "it is written in a way that cannot be edited without harming the rest; edit it by hand"},
		{name: "an empty value of an odd key", yaml: "? a\n", sets: []Set{set(1, "a")}, err: "edit it by hand"},
		{name: "list in brackets", yaml: "a: [1, \"]\", it's, ']'] # note\n", sets: []Set{set([]any{}, "a")}, want: "a: [] # note\n"},
		{name: "keys that are not text", yaml: "1: a\ntrue: b\n", sets: []Set{set("c", "1"), set("d", "true")}, want: "1: c\ntrue: d\n"},
		{name: "a new field", yaml: "a: 1\n# end\n", sets: []Set{set(2, "b"), set("x: y", "c d"), set(1, "no"), set(1, "7")}, want: "a: 1\n# end\nb: 2\n\"c d\": \"x: y\"\n\"no\": 1\n\"7\": 1\n"},
		{name: "a new field, with line ends of Windows", yaml: "a: 1\r\n", sets: []Set{set(2, "b")}, want: "a: 1\r\nb: 2\r\n"},
		{name: "a new field below indented ones", yaml: "  a: 1\n", sets: []Set{set(2, "b")}, want: "  a: 1\n  b: 2\n"},
		{name: "a new field behind a block", yaml: "a: |+\n  x\n\n", sets: []Set{set(2, "b")}, want: "a: |+\n  x\n\nb: 2\n"},
		{name: "a new field behind an empty value", yaml: "a:\n", sets: []Set{set(2, "b")}, want: "a:\nb: 2\n"},
		{name: "the first field", yaml: "", sets: []Set{set(2, "b")}, want: "b: 2\n"},
		{name: "the first field behind a comment", yaml: "# c\n", sets: []Set{set(2, "b")}, want: "# c\nb: 2\n"},
		{name: "beside a merged field", yaml: "x: &x {a: 1}\n<<: *x\n", sets: []Set{set(2, "a")}, want: "x: &x {a: 1}\n<<: *x\na: 2\n"},
		{name: "beside anchors, blocks and tags", yaml: "x: &x |\n  a: 1\ny: *x\nz: !!str 1\na: 1\n", sets: []Set{set(2, "a")}, want: "x: &x |\n  a: 1\ny: *x\nz: !!str 1\na: 2\n"},

		{name: "a value beside a comment in quotes", yaml: "a: [\"x #y\"]\nb: \"x #y\" # \"z\"\n", sets: []Set{set(1, "a")}, err: "edit it by hand"},
		{name: "a name that needs quotes", yaml: "a: 1\n\"c d\": 2\n", sets: []Set{set(3, "c d")}, want: "a: 1\n\"c d\": 3\n"},
		{name: "a name with a quote in it", yaml: "\"e'\\u00e9\" : 1\n", sets: []Set{set(3, "e'é")}, want: "\"e'\\u00e9\" : 3\n"},
		{name: "a line of another value", yaml: "a: \"x\nb: 1\"\nb: 2 # b\n", sets: []Set{set(3, "b")}, want: "a: \"x\nb: 1\"\nb: 3 # b\n"},
		{name: "only a line of another value", yaml: "a: \"x\nb: 1\"\n", sets: []Set{set(3, "b")}, err: "edit it by hand"},
		{name: "inside a field", yaml: "a: {b: 1}\n", sets: []Set{set(3, "a", "b")}, err: "set cannot change a value inside a field of front matter; keep such state in a JSON file"},
		{name: "an element of the document", yaml: "a: 1\n", sets: []Set{set(3, 0)}, err: "there is no list that could have an element 0, but an object"},
		{name: "a block of text", yaml: "a: |\n  x\n", sets: []Set{set("y", "a")}, err: "its value spans several lines; edit it by hand"},
		{name: "text over lines", yaml: "a: x\n  y\n", sets: []Set{set("y", "a")}, err: "its value spans several lines; edit it by hand"},
		{name: "quoted text over lines", yaml: "a: \"x\n  y\"\n", sets: []Set{set("y", "a")}, err: "its value spans several lines; edit it by hand"},
		{name: "list over lines", yaml: "a: [x,\n  y]\n", sets: []Set{set("y", "a")}, err: "its value spans several lines; edit it by hand"},
		{name: "list of lines", yaml: "a:\n  - x\n", sets: []Set{set("y", "a")}, err: "its value spans several lines; edit it by hand"},
		{name: "anchor", yaml: "a: &x 1\nb: *x\n", sets: []Set{set(2, "a")}, err: "it is written in a way that cannot be edited without harming the rest; edit it by hand"},
		{name: "alias", yaml: "a: &x 1\nb: *x\n", sets: []Set{set(2, "b")}, err: "it is written in a way that cannot be edited without harming the rest; edit it by hand"},
		{name: "tag", yaml: "a: !!str 1\n", sets: []Set{set(2, "a")}, want: "a: 2\n"},
		{name: "fields in braces", yaml: "{a: 1}\n", sets: []Set{set(2, "b")}, err: "it is written in a way that cannot be edited without harming the rest; edit it by hand"},
		{name: "broken", yaml: "a: [\n", sets: []Set{set(2, "a")}, err: "the file has front matter that is not valid YAML"},
		{name: "behind the end of the document", yaml: "a: 1\n...\n", sets: []Set{set(2, "b")}, err: "edit it by hand"},
	}
	const body = "\r\n# Title\n---\na: 1\n\xff\x00"
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			fence := "---\n"
			if strings.Contains(test.yaml, "\r\n") {
				fence = "---\r\n"
			}
			got, err := Edit([]byte("\ufeff"+fence+test.yaml+fence+body), FrontMatter, test.sets)
			if test.err != "" {
				var refused *EditError
				if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %q, error %v; want an EditError with %q", got, err, test.err)
				}
				return
			}
			if diff := cmp.Diff("\ufeff"+fence+test.want+fence+body, string(got)); err != nil || diff != "" {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Much front matter takes a moment to edit, see TestChecklistHuge.
func TestEditFrontMatterHuge(t *testing.T) {
	for _, unit := range []string{"# c\n", "\n", "\r", "# \u0085", "k: v\n", "- x\n"} {
		first := ""
		if unit[0] == '-' {
			first = "list:\n"
		}
		filler := first + strings.Repeat(unit, maxMatterSize/4/len(unit))
		got, err := Edit([]byte("---\n"+filler+"\na: 1\n---\n"), FrontMatter, []Set{set(2, "a"), set(3, "b")})
		if want := "---\n" + filler + "\na: 2\nb: 3\n---\n"; err != nil || string(got) != want {
			t.Errorf("%q: error %v, %d bytes, want %d", unit, err, len(got), len(want))
		}
	}
}

func TestEditWithoutFrontMatter(t *testing.T) {
	for src, want := range map[string]string{
		"# Title\n":     "the file has no front matter: its first line is not ---",
		"---\na: 1\n":   "the file has front matter that line 1 opens and no second --- closes; write a line of --- below its last field",
		"---\n- a\n---": "the file has front matter that is not a list of fields (key: value) but an array",
	} {
		if got, err := Edit([]byte(src), FrontMatter, []Set{set(1, "a")}); err == nil || err.Error() != want {
			t.Errorf("Edit(%q) = %q, %v; want %q", src, got, err, want)
		}
	}
}

// An edit changes one line or adds one; the values of all other fields, their
// comments and the body stay.
func FuzzEditFrontMatter(f *testing.F) {
	for _, seed := range []struct{ src, key, text string }{
		{"---\na: 1 # c\nb: 'x'\n---\nbody", "a", "y"},
		{"\ufeff---\r\na:\r\nb: [x, y]\r\n---\r\n\xff", "b", "no: # x"},
		{"---\na: &x {k: v}\nb: *x\n<<: *x\n---\n", "k", "\n"},
		{"---\n? a\n: b\n\"a\": \"\\x41\"\n---", "a", "'"},
		{"---\n{a: {b: c}, d: }\n---", "d", "\u2028,"},
		{"---\na: x\u0085b: y\n---\n", "b", "-"},
		{"---\na: !t x\nb: |\n ---\n  x\n---\n", "c", "0"},
	} {
		f.Add([]byte(seed.src), seed.key, seed.text, 1, false)
		f.Add([]byte(seed.src), seed.key, seed.text, -1, true)
	}
	f.Fuzz(func(t *testing.T, src []byte, key, text string, number int, useNumber bool) {
		var value any = text
		if useNumber {
			value = number
		}
		got, err := Edit(src, FrontMatter, []Set{{Path: []any{key}, Value: value}})
		if err != nil {
			return
		}
		before, err := decodeFrontMatter(src)
		if err != nil {
			t.Fatalf("%q was edited though it is broken: %v", src, err)
		}
		after, err := decodeFrontMatter(got)
		if err != nil {
			t.Fatalf("%q became %q, which is broken: %v", src, got, err)
		}
		if string(before.body) != string(after.body) {
			t.Errorf("the body %q became %q", before.body, after.body)
		}
		want := map[string]any{}
		for name, v := range before.value {
			want[name] = v
		}
		key = cleanText(key)
		_, known := want[key]
		if want[key] = value; !useNumber {
			want[key] = cleanText(text)
		}
		if diff := cmp.Diff(want, after.value); diff != "" {
			t.Errorf("%q became %q (-want +got):\n%s", src, got, diff)
		}
		was, is := strings.SplitAfter(string(src), "\n"), strings.SplitAfter(string(got), "\n")
		if added := len(is) - len(was); added != 0 && (added != 1 || (known && len(before.fields.Content) > 0)) {
			t.Fatalf("%q became %q, which has %d lines more", src, got, added)
		}
		same := 0
		for same < len(was) && same < len(is) && was[same] == is[same] {
			same++
		}
		rest := was[min(same+1-(len(is)-len(was)), len(was)):]
		if strings.Join(rest, "") != strings.Join(is[min(same+1, len(is)):], "") {
			t.Errorf("%q became %q, which differs in more than a line", src, got)
		}
	})
}
