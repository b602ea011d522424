package source

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"
)

// sameAsLibrary holds what everyday makes of a text against what the library does.
// It reports whether everyday was sure of the text.
func sameAsLibrary(t *testing.T, text string) bool {
	t.Helper()
	got := everyday(text)
	if got == nil {
		return false
	}
	want, err := decode(text)
	if err != nil {
		t.Fatalf("the library refuses what was read: %v\n%s", err, text)
	}
	// Comments of their own lines are nobody's here.
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(yaml.Node{}, "HeadComment", "FootComment"), cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("(-library +everyday):\n%s\n%s", diff, text)
	}
	return true
}

// The policies that ship are everyday YAML; what is odd is left to the library.
func TestEveryday(t *testing.T) {
	for _, pattern := range []string{"testdata/broken/*.yaml", "testdata/clean/*.yaml", "../../testdata/*/*.yaml"} {
		for _, path := range glob(t, pattern) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			sameAsLibrary(t, string(text))
		}
	}
	for _, path := range append(glob(t, "../../../examples/*/*.yaml"), glob(t, "../../../examples/guards/*.yaml")...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !sameAsLibrary(t, string(text)) && !strings.HasSuffix(path, "_test.yaml") {
			t.Errorf("%s is left to the library", path)
		}
	}
}

func FuzzEveryday(f *testing.F) {
	for _, seed := range []string{
		"a: 1\n", "a:\n  b: c # d\n  e: {f: [g, 1, \"h\"], i: 'j'}\nk:\n- l: m\n  n: |\n    o\n\n    p\n- q\n",
		"rules:\n  - name: x\n    when: a == \"b\" and c < 3\n    continue: |-\n      go ${x}\n", "a: yes\nb: ~\nc: 0x1F\nd: 1.5\n",
		"a: b\n c\n", "a: |\n   b\n  c\n", "a: 'b' c\n", "a: [b,c]\n", "a: {b: c:d, e: f:g:h}\n", "a: {b: c:}\n", "# x\na: b # c\n# d\n", "a: b #c\n   # d\ne: f\n", "ä: ö\nb: 'ü' # ß\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 {
			return
		}
		if file, _ := newFile([]byte(text)); file != nil {
			sameAsLibrary(t, file.text)
		}
	})
}

// Policies that were cut, shifted and scribbled on: whatever everyday still reads,
// it reads as the library does.
func TestEverydayScribbles(t *testing.T) {
	var lines []string
	for _, path := range append(glob(t, "../../../examples/*/*.yaml"), glob(t, "testdata/clean/*.yaml")...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, strings.Split(string(text), "\n")...)
	}
	scraps := []string{" ", "  ", "#", " # c", ": ", ":", "x:y", "- ", "'", "\"", "|", "|-", ">", "{", "}", "[", "]", ", ", "a: b", "~", "null", "yes", "1.5", "-1", "0x1f", "é", "\\", "''", "!", "&a", "*a", "? ", "---", "%", "$", "(", ".inf", "no", "2001-01-01"}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(from []string) string { return from[r.IntN(len(from))] }
	sure := 0
	for range 4_000 {
		from := r.IntN(len(lines))
		part := slices.Clone(lines[from:min(len(lines), from+1+r.IntN(12))])
		indent := 1 << 10
		for _, l := range part {
			if strings.TrimSpace(l) != "" {
				indent = min(indent, len(l)-len(strings.TrimLeft(l, " ")))
			}
		}
		for i, l := range part { // most scraps of a policy are indented as a whole
			part[i] = l[min(indent, len(l)):]
		}
		for range r.IntN(4) {
			i := r.IntN(len(part))
			at := r.IntN(len(part[i]) + 1)
			switch r.IntN(6) {
			case 0:
				part = slices.Delete(part, i, i+1)
			case 1:
				part = slices.Insert(part, i, pick(part))
			case 2:
				part[i] = pick(scraps) + part[i]
			case 3:
				part[i] += pick(scraps)
			case 4:
				part[i] = strings.TrimPrefix(part[i], " ")
			default:
				part[i] = strings.ToValidUTF8(part[i][:at]+pick(scraps)+part[i][at:], "")
			}
			if len(part) == 0 {
				break
			}
		}
		if file, _ := newFile([]byte(strings.Join(part, "\n") + "\n")); file != nil && sameAsLibrary(t, file.text) {
			sure++
		}
	}
	if sure < 600 {
		t.Errorf("only %d of the texts are everyday YAML: this test tests too little", sure)
	}
}

// What a short word stands for is the library's to say; plainTag asks it only where
// there may be a doubt.
func TestPlainTag(t *testing.T) {
	words := []string{"true", "True", "TRUE", "tRUE", "false", "False", "FALSE", "null", "Null", "NULL", "nulls", "yes", "Yes", "YES", "on", "On", "off", "OFF",
		"inf", "Inf", "nan", "NaN", "e1", "x0", "o7", "_", "_1", "$x", "(", "/", "0", "1.5", "1e3", "0x1f", "0o7", "1_000", "-1", "-a", "--", ".5", ".inf", ".nan", "+1", "2026-11-22"}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for _, a := range letters {
		words = append(words, string(a))
		for _, b := range letters {
			words = append(words, string([]rune{a, b}), string([]rune{a, b, '1'}))
		}
	}
	for _, word := range words {
		n := yaml.Node{Kind: yaml.ScalarNode, Value: word}
		if got, want := plainTag(word), n.ShortTag(); got != want {
			t.Errorf("%q is %s, want %s", word, got, want)
		}
	}
}
