package yamltree

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// Whatever the bytes are: Parse comes back, says why if there is no tree, points
// into the file, and every rune of every scalar is where At says.
func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/broken/*.yaml", "testdata/clean/*.yaml"} {
		paths, err := os.ReadDir(strings.TrimSuffix(pattern, "/*.yaml"))
		if err != nil {
			f.Fatal(err)
		}
		for _, entry := range paths {
			if strings.HasSuffix(entry.Name(), ".yaml") {
				src, err := os.ReadFile(strings.TrimSuffix(pattern, "*.yaml") + entry.Name())
				if err != nil {
					f.Fatal(err)
				}
				f.Add(src)
			}
		}
	}
	for _, src := range []string{
		"a: 1\n", "a:\n  b: c # d\n  e: {f: [g, 1, \"h\"], i: 'j'}\nk:\n- l: m\n  n: |\n    o\n\n    p\n- q\n",
		"rules:\n  - name: x\n    when: a == \"b\" and c < 3\n    continue: |-\n      go ${x}\n", "a: yes\nb: ~\nc: 0x1F\nd: 1.5\n",
		"a: b\n c\n", "a: |\n   b\n  c\n", "a: 'b' c\n", "a: [b,c]\n", "a: {b: c:d, e: f:g:h}\n", "a: {b: c:}\n",
		"# x\na: b # c\n# d\n", "a: b #c\n   # d\ne: f\n", "ä: ö\nb: 'ü' # ß\n",
	} {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		root, problems := Parse(src)
		if root == nil && len(problems) == 0 {
			t.Fatal("neither a tree nor a problem")
		}
		for i, p := range problems {
			if !p.Start.IsValid() || p.End.Before(p.Start) || p.Check == "" || p.Message == "" {
				t.Errorf("a problem without place or text: %+v", p)
			}
			if i > 0 && p.Start.Before(problems[i-1].Start) {
				t.Errorf("%v is told behind %v", p.Start, problems[i-1].Start)
			}
		}
		if root != nil {
			if err := holds(src, root); err != nil {
				t.Error(err)
			}
			root.Decode()
		}
	})
}

// Any text, written in any style, is read back, and its runes are found.
func FuzzStyles(f *testing.F) {
	for _, text := range []string{"", "a", "a b", " a", "a\nb", "a\n\n b\n", "\n\na", "ä: # \"'\\", "a\n", "\t", "a \nb\n\n\n", "😀\n  x"} {
		for style := range uint8(5) {
			f.Add(text, style, uint8(1), false)
			f.Add(text, style, uint8(3), true)
		}
	}
	f.Fuzz(func(t *testing.T, text string, style, indent uint8, crlf bool) {
		for _, r := range text {
			if message, _ := unreadable(r, 1); message != "" || r == utf8.RuneError {
				t.Skip("no text of a file")
			}
		}
		written, ok := write(text, Style(style%5), 1+int(indent%5))
		if !ok {
			t.Skip("cannot be written in this style")
		}
		src := "k:\n- v: " + written + "w: x\n"
		if crlf {
			src = strings.ReplaceAll(src, "\n", "\r\n")
		}
		var want struct{ K []struct{ V string } }
		if yaml.Unmarshal([]byte(src), &want) != nil {
			t.Skip("cannot be written in this style")
		}
		root, problems := Parse([]byte(src))
		if len(problems) > 0 {
			t.Skip("a trap, which FuzzParse looks into")
		}
		n := find(root, "v")
		if diff := cmp.Diff(want.K[0].V, n.Value); diff != "" && n.Tag != "!!null" {
			t.Errorf("value of %q (-want +got):\n%s", src, diff)
		}
		if err := holds([]byte(src), root); err != nil {
			t.Errorf("%q: %v", src, err)
		}
		// What the library reads, the search for the reason why it does not must
		// find nothing wrong with.
		file, _ := newFile([]byte(src))
		d := &diagnosis{file: file}
		if d.read(); len(d.first) > 0 {
			t.Errorf("%q is right, but: %v", src, d.first)
		}
	})
}

// write puts a text into YAML. It is a rough writer: what it gets wrong, the
// parser refuses, or reads as another text, whose runes are looked up as well.
func write(text string, style Style, indent int) (string, bool) {
	pad := strings.Repeat(" ", 2+indent)
	lines := strings.Split(text, "\n")
	switch style {
	case SingleQuoted:
		return "'" + strings.ReplaceAll(strings.Join(lines, "\n\n"+pad), "'", "''") + "'\n", true
	case DoubleQuoted:
		escaped := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\t", `\t`, "é", `\u00e9`).Replace(text)
		return `"` + strings.ReplaceAll(escaped, "\n", "\\n\\\n"+pad+`\`) + "\"\n", true
	case Literal, Folded:
		head := "|" + string(rune('0'+indent)) + "+\n"
		if style == Folded {
			head = ">" + head[1:]
		}
		return head + pad + strings.Join(lines, "\n"+pad) + "\n", true
	}
	return strings.Join(lines, "\n"+pad) + "\n", text != ""
}
