package graph

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// hostile are texts that could be taken for syntax.
var hostile = []string{
	`<script>alert(1)</script>`, `</style><script>`, `</text></svg>`, `]]>`, `<![CDATA[`, `<!-- `, `&lt;b&gt; &amp; &#60;`, `" onload="alert(1)`, `'`,
	`javascript:alert(1)`, `end`, `"]; end`, "`code`", `"` + "`" + `md` + "`" + `"`, `#quot; #35; #`, `%%{init: {"theme": "x"}}%%`, `%% comment`, `---`, `1. one`, `- item`, `* x`,
	`A --> B`, `subgraph x`, `click r0 "javascript:alert(1)"`, `class v0 done`, `}} ]] )) >`, `|pipe|`, `\`, `\N \G \l`, `\"`, `a\`, `"; rankdir=LR; "`, `<b>x</b>`, `${x`,
	"safe\u202Eevil\u2066", "zero\u200Bwidth\uFEFF", "bell\u0007\u001b[31m", "new\nline\r\n\ttab\u2028x\u0085", "\xff\xfe bytes", "pile\u0301\u0301\u0301\u0301\u0301\u0301",
	"עברית עם אנגלית mixed", "任务 😀 ﷽", strings.Repeat("x", 64<<10), strings.Repeat("任", 64<<10), strings.Repeat("<", 600), "",
}

// hostileGraph returns the graph of a policy that has a text wherever it can.
func hostileGraph(t *testing.T, text string) *Graph {
	t.Helper()
	quoted, err := json.Marshal(text) // as YAML
	if err != nil {
		t.Fatal(err)
	}
	literal, err := json.Marshal("session_id == " + string(quoted))
	if err != nil {
		t.Fatal(err)
	}
	src := fmt.Sprintf("ralph: 1\ndescription: %s\nfacts:\n  f: {exec: [echo, %[1]s]}\nrules:\n  - name: a\n    when: %s\n    continue: %[1]s\n  - name: b\n    when: missing(f)\n    stop: %[1]s\n  - name: c\n    note: %[1]s\n", strings.ReplaceAll(string(quoted), "${", "$${"), literal)
	p, _ := rules.LoadBytes(t.Context(), text+".yaml", []byte(src), loop.Config())
	if p == nil {
		// Some texts cannot be in a policy; they can be in a graph that a program makes.
		src = "ralph: 1\nfacts:\n  f: {exec: [echo, x]}\nrules:\n  - name: a\n    when: missing(f)\n    continue: x\n"
		var diags rules.Diagnostics
		if p, diags = rules.LoadBytes(t.Context(), text+".yaml", []byte(src), loop.Config()); p == nil {
			t.Fatal(diags.Err())
		}
		p.Description = text
	}
	return New(p, Marks{})
}

// largeGraph returns the graph of a policy of so many rules.
func largeGraph(t *testing.T, n int) *Graph {
	t.Helper()
	var b strings.Builder
	b.WriteString("ralph: 1\nfacts:\n  f: {text: f.txt}\nrules:\n")
	for i := range n {
		fmt.Fprintf(&b, "  - name: r%d\n    when: f == \"%s%d\"\n    stop: \"%s\"\n", i, strings.Repeat("<>", 100), i, strings.Repeat("#", 200))
	}
	p, diags := rules.LoadBytes(t.Context(), "large.yaml", []byte(b.String()), rules.Config{})
	if p == nil {
		t.Fatal(diags.Err())
	}
	return New(p, Marks{})
}

// shipped loads the shipped policies.
func shipped(t testing.TB) map[string]*rules.Program {
	t.Helper()
	files, err := fs.Glob(examples.FS, "*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*rules.Program{}
	for _, file := range files {
		name, rest, _ := strings.Cut(file, "/")
		if rest != name+".yaml" {
			continue
		}
		p, diags := rules.Load(t.Context(), examples.FS, file, loop.Config())
		if p == nil {
			t.Fatal(diags.Err())
		}
		all[name] = p
	}
	if len(all) < 7 {
		t.Fatalf("only %d policies ship", len(all))
	}
	return all
}

// A text is a label in all formats: the elements of an SVG are fixed, and so is the structure of the others.
func TestHostile(t *testing.T) {
	elements := []string{"circle", "g", "path", "rect", "style", "svg", "text", "title"}
	attributes := []string{"class", "cx", "cy", "d", "height", "lengthAdjust", "r", "role", "rx", "textLength", "viewBox", "width", "x", "xmlns", "y"}
	for _, text := range hostile {
		g := hostileGraph(t, text)
		name := cut(line(text), 30)
		for _, problem := range g.layout().problems(g) {
			t.Errorf("%q: %s", name, problem)
		}
		var shown strings.Builder
		styles, d := 0, xml.NewDecoder(bytes.NewReader(g.SVG()))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%q: %v", name, err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				if !slices.Contains(elements, token.Name.Local) {
					t.Errorf("%q: element %s", name, token.Name.Local)
				}
				if token.Name.Local == "style" {
					styles++
				}
				for _, a := range token.Attr {
					if !slices.Contains(attributes, a.Name.Local) || strings.Contains(a.Value, "script") {
						t.Errorf("%q: attribute %s", name, a.Name.Local)
					}
				}
			case xml.CharData:
				shown.Write(token)
			}
		}
		if styles != 1 || !strings.Contains(shown.String(), line(text)) {
			t.Errorf("%q: %d styles, or the text is not shown", name, styles)
		}
		for format, out := range map[string]string{"svg": shown.String(), "mermaid": string(mermaidOf(t, g)), "text": g.Text(80)} {
			for _, r := range out {
				if !unicode.IsPrint(r) && r != '\n' {
					t.Errorf("%q: %s has %U", name, format, r)
				}
			}
		}
		if n := len(mermaidOf(t, g)); n > 16<<10 {
			t.Errorf("%q: mermaid has %d bytes", name, n)
		}
	}
}

func TestLabels(t *testing.T) {
	for _, tt := range []struct{ in, line, mermaid string }{
		{`a < b and c > "d"`, `a < b and c > "d"`, `a #60; b and c #62; #34;d#34;`},
		{`end`, `end`, `end`},
		{"`md` #35; & \\N", "`md` #35; & \\N", `#96;md#96; #35;35#59; #38; #92;N`},
		{"%%{init}%%", "%%{init}%%", "#37;#37;#123;init#125;#37;#37;"},
		{"1. one - two", "1. one - two", "1#46; one #45; two"},
		{"a/b.c-d", "a/b.c-d", "a/b.c-d"},
		{"x\u202Ey\n z\x00", `x\u202ey z\x00`, `x#92;u202ey z#92;x00`},
		{"\xff", "\uFFFD", "\uFFFD"},
		{"e\u0301\u0301\u0301\u0301", "e\u0301\u0301", "e\u0301\u0301"},
	} {
		got := tt
		got.line = line(tt.in)
		got.mermaid = mermaidText(got.line)
		if diff := cmp.Diff(tt, got, cmp.AllowUnexported(tt)); diff != "" {
			t.Errorf("%q (-want +got)\n%s", tt.in, diff)
		}
	}
	if got := line(strings.Repeat("任", 1<<20)); len([]rune(got)) != mostText || !strings.HasSuffix(got, "…") {
		t.Errorf("a long text has %d characters", len([]rune(got)))
	}
}

// mermaidOf writes a graph that Mermaid can draw.
func mermaidOf(t *testing.T, g *Graph) []byte {
	t.Helper()
	out, err := g.Mermaid()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// A policy that Mermaid would refuse to draw has less detail there, and one that is larger still is an error.
func TestLargeMermaid(t *testing.T) {
	for _, tt := range []struct {
		rules int
		has   string
		lacks string
	}{
		{10, `r9["r9<br/>f #61;#61; #34;`, "\x00"},
		{60, `r59["r59<br/>f #61;#61; #34;`, "-.->"},
		{240, `r239["r239"]`, "-.->"},
	} {
		out := string(mermaidOf(t, largeGraph(t, tt.rules)))
		if edges := strings.Count(out, "-->"); len(out) > mermaidBytes || edges > mermaidEdges || !strings.Contains(out, tt.has) || strings.Contains(out, tt.lacks) {
			t.Errorf("%d rules: %d bytes, %d edges\n%s", tt.rules, len(out), edges, cut(out, 1000))
		}
	}
	g := largeGraph(t, 1000)
	if out, err := g.Mermaid(); err == nil {
		t.Errorf("%d bytes for 1,000 rules", len(out))
	}
	for _, problem := range g.layout().problems(g) {
		t.Error(problem)
	}
}
