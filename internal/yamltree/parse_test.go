package yamltree

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func ExampleParse() {
	src := []byte(`
rules:
  - name: all-done
    when: !done and total > 0
    stop: all is done
`)
	_, problems := Parse(src)
	for _, p := range problems {
		fmt.Printf("%s: %s [%s]; %s\n", p.Start, p.Message, p.Check, p.Help)
	}
	// Output:
	// 4:11: `!done` is a YAML tag here [yaml-tag]; in an expression write `not done`, else remove it
}

// An expression parser counts runes in the text that it was given; At finds them
// in the file.
func ExampleNode_At() {
	src := []byte("when: >-\n  phase == 'done'\n  and totl > 0\n")
	root, _ := Parse(src)
	when := root.Get("when")
	offset := strings.Index(when.Value, "totl")
	start, end := when.At(offset), when.At(offset+4)
	fmt.Println(start, "unknown name totl")
	fmt.Println(Line(src, start.Line))
	fmt.Println(strings.Repeat(" ", start.Col-1) + strings.Repeat("^", end.Col-start.Col))
	// Output:
	// 3:7 unknown name totl
	//   and totl > 0
	//       ^^^^
}

// shape is what a node says about itself.
type shape struct {
	Kind    string
	Style   Style
	Start   string
	Tag     string
	Value   string
	Comment string
}

func TestNodes(t *testing.T) {
	src := `# head
map:          # of the key
  plain: a b  # behind
  single: 'x'
list:
- |
  text
- >-
  text
- "double"
flow: {a: [1, 2.5], b: }
`
	want := map[string]shape{
		"":            {"map", Block, "2:1", "!!map", "", ""},
		".map":        {"map", Block, "3:3", "!!map", "", ""},
		".map.plain":  {"scalar", Plain, "3:10", "!!str", "a b", "# behind"},
		".map.single": {"scalar", SingleQuoted, "4:11", "!!str", "x", ""},
		".list":       {"list", Block, "6:1", "!!seq", "", ""},
		".list[0]":    {"scalar", Literal, "6:3", "!!str", "text\n", ""},
		".list[1]":    {"scalar", Folded, "8:3", "!!str", "text", ""},
		".list[2]":    {"scalar", DoubleQuoted, "10:3", "!!str", "double", ""},
		".flow":       {"map", Flow, "11:7", "!!map", "", ""},
		".flow.a":     {"list", Flow, "11:11", "!!seq", "", ""},
		".flow.a[0]":  {"scalar", Plain, "11:12", "!!int", "1", ""},
		".flow.a[1]":  {"scalar", Plain, "11:15", "!!float", "2.5", ""},
		".flow.b":     {"scalar", Plain, "11:24", "!!null", "", ""},
	}
	root, problems := Parse([]byte(src))
	if len(problems) > 0 {
		t.Fatalf("Parse: %v", problems)
	}
	got := map[string]shape{}
	var walk func(path string, n *Node)
	walk = func(path string, n *Node) {
		got[path] = shape{n.Kind.String(), n.Style, n.Start.String(), n.Tag, n.Value, n.Comment}
		for _, f := range n.Fields {
			walk(path+"."+f.Key.Value, f.Value)
		}
		for i, item := range n.Items {
			walk(fmt.Sprintf("%s[%d]", path, i), item)
		}
	}
	walk("", root)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestDecode(t *testing.T) {
	src := `
text: [a, "1", 'true', yes, on, 2024-01-02, 12:30, 1.2.3, "", !!str 5, <<]
int: [0, 42, -7, +7, 0x1F, 0o17, 010, 0b11, 1_000, 9007199254740993]
float: [1.5, 1e3, -.5, .inf, -.inf, 9223372036854775808, 18446744073709551616, !!float 1]
bool: [true, false, True, FALSE]
nil: [null, ~, , Null]
map: {a: {b: [c]}, d: {}}
list: []
`
	src = strings.Replace(src, "~, , Null", "~, Null", 1)
	want := map[string]any{
		"text":  []any{"a", "1", "true", "yes", "on", "2024-01-02", "12:30", "1.2.3", "", "5", "<<"},
		"int":   []any{0, 42, -7, 7, 31, 15, 8, 3, 1000, 9007199254740993},
		"float": []any{1.5, 1000.0, -0.5, math.Inf(1), math.Inf(-1), float64(1 << 63), float64(1 << 63 * 2), 1.0},
		"bool":  []any{true, false, true, false},
		"nil":   []any{nil, nil, nil},
		"map":   map[string]any{"a": map[string]any{"b": []any{"c"}}, "d": map[string]any{}},
		"list":  []any{},
	}
	root, problems := Parse([]byte(src))
	if len(problems) > 0 {
		t.Fatalf("Parse: %v", problems)
	}
	if diff := cmp.Diff(any(want), root.Decode()); diff != "" {
		t.Errorf("Decode (-want +got):\n%s", diff)
	}
	if got := (*Node)(nil).Decode(); got != nil {
		t.Errorf("Decode of no node = %v, want nil", got)
	}
}

func TestGet(t *testing.T) {
	root, _ := Parse([]byte("a: 1\nb: {c: 2}\na: 3\n"))
	if got := root.Get("a").Value; got != "1" {
		t.Errorf("Get(a) = %s, want the first of two, 1", got)
	}
	if got := root.Get("b").Get("c").Value; got != "2" {
		t.Errorf("Get(b).Get(c) = %s, want 2", got)
	}
	if got := root.Get("a").Get("x").Get("y"); got != nil {
		t.Errorf("Get on what is no map = %v, want nil", got)
	}
}

func TestLine(t *testing.T) {
	src := []byte("\ufeffone\r\n\n  three\nfour")
	var got []string
	for n := range 7 {
		got = append(got, Line(src, n))
	}
	want := []string{"", "one", "", "  three", "four", "", ""}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines 0 to 6 (-want +got):\n%s", diff)
	}
}

func TestPos(t *testing.T) {
	tests := []struct {
		p, q   Pos
		before bool
	}{
		{Pos{1, 9}, Pos{2, 1}, true},
		{Pos{2, 1}, Pos{2, 2}, true},
		{Pos{2, 2}, Pos{2, 2}, false},
		{Pos{3, 1}, Pos{2, 9}, false},
		{Pos{}, Pos{1, 1}, true},
	}
	for _, tt := range tests {
		if got := tt.p.Before(tt.q); got != tt.before {
			t.Errorf("%v before %v = %v, want %v", tt.p, tt.q, got, tt.before)
		}
	}
	if got := (Pos{}).String(); got != "-" || (Pos{}).IsValid() {
		t.Errorf("the zero Pos is %q and must be unknown", got)
	}
}

// The caller may do with its bytes what it likes.
func TestParseKeepsNothing(t *testing.T) {
	src := []byte("a: 'it''s'\n")
	root, _ := Parse(src)
	for i := range src {
		src[i] = '#'
	}
	n := root.Get("a")
	if n.Value != "it's" || n.At(3) != (Pos{1, 9}) {
		t.Errorf("after src was overwritten: %q, its s at %v", n.Value, n.At(3))
	}
}

// Large and hostile files are answered, with a word on what is wrong. If one of
// them took more than linear time, the test would not come back.
func TestHostile(t *testing.T) {
	const size = MaxSize / 4
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	stairs := func(line string) string {
		var out strings.Builder
		for i := 0; out.Len() < size; i++ {
			out.WriteString(strings.Repeat(" ", i) + line + "\n")
		}
		return out.String()
	}
	tests := []struct {
		name, src string
		check     string // of the first problem; "" if there is none
	}{
		{"too big", strings.Repeat("#", MaxSize+1), CheckSize},
		{"as big as may be", "a: |\n  " + strings.Repeat("x", MaxSize-7), ""},
		{"many values", "[" + strings.Repeat("a,", MaxNodes) + "]", CheckSize},
		{"as many values as may be", "[" + strings.Repeat("a,", MaxNodes-1) + "]", ""},
		{"deep", strings.Repeat("[", MaxDepth+1) + strings.Repeat("]", MaxDepth+1), CheckDepth},
		{"as deep as may be", strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), ""},
		{"brackets", fill("["), CheckSyntax},
		{"dashes", fill("- "), CheckSyntax},
		{"questions", fill("? "), CheckSyntax},
		{"colons", fill("a: "), CheckSyntax},
		{"stairs", stairs("k:"), CheckDepth},
		{"stairs of quotes", stairs(`k: "`), CheckSyntax},
		{"unclosed quotes", fill("a: \"x\n"), CheckSyntax},
		{"unclosed brackets", fill("- [a\n"), CheckSyntax},
		{"open parentheses in a flow list", "[" + fill("a(,") + "]", CheckFlow},
		{"open parentheses in an open list", "[" + fill("a(,"), CheckFlow},
		{"text behind quotes in a flow list", "[" + fill("'a' b,") + "]", CheckSyntax},
		{"quotes in an open list", "[" + fill("'a',"), CheckSyntax},
		{"a long ternary", "a: b ? c: d" + fill("\n  : e"), CheckSyntax},
		{"a long text, then an error", "a: b" + fill("\n  c") + "\nd: e: f", CheckSyntax},
		{"an error, then a long text", "d: e: f\na: |\n" + fill("  c\n"), CheckSyntax},
		{"the same key", fill("the-same: a\n"), CheckDuplicate},
		{"tags", fill("- !a b\n"), CheckTag},
		{"wrong bytes", fill("\xff"), CheckEncoding},
		{"no document", fill("# a\n\n"), CheckDocument},
		{"aliases", "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n", CheckAlias},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root, problems := Parse([]byte(tt.src))
			got := ""
			if len(problems) > 0 {
				got = problems[0].Check
			}
			if got != tt.check {
				t.Errorf("first problem is %q, want %q: %.300v", got, tt.check, problems)
			}
			if len(problems) > maxProblems {
				t.Errorf("%d problems, want at most %d", len(problems), maxProblems)
			}
			if root == nil && len(problems) == 0 {
				t.Error("neither a tree nor a problem")
			}
			root.Decode()
		})
	}
}
