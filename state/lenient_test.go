package state

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/ralph-sdk/ralph/schema"
)

// loopSchema is that of a file which people write by hand.
func loopSchema(t testing.TB) *schema.Schema {
	t.Helper()
	s, err := schema.FromValue("loop", map[string]any{"properties": map[string]any{
		"enabled": map[string]any{"type": "boolean", "default": true},
		"n":       map[string]any{"type": "integer", "default": 7},
		"promise": map[string]any{"type": "string", "default": ""},
		"list":    map[string]any{"type": "array", "items": map[string]any{"type": "integer"}, "default": []any{}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// What is YAML is read as by FrontMatter; what is not is read field by field.
func TestReadLenient(t *testing.T) {
	fields := func(pairs ...any) map[string]any {
		m := map[string]any{"enabled": true, "n": 7, "promise": "", "list": []any{}}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i].(string)] = pairs[i+1]
		}
		return m
	}
	tests := []struct {
		name, content string
		status        Status
		value         map[string]any // by the schema
		body          string
		problem       string // of the document, with its lines
		unusable      string // of its fields, those that the schema refuses among them
	}{
		{name: "YAML", content: "---\nenabled: false # off\nn: 3\nlist: [1]\n---\nbody\n", value: fields("enabled", false, "n", 3, "list", []any{1}), body: "body\n"},
		{name: "of equal keys the last counts, also in what a library takes for YAML", content: "---\nn: 3\nenabled: false\nn: 4\n---\n", value: fields("n", 4, "enabled", false),
			problem: "f.md:2: n is set again below, which counts; this one is ignored"},
		{name: "blank lines before it", content: "\ufeff\n \t\r\n---\nn: 3\n---\nbody", value: fields("n", 3), body: "body"},
		{name: "a pattern", content: "---\nenabled: false\nglob: *.md\n---\n", value: fields("enabled", false, "glob", "*.md"),
			problem: `f.md:3: glob is not valid YAML; it is read as the text "*.md"`},
		{name: "several colons", content: "---\ndescription: a: b: c\nenabled: false\n---\n", value: fields("enabled", false, "description", "a: b: c"),
			problem: `f.md:2: description is not valid YAML; it is read as the text "a: b: c"`},
		{name: "no blank behind the colon", content: "---\nenabled:false\nn:3\n---\n", value: fields("enabled", false, "n", 3),
			problem: "f.md:2: enabled is not valid YAML; it is read anyway\nf.md:3: n is not valid YAML; it is read anyway"},
		{name: "tabs", content: "---\nenabled:\tfalse\n\tn: 3\nn\t: 4\nother: *\n---\n", value: fields("enabled", false, "n", 4, "other", "*"),
			problem: "f.md:2: enabled is not valid YAML; it is read as the text \"false\"\nf.md:5: other is not valid YAML; it is read as the text \"*\""},
		{name: "no second fence", content: "---\nenabled: false\nn: 3\n", status: Invalid, problem: "has front matter that line 1 opens and no second --- closes; write a line of --- below its last field"},
		{name: "no second fence before the text", content: "\n---\nenabled: false\n\nThe goal of it all.\n- one\nMore.\n", status: Invalid,
			problem: "has front matter that line 2 opens and no second --- closes; write a line of --- below its last field"},
		{name: "of equal keys the last counts", content: "---\nenabled: false\nx: *\nenabled: true\n---\n", value: fields("enabled", true, "x", "*"),
			problem: "f.md:2: enabled is set again below, which counts; this one is ignored\nf.md:3: x is not valid YAML; it is read as the text \"*\""},
		{name: "fields over several lines", content: "---\nx: *\nlist:\n- 1\n- 2\nmore: |\n  a\n\n  b: c\n# note\n\"n\" : 4\n---\n", value: fields("x", "*", "list", []any{1, 2}, "more", "a\n\nb: c\n", "n", 4),
			problem: `f.md:2: x is not valid YAML; it is read as the text "*"`},
		{name: "all of it indented", content: "---\n  x: *\n  list:\n    - 1\n  n: 3\n---\n", value: fields("x", "*", "list", []any{1}, "n", 3),
			problem: `f.md:2: x is not valid YAML; it is read as the text "*"`},
		{name: "a number that is none", content: "---\nn: 3: 4\nenabled: false\n---\n", value: without(fields("enabled", false), "n"),
			problem: `f.md:2: n is not valid YAML; it is read as the text "3: 4"`, unusable: `2:4: /n: is "3: 4", expected integer; write a whole number such as 3`},
		{name: "a number in odd quotes", content: "---\nn: \"3\"\"\nx: '4' # note\n---\n", value: without(fields("x", "4"), "n"),
			problem: `f.md:2: n is not valid YAML; it is read as the text "3\""`, unusable: `2:4: /n: is "3\"", expected integer; write a whole number such as 3`},
		{name: "an alias that is defined elsewhere", content: "---\na: &x 1\nb: *x\nc: *\n---\n", value: fields("a", 1, "b", "*x", "c", "*"),
			problem: "f.md:3: b is not valid YAML; it is read as the text \"*x\"\nf.md:4: c is not valid YAML; it is read as the text \"*\""},
		{name: "bytes that are no text", content: "---\nx: caf\xe9\x00\nenabled: false\n---\n", value: fields("enabled", false, "x", "caf\ufffd\ufffd"),
			problem: "f.md:2: x is not valid YAML; it is read as the text \"caf\ufffd\ufffd\""},
		{name: "line ends of Windows", content: "---\r\npromise: Done: x\r\nenabled: false\r\n---\r\nbody", value: fields("enabled", false, "promise", "Done: x"), body: "body",
			problem: `f.md:2: promise is not valid YAML; it is read as the text "Done: x"`},

		{name: "no front matter", content: "# Title\n---\nn: 1\n---\n", status: Missing, problem: "has no front matter: its first line is not ---"},
		{name: "a rule above a text", content: "---\nJust a text.\n", status: Invalid, problem: "has front matter that line 1 opens and no second --- closes; write a line of --- below its last field"},
		{name: "no fields", content: "---\n- a\n---\n", status: Invalid, problem: "has front matter in which no line is a field (name: value)"},
		{name: "too big", content: "---\na: *" + strings.Repeat("x", maxMatterSize) + "\n---\n", status: Invalid, problem: "has front matter that is too big: more than 256 KiB"},
		{name: "a long text behind a line of dashes", content: "---\na: *" + strings.Repeat("x", maxMatterSize) + "\n", status: Invalid, problem: "has front matter that line 1 opens and no second --- closes; write a line of --- below its last field"},
		{name: "too many fields", content: "---\nx: *\n" + manyFields(maxFields) + "---\n", status: Invalid, problem: "has front matter of more than 1000 fields"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			doc, value, unusable := readLenient(t, test.content)
			if doc.Status != test.status || doc.Problem != test.problem || doc.Body != test.body {
				t.Errorf("got %v, problem %q, body %q; want %v, %q, %q", doc.Status, doc.Problem, doc.Body, test.status, test.problem, test.body)
			}
			if doc.Status == OK {
				if diff := cmp.Diff(test.value, value); diff != "" {
					t.Errorf("value (-want +got):\n%s", diff)
				}
			}
			if unusable != test.unusable {
				t.Errorf("unusable %q, want %q", unusable, test.unusable)
			}
		})
	}
}

// A string by the schema is the text of its line, whatever YAML reads there.
func TestReadLenientTexts(t *testing.T) {
	for value, want := range map[string]string{
		`DONE`:                       `DONE`,
		`"All tests passing"`:        `All tests passing`,
		`'it''s done'`:               `it's done`,
		`true`:                       `true`,
		`1.50`:                       `1.50`,
		`[DONE]`:                     `[DONE]`,
		`[DONE] # until then`:        `[DONE]`,
		`{DONE}`:                     `{DONE}`,
		`**DONE**`:                   `**DONE**`,
		`*DONE*`:                     `*DONE*`,
		`Done: x`:                    `Done: x`,
		`Done: x # until then`:       `Done: x`,
		`- done`:                     `- done`,
		`!done`:                      `!done`,
		`&done`:                      `&done`,
		`&x done`:                    `&x done`,
		`&x [DONE]`:                  `&x [DONE]`,
		`@done`:                      `@done`,
		"`done`":                     "`done`",
		`%done`:                      `%done`,
		`> done`:                     `> done`,
		`"All "unit" tests"`:         `All "unit" tests`,
		`"say "hi""`:                 `say "hi"`,
		`"say "hi"" # so`:            `say "hi"`,
		`'it's done'`:                `it's done`,
		`"a" and "b"`:                `a" and "b`,
		`"C:\done"`:                  `C:\done`,
		`[DONE`:                      `[DONE`,
		`[all] done`:                 `[all] done`,
		`✅ All tests: passing`:       `✅ All tests: passing`,
		`<promise>DONE: x</promise>`: `<promise>DONE: x</promise>`,
	} {
		for _, content := range []string{"---\nn: 3\npromise: " + value + "\n---\n", "---\npromise: " + value + "\nn:3\n---\n", "---\nx: *\npromise:\t" + value + "\nn: 3\n---\n"} {
			doc, got, unusable := readLenient(t, content)
			if doc.Status != OK || unusable != "" || got["promise"] != want || got["n"] != 3 {
				t.Errorf("%q: got %v, %q; unusable %q; want %q", content, doc.Status, got["promise"], unusable, want)
			}
		}
	}
}

// A text that YAML takes for a comment is not silently empty, and one whose end nothing
// shows is not guessed.
func TestReadLenientUnusable(t *testing.T) {
	for content, want := range map[string]string{
		"---\npromise: #done\n---\n":        `2:10: /promise: # begins a comment; put it in quotes: "#done"`,
		"---\n\npromise:  #done\nx: *\n---": `3:11: /promise: # begins a comment; put it in quotes: "#done"`,
		"---\npromise: # none yet\n---\n":   "",
		"---\npromise: \"#done\"\n---\n":    "",
		"---\nn: #3\n---\n":                 "",
		"---\npromise: \"half\nn: 1\n---\n": `2:10: /promise: has a quote that is not closed: "\"half"`,
		"---\nx: *\npromise:'half\n---\n":   `3:9: /promise: has a quote that is not closed: "'half"`,
	} {
		_, value, unusable := readLenient(t, content)
		if _, there := value["promise"]; unusable != want || there != (want == "") {
			t.Errorf("%q: unusable %q, want %q; the value is %v", content, unusable, want, value)
		}
	}
}

// A word that needs no parser is what YAML reads, where YAML finds it.
func TestWordIsYAML(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src := []byte("k: " + rapid.StringOfN(rapid.RuneFrom([]rune("a1 :#'\"-._xeET0~")), 0, 10, -1).Draw(t, "value"))
		fields, _ := rawFields(src)
		n := fields[0].word()
		if n == nil {
			t.Skip()
		}
		whole, err := parseYAML(src)
		if err != nil {
			t.Fatalf("%q: %v", src, err)
		}
		want := whole.Content[1]
		if diff := cmp.Diff(scalarValue(want), scalarValue(n)); diff != "" || want.Column != n.Column || want.Line != n.Line {
			t.Fatalf("%q: %d:%d, want %d:%d (-want +got)\n%s", src, n.Line, n.Column, want.Line, want.Column, diff)
		}
	})
}

func TestEditLenient(t *testing.T) {
	tests := []struct {
		name, src string
		sets      []Set
		want      string
		err       string
	}{
		{name: "YAML", src: "---\nn: 1 # c\npromise: [DONE]\n---\nbody", sets: []Set{set(2, "n")}, want: "---\nn: 2 # c\npromise: [DONE]\n---\nbody"},
		{name: "beside what is no YAML", src: "\n---\npromise: Done: x\nn: 1   # rounds\nglob: *.md\n---\nbody\xff", sets: []Set{set(2, "n")}, want: "\n---\npromise: Done: x\nn: 2   # rounds\nglob: *.md\n---\nbody\xff"},
		{name: "no blank behind the colon", src: "---\nn:1\nactive:true\nx: *\n---\n", sets: []Set{set(2, "n"), set(false, "active")}, want: "---\nn:2\nactive:false\nx: *\n---\n"},
		{name: "a tab", src: "---\nn:\t1\r\nx: *\n---\n", sets: []Set{set(2, "n")}, want: "---\nn:\t2\r\nx: *\n---\n"},
		{name: "an empty value", src: "---\nn:\nx: *\n---\n", sets: []Set{set(2, "n")}, want: "---\nn: 2\nx: *\n---\n"},
		{name: "what is no YAML itself", src: "---\nx: a: b # c\ny: *\n---\n", sets: []Set{set("d", "x")}, want: "---\nx: d # c\ny: *\n---\n"},
		{name: "the last of equal keys", src: "---\nn: 1\nx: *\nn: 5\n---\n", sets: []Set{set(2, "n")}, want: "---\nn: 1\nx: *\nn: 2\n---\n"},
		{name: "the last of equal keys, also in what a library takes for YAML", src: "---\nn: 1\nn: 5\n---\n", sets: []Set{set(2, "n")}, want: "---\nn: 1\nn: 2\n---\n"},
		{name: "what makes the rest YAML", src: "---\nx: *\nn: 1\nn: 5\n---\n", sets: []Set{set(2, "x")}, want: "---\nx: 2\nn: 1\nn: 5\n---\n"},
		{name: "a list", src: "---\nx: *\na: [1, {b: 2}] # c\n---\n", sets: []Set{set([]any{}, "a")}, want: "---\nx: *\na: [] # c\n---\n"},
		{name: "a new field", src: "---\r\nx: *\r\n---\r\nbody", sets: []Set{set(2, "n")}, want: "---\r\nx: *\r\n\"n\": 2\r\n---\r\nbody"},
		{name: "characters before it", src: "---\nx: *é\n\"n\" : 1 # é\n---\n", sets: []Set{set(2, "n")}, want: "---\nx: *é\n\"n\" : 2 # é\n---\n"},

		{name: "a block of text", src: "---\nx: *\nn: |\n  a\n---\n", sets: []Set{set(2, "n")}, err: "its value spans several lines; edit it by hand"},
		{name: "a quote that is not closed", src: "---\nx: \"half\nn: 1\n---\n", sets: []Set{set(2, "n")}, want: "---\nx: \"half\nn: 2\n---\n"},
		{name: "no front matter", src: "n: 1\n", sets: []Set{set(2, "n")}, err: "the file has no front matter: its first line is not ---"},
		{name: "no second fence", src: "---\nn: 1\n", sets: []Set{set(2, "n")}, err: "the file has front matter that line 1 opens and no second --- closes; write a line of --- below its last field"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Edit([]byte(test.src), LenientFrontMatter, test.sets)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %q, %v; want the error %q", got, err, test.err)
				}
				return
			}
			if diff := cmp.Diff(test.want, string(got)); err != nil || diff != "" {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// Whatever the bytes: reading does not panic, and an edit leaves all other fields and the body as they are.
func FuzzLenient(f *testing.F) {
	for _, seed := range []string{
		"---\nn: 1\npromise: Done: x\n---\nbody", "---\nn:1\nx: *\n\ty: 2\nn: 3\n", "\ufeff\n---\r\n\"n\" : 1 #c\r\nx: \"a \"b\"\"\r\n---\r\n",
		"---\npromise: #x\nn: &a 1\nlist: *a\n---", "---\n  n: 1\n  promise: !x [a]\n- b\nc\rd: 1\u2028e: *\n---\n",
	} {
		f.Add(seed, "n", 5)
		f.Add(seed, "promise", 6)
	}
	s := loopSchema(f)
	f.Fuzz(func(t *testing.T, src, key string, value int) {
		m, err := decodeLenient([]byte(src), nil)
		if err != nil {
			return
		}
		if typed, err := decodeLenient([]byte(src), s); err != nil {
			t.Fatalf("%q with a schema: %v", src, err)
		} else {
			s.Check(typed.document())
		}
		got, err := Edit([]byte(src), LenientFrontMatter, []Set{set(value, key)})
		if err != nil {
			return
		}
		after, err := decodeLenient(got, nil)
		if err != nil {
			t.Fatalf("%q became %q: %v", src, got, err)
		}
		want := map[string]any{}
		for name, v := range m.value {
			want[name] = v
		}
		want[cleanText(key)] = value
		if diff := cmp.Diff(want, after.value); diff != "" {
			t.Errorf("%q became %q (-want +got):\n%s", src, got, diff)
		}
		if string(after.body) != string(m.body) {
			t.Errorf("%q became %q: the body changed", src, got)
		}
	})
}

// readLenient reads a file f.md by the schema of loops.
func readLenient(t *testing.T, content string) (doc Doc, value map[string]any, unusable string) {
	t.Helper()
	s := loopSchema(t)
	p := newProject(t, map[string]string{"f.md": content})
	doc = p.Read(t.Context(), File{Path: "f.md", Format: LenientFrontMatter, Schema: s})
	if doc.Status != OK {
		return doc, nil, ""
	}
	r := s.Check(doc.Document)
	var all []string
	for _, u := range append(r.Unusable, doc.Unusable...) {
		all = append(all, u.String())
	}
	value = r.Value.(map[string]any)
	for _, u := range doc.Unusable {
		delete(value, strings.TrimPrefix(u.Pointer, "/"))
	}
	return doc, value, strings.Join(all, "\n")
}

func without(m map[string]any, name string) map[string]any {
	delete(m, name)
	return m
}

func manyFields(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("f" + strings.Repeat("x", i%50) + string(rune('a'+i/50)) + ": 1\n")
	}
	return b.String()
}
