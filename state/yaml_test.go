package state

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Plain scalars follow the core schema of YAML 1.2: yes and no are words, and
// leading zeros do not make a number octal.
func TestCoreValue(t *testing.T) {
	tests := []struct {
		text string
		want any
	}{
		{"", nil}, {"~", nil}, {"null", nil}, {"NULL", nil}, {"nULL", "nULL"},
		{"true", true}, {"False", false}, {"tRUE", "tRUE"},
		{"yes", "yes"}, {"no", "no"}, {"on", "on"}, {"Off", "Off"},
		{"0", 0}, {"-7", -7}, {"+7", 7}, {"08", 8}, {"010", 10}, {"0o10", 8}, {"0x1f", 31},
		{"9223372036854775807", 9223372036854775807}, {"9223372036854775808", 9223372036854775808.0},
		{"1.5", 1.5}, {"1.", 1.0}, {".5", 0.5}, {"-1e3", -1000.0}, {"2E-1", 0.2}, {"1.0", 1.0},
		{"1e999", "1e999"}, {".inf", ".inf"}, {".nan", ".nan"}, {"inf", "inf"}, {"NaN", "NaN"},
		{"1_000", "1_000"}, {"0b11", "0b11"}, {"0x", "0x"}, {"-0x1", "-0x1"}, {"1:30", "1:30"},
		{"+-1", "+-1"}, {"-", "-"}, {".", "."}, {"e1", "e1"}, {"1e", "1e"}, {"1e+", "1e+"}, {"1.2.3", "1.2.3"},
		{"2024-01-01", "2024-01-01"}, {"0x1p4", "0x1p4"},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, coreValue(test.text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestReadYAML(t *testing.T) {
	tests := []struct {
		name, yaml string
		want       any
		err        string
	}{
		{name: "the last duplicate counts", yaml: "a: 1\nb: 2\na: 3", want: map[string]any{"a": 3, "b": 2}},
		{name: "keys are text", yaml: "1: a\ntrue: b\n~: c\n\"q\": d", want: map[string]any{"1": "a", "true": "b", "~": "c", "q": "d"}},
		{name: "quotes and blocks are text", yaml: "a: '1'\nb: \"true\"\nc: |\n  2\n", want: map[string]any{"a": "1", "b": "true", "c": "2\n"}},
		{name: "tags", yaml: "a: !!str 1\nb: !!int \"2\"\nc: !done and\nd: !!bool yes", want: map[string]any{"a": "1", "b": 2, "c": "and", "d": "yes"}},
		{name: "<< is a name like others", yaml: "a: &a {x: 1}\n<<: *a", want: map[string]any{"a": map[string]any{"x": 1}, "<<": map[string]any{"x": 1}}},
		{name: "a list as key", yaml: "? [a]\n: 1", err: "2:3: a key must be a string"},
		{name: "an alias inside itself", yaml: "a: &a [*a]", err: "is nested deeper than 1000 levels"},
		{name: "too many aliases", yaml: bomb(), err: "its aliases expand to too much"},
		{name: "too deep", yaml: strings.Repeat("[", 2000) + strings.Repeat("]", 2000), err: "is nested deeper than 1000 levels"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			n, err := parseYAML([]byte(test.yaml))
			if err != nil {
				t.Fatal(err)
			}
			got, err := readYAML(n)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %q", err, test.err)
				}
				return
			}
			if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
				t.Errorf("error %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// bomb is small, and would be huge with its aliases expanded.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x]\n")
	for _, c := range []string{"1", "2", "3", "4", "5", "6", "7", "8"} {
		before := string(c[0] - 1)
		b.WriteString("a" + c + ": &a" + c + " [" + strings.Repeat("*a"+before+", ", 9) + "*a" + before + "]\n")
	}
	return b.String()
}

func FuzzFrontMatter(f *testing.F) {
	for _, seed := range []string{
		"---\na: 1\n---\nbody", "\ufeff---\r\na: [1, {b: ~}]\r\n---\r\n\xff", "---\n&a a: *a\n---", "---\n? |\n  x\n: y\n---\n",
		"---\na: &x {<<: *x}\n---", "---\n<<: [*a, {b: 1}]\n---\n", "---\n%YAML 1.2\n---\na: 1\n---\n", "---\n" + bomb() + "---\n",
		"---\na: \"\\x\n---\n", "---\n- - - -\n---", "---\na: 'x\n\n  y'\n---", "---\n!!binary x: !!set {a}\n---\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := decodeFrontMatter(src)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("the problem is not one line: %q", err)
			}
			return
		}
		if !strings.HasSuffix(string(src), string(m.body)) {
			t.Errorf("the body %q is not the end of %q", m.body, src)
		}
		if string(src[m.offset:m.offset+len(m.yaml)]) != string(m.yaml) {
			t.Error("the front matter is not where it is said to be")
		}
		// Every field can be found again, at a place inside the fences.
		doc := m.document()
		lines := strings.Count(string(m.yaml), "\n") + strings.Count(string(m.yaml), "\r") +
			strings.Count(string(m.yaml), "\u0085") + strings.Count(string(m.yaml), "\u2028") + strings.Count(string(m.yaml), "\u2029")
		for name, value := range m.value {
			pointer := "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
			line, col := doc.Position(pointer)
			if line < 2 || line > lines+2 || col < 1 {
				t.Errorf("%q is said to be at %d:%d of %q", name, line, col, src)
			}
			if text, plain := doc.Text(pointer); plain && !cmp.Equal(coreValue(text), value) {
				t.Errorf("%q has the value %v and the source text %q", name, value, text)
			}
		}
	})
}
