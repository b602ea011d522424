package state

import (
	"errors"
	"io/fs"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFrontMatter(t *testing.T) {
	object := func(pairs ...any) map[string]any {
		m := map[string]any{"body": ""}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	const notClosed = "has front matter that is not closed within 64 KiB: write a line of --- below its last field"
	for _, test := range []struct {
		name, src string
		want      map[string]any
		err       string
	}{
		{"YAML", "---\nenabled: false # off\nn: 3\nlist:\n  - a\n  - {b: 1.5}\ntext: |\n  x\n---\nbody\n", object("enabled", false, "n", 3, "list", []any{"a", map[string]any{"b": 1.5}}, "text", "x\n", "body", "body\n"), ""},
		{"scalars", "---\na: ~\nb:\nc: yes\nd: 2026-01-01\ne: \"1\"\nf: '2'\ng: 1e3\nh: -0.5\ni: 0x1f\nj: .inf\nk: 1_000\nl: +7\nm: 99999999999999999999\nn: 1e999\no: True\n---",
			object("a", nil, "b", nil, "c", "yes", "d", "2026-01-01", "e", "1", "f", "2", "g", 1000, "h", -0.5, "i", "0x1f", "j", ".inf", "k", "1_000", "l", 7, "m", 1e20, "n", "1e999", "o", true), ""},
		{"BOM, CRLF, blanks before and behind", "\ufeff\r\n \r\n--- \r\nn: 3\r\n---\t\r\n\r\nbody", object("n", 3, "body", "\r\nbody"), ""},
		{"a large body", "---\na: 1\n---\n" + strings.Repeat("---x\n", maxMatter), object("a", 1, "body", strings.Repeat("---x\n", maxMatter)), ""},
		{"rulers in the body", "---\na: 1\n---\nx\n---\na: 2\n---\n", object("a", 1, "body", "x\n---\na: 2\n---\n"), ""},
		{"of equal keys the last counts", "---\na: 1\na: 2\n---", object("a", 2), ""},
		{"no fields", "---\n# none\n---\n", object(), ""},
		{"keys", "---\n1: a\ntrue: b\n\"c d\": e\n<<: f\n---", object("1", "a", "true", "b", "c d", "e", "<<", "f"), ""},

		{"several colons", "---\ntitle: a: b: c # d\nn: 3\n---", object("title", "a: b: c", "n", 3), ""},
		{"signs of YAML", "---\na: *.md\nb: !done\nc: &x y\nd: @e\nf: %g\nh: - i\nn: 3\n---", object("a", "*.md", "b", "!done", "c", "&x y", "d", "@e", "f", "%g", "h", "- i", "n", 3), ""},
		{"quotes in quotes", "---\na: \"say \"hi\"\" # so\nb: 'it's'\nc: \"C:\\done\"\nd: \"x\" y\n---", object("a", `say "hi"`, "b", "it's", "c", `C:\done`, "d", `"x" y`), ""},
		{"brackets in a text", "---\na: [WIP] b\nc: {d} e\n---", object("a", "[WIP] b", "c", "{d} e"), ""},
		{"no blank behind the colon", "---\na:1\nb: x: y\nhttp://c\n---", object("a", 1, "b", "x: y", "http", "//c"), ""},
		{"fields of several lines", "---\nx: *\nlist:\n- 1\n- 2\nmore: |\n  a\n\n  b: c\n# note\nn : 4\n---\n", object("x", "*", "list", []any{1, 2}, "more", "a\n\nb: c\n", "n", 4), ""},
		{"indented", "---\n  x: *\n  list:\n    - 1\n  n: 3\n---\n", object("x", "*", "list", []any{1}, "n", 3), ""},
		{"tabs, bytes", "---\na:\t1\nb\t: 2\nc: caf\xe9\x00\n---\n", object("a", 1, "b", 2, "c", "caf\ufffd\x00"), ""},
		{"aliases are texts", "---\na: &x [*x, *x]\nb: *x\n---", object("a", "&x [*x, *x]", "b", "*x"), ""},
		{"deep", "---\na: " + strings.Repeat("[", 300) + strings.Repeat("]", 300) + "\n---", object("a", strings.Repeat("[", 300)+strings.Repeat("]", 300)), ""},

		{"open bracket", "---\nn: 1\nmax: [10\n---", nil, "line 3: max has a [ that is not closed"},
		{"open quote", "\n---\np: \"X\nn: 1\n---", nil, "line 3: p has a \" that is not closed"},
		{"not closed", "---\nn: 1\n", nil, notClosed},
		{"a text", "---\nhello\n---\n", nil, "has front matter that is no list of fields: write key: value"},
		{"a list", "---\n- a: b\n---\n", nil, "has front matter that is no list of fields: write key: value"},
		{"too large", "---\na: " + strings.Repeat("x", maxMatter) + "\n---\n", nil, notClosed},
		{"too many fields", "---\nx: *\n" + strings.Repeat("a: b\n", maxFields) + "---\n", nil, "has front matter that is not YAML, of more than 1000 fields"},
		{"UTF-16", "\xfe\xff\x00-\x00-\x00-", nil, "is UTF-16: save it as UTF-8"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ParseFrontMatter([]byte(test.src))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("error %v, -want +got:\n%s", err, diff)
			}
			if (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("error %v, want %q", err, test.err)
			}
		})
	}
	for _, src := range []string{"", "# Title\n---\na: 1\n---\n", "--- x\na: 1\n---", "----\n"} {
		if _, err := ParseFrontMatter([]byte(src)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: error %v, want one that is fs.ErrNotExist", src, err)
		}
	}
}

func TestSetFrontMatter(t *testing.T) {
	for _, test := range []struct {
		name, block string
		key         string
		value       any
		want, err   string
	}{
		{"only the value", "a:   1   # note\n\n# c\nb: x\n", "a", 2, "a:   2   # note\n\n# c\nb: x\n", ""},
		{"CRLF", "a: 1\r\nb: 'x'\r\n", "b", "y", "a: 1\r\nb: 'y'\r\n", ""},
		{"in single quotes", "a: 'x'\n", "a", "it's", "a: 'it''s'\n", ""},
		{"in double quotes", "a: \"x # y\" # z\n", "a", "it's \"so\"", "a: \"it's \\\"so\\\"\" # z\n", ""},
		{"without quotes", "a: x\n", "a", "y (z) 1.0", "a: y (z) 1.0\n", ""},
		{"a number for a text", "a: \"1\"\n", "a", 2, "a: 2\n", ""},
		{"quotes where YAML needs them", "a: 1\n", "a", "no", "a: \"no\"\n", ""},
		{"a line end in single quotes", "a: 'x'\n", "a", "x\ny", "a: \"x\\ny\"\n", ""},
		{"what YAML takes for line ends", "a: 1\n", "a", "x\t\u0085\u2028\ufeff\x7f😀", "a: \"x\\t\\u0085\\u2028\\ufeff\\x7f😀\"\n", ""},
		{"a list", "a: [1, \"]\"] # note\n", "a", []any{"x", nil}, "a: [\"x\",null] # note\n", ""},
		{"an empty value", "a:\n", "a", 1, "a: 1\n", ""},
		{"an empty value with a comment", "a: # note\n", "a", "x", "a: x # note\n", ""},
		{"a key in quotes", "\"c d\" : 2\n", "c d", 3, "\"c d\" : 3\n", ""},
		{"beside what is not YAML", "p: Done: x\nn: 1   # rounds\nglob: *.md\n", "n", 2, "p: Done: x\nn: 2   # rounds\nglob: *.md\n", ""},
		{"no blank behind the colon", "n:1\nx: *\n", "n", 2, "n: 2\nx: *\n", ""},
		{"what is not YAML itself", "x: a: b # c\ny: *\n", "x", "d", "x: d # c\ny: *\n", ""},
		{"beside a block", "a: |\n  b: 1\nb: 2\n", "b", 3, "a: |\n  b: 1\nb: 3\n", ""},

		{"a new field", "a: 1\n# end\n", "b", "x: y", "a: 1\n# end\nb: \"x: y\"\n", ""},
		{"a new field, CRLF", "a: 1\r\n", "b", 2, "a: 1\r\nb: 2\r\n", ""},
		{"a new field, indented", "  a: 1\n", "b", 2, "  a: 1\n  b: 2\n", ""},
		{"a new field that needs quotes", "", "7", 2, "\"7\": 2\n", ""},
		{"below an open list", "a:\n", "b", 2, "a:\nb: 2\n", ""},

		{"duplicate key", "a: 1\nb: 2\na: 3\n", "a", 9, "", "cannot set a: the key appears twice: remove one of them"},
		{"a block", "a: |\n  x\n", "a", 1, "", "cannot set a: its value fills several lines: edit it by hand"},
		{"a list on lines", "a:\n- x\n", "a", 1, "", "fills several lines"},
		{"a line of another value", "a: \"x\nb: 1\"\n", "b", 3, "", "edit it by hand"},
		{"fields in braces", "{a: 1}\n", "b", 2, "", "edit it by hand"},
		{"a line end that only YAML knows", "a: x\u2028b: y\n", "b", 2, "", "edit it by hand"},
		{"broken", "a: [\n", "b", 2, "", "a has a [ that is not closed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dashes := "---\n"
			if strings.Contains(test.block, "\r\n") {
				dashes = "---\r\n"
			}
			const body = "\r\n# Title\n---\na: 1\n\xff\x00"
			got, err := SetFrontMatter([]byte("\ufeff"+dashes+test.block+dashes+body), at(test.key), test.value)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %q, error %v, want %q", got, err, test.err)
				}
				return
			}
			if diff := cmp.Diff("\ufeff"+dashes+test.want+dashes+body, string(got)); err != nil || diff != "" {
				t.Errorf("error %v, -want +got:\n%s", err, diff)
			}
		})
	}
}

func TestSetFrontMatterWhole(t *testing.T) {
	for _, test := range []struct {
		src       string
		path      []any
		value     any
		want, err string
	}{
		{"", at(), map[string]any{"num": 1, "body": "\nDo it\n", "a": "b c"}, "---\na: b c\nnum: 1\n---\n\nDo it\n", ""},
		{"old", at(), map[string]any{}, "---\n---\n", ""},
		{"---\na: 1\n---", at("body"), "x", "---\na: 1\n---\nx", ""},
		{"---\na: 1\n---\nold", at("body"), "", "---\na: 1\n---\n", ""},
		{"\ufeff# Title\r\n", at("a"), 1, "\ufeff---\r\na: 1\r\n---\r\n# Title\r\n", ""},
		{"", at(), 1, "", "front matter is an object"},
		{"", at("body"), 1, "", "the body is a text"},
		{"", at("a", "b"), 1, "", "cannot set a.b: front matter has fields, and nothing within them can be set"},
		{"", at(0), 1, "", "cannot set [0]"},
		{"---\na: 1\n", at("a"), 1, "", "is not closed"},
	} {
		got, err := SetFrontMatter([]byte(test.src), test.path, test.value)
		if string(got) != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("SetFrontMatter(%q, %v, %v) = %q, %v; want %q, %q", test.src, test.path, test.value, got, err, test.want, test.err)
		}
	}
}

// An edit changes one line or adds one; all other fields and the body stay.
func FuzzSetFrontMatter(f *testing.F) {
	for _, seed := range []struct{ src, key, value string }{
		{"---\na: 1 # c\nb: 'x'\n---\nbody", "a", `"y"`},
		{"\ufeff---\r\na:\r\nb: [x, y]\r\n---\r\n\xff", "b", `"no: # x"`},
		{"---\na: &x {k: v}\nb: *x\n<<: *x\n---\n", "k", `"\n"`},
		{"---\n? a\n: b\n\"a\": \"\\x41\"\n---", "a", `"'"`},
		{"---\n{a: {b: c}, d: }\n---", "d", `"\u2028,"`},
		{"---\na: x\u0085b: y\rc: z\n---\n", "b", `-1`},
		{"\n---\na: !t x\nb: |\n ---\n  x\n---\n", "c", `{"a":[null,1e300]}`},
		{"---\nx: \"a \"b\"\"\nn:1\n---\n", "n", `true`},
	} {
		f.Add([]byte(seed.src), seed.key, []byte(seed.value))
	}
	f.Fuzz(func(t *testing.T, src []byte, key string, valueText []byte) {
		before, err := ParseFrontMatter(src)
		value, err2 := ParseJSON(valueText)
		if err != nil || err2 != nil || key == "body" {
			return
		}
		got, err := SetFrontMatter(src, at(key), value)
		if err != nil {
			return
		}
		after, err := ParseFrontMatter(got)
		if err != nil {
			t.Fatalf("%q became %q: %v", src, got, err)
		}
		_, known := before[key]
		want := maps.Clone(before)
		want[key] = value
		if diff := cmp.Diff(want, after); diff != "" {
			t.Errorf("%q became %q, -want +got:\n%s", src, got, diff)
		}
		was, is := strings.SplitAfter(string(src), "\n"), strings.SplitAfter(string(got), "\n")
		if added := len(is) - len(was); added != 0 && (added != 1 || known) {
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
