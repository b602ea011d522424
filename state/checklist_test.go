package state

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChecklist(t *testing.T) {
	lines := func(lines ...string) string { return strings.Join(lines, "\n") }
	tests := []struct {
		name, text string
		want       []Item
	}{
		{
			name: "marks and boxes",
			text: lines("- [ ] a", "* [x] b", "+ [X] c", "1. [ ] d", "12) [x] e", "-   [ ]   f  "),
			want: []Item{
				{Text: "a", Source: "- [ ] a", Line: 1},
				{Text: "b", Done: true, Source: "* [x] b", Line: 2},
				{Text: "c", Done: true, Source: "+ [X] c", Line: 3},
				{Text: "d", Source: "1. [ ] d", Line: 4},
				{Text: "e", Done: true, Source: "12) [x] e", Line: 5},
				{Text: "f", Source: "-   [ ]   f  ", Line: 6},
			},
		},
		{
			name: "what only looks like a task",
			text: lines("[ ] a", "-[ ] b", "- [] c", "- [-] d", "- [x](link) e", "- x [ ] f", "1 [ ] g", "> - [ ] h", "- [ ]i", "1234567890. [ ] j", "-", "text - [ ] k"),
		},
		{
			name: "a box without text is a task",
			text: "- [ ]\n- [x]\t\n",
			want: []Item{{Source: "- [ ]", Line: 1}, {Done: true, Source: "- [x]\t", Line: 2}},
		},
		{
			name: "nested by blanks and tabs",
			text: lines("- [ ] a", "  - [x] b", "    - [ ] c", "  - [ ] d", "\t- [ ] e", "- plain", "   1. [ ] f", "prose", "  - [ ] g"),
			want: []Item{
				{Text: "a", Source: lines("- [ ] a", "  - [x] b", "    - [ ] c", "  - [ ] d", "\t- [ ] e"), Line: 1},
				{Text: "b", Done: true, Depth: 1, Source: lines("  - [x] b", "    - [ ] c"), Line: 2},
				{Text: "c", Depth: 2, Source: "    - [ ] c", Line: 3},
				{Text: "d", Depth: 1, Source: lines("  - [ ] d", "\t- [ ] e"), Line: 4},
				{Text: "e", Depth: 2, Source: "\t- [ ] e", Line: 5},
				{Text: "f", Depth: 1, Source: "   1. [ ] f", Line: 7},
				{Text: "g", Source: "  - [ ] g", Line: 9},
			},
		},
		{
			name: "an item has what is indented below it, and no blank lines at its end",
			text: lines("- [ ] a", "  **Do**: x", "", "  more", "", "", "- [ ] b", "  body", "", "## Next", "prose", "- [ ] c", "prose ends it"),
			want: []Item{
				{Text: "a", Source: lines("- [ ] a", "  **Do**: x", "", "  more"), Line: 1},
				{Text: "b", Source: lines("- [ ] b", "  body"), Line: 7},
				{Text: "c", Section: "Next", Source: "- [ ] c", Line: 12},
			},
		},
		{
			name: "tags",
			text: lines("- [x] 1.3 [P] do [VERIFY] it [US1] [A-B_2]", "- [ ] [p] [Ab] [] [1A] [-A] [A B] [X]", "  [BODY]", "- [ ] [[Q]] [R"),
			want: []Item{
				{Text: "1.3 [P] do [VERIFY] it [US1] [A-B_2]", Done: true, Tags: []string{"P", "VERIFY", "US1", "A-B_2"}, Source: "- [x] 1.3 [P] do [VERIFY] it [US1] [A-B_2]", Line: 1},
				{Text: "[p] [Ab] [] [1A] [-A] [A B] [X]", Tags: []string{"X"}, Source: lines("- [ ] [p] [Ab] [] [1A] [-A] [A B] [X]", "  [BODY]"), Line: 2},
				{Text: "[[Q]] [R", Tags: []string{"Q"}, Source: "- [ ] [[Q]] [R", Line: 4},
			},
		},
		{
			name: "fenced code holds no tasks",
			text: lines("```md", "- [ ] a", "~~~", "````", "- [ ] b", "~~~~ x", "- [ ] c", "~~~", "- [ ] d", "~~~~~", "- [ ] e"),
			want: []Item{{Text: "b", Source: "- [ ] b", Line: 5}, {Text: "e", Source: "- [ ] e", Line: 11}},
		},
		{
			name: "fenced code inside an item belongs to it",
			text: lines("- [ ] a", "  ```", "  - [ ] no", "# no heading", "", "unindented", "  ```", "  after", "- [ ] b"),
			want: []Item{
				{Text: "a", Source: lines("- [ ] a", "  ```", "  - [ ] no", "# no heading", "", "unindented", "  ```", "  after"), Line: 1},
				{Text: "b", Source: "- [ ] b", Line: 9},
			},
		},
		{
			name: "code inside an item that nobody closed ends with the item",
			text: lines("- [ ] a", "  ```", "  code", "- [ ] b"),
			want: []Item{{Text: "a", Source: lines("- [ ] a", "  ```", "  code"), Line: 1}, {Text: "b", Source: "- [ ] b", Line: 4}},
		},
		{name: "code that nobody closed goes to the end", text: lines("```", "- [ ] a")},
		{
			name: "an indented block of code holds no tasks",
			text: lines("    - [ ] at the start", "", "Like this:", "", "    - [ ] a", "      - [ ] b", "", "\t- [ ] c", "text", "", "- [ ] d", "", "text", "", "    - [ ] e", "## Heading", "    - [ ] f", "```", "```", "    - [ ] g", "   - [ ] h"),
			want: []Item{
				{Text: "d", Source: "- [ ] d", Line: 11},
				{Text: "h", Section: "Heading", Source: "   - [ ] h", Line: 21},
			},
		},
		{
			name: "a fence in an indented block opens nothing",
			text: lines("text", "", "    ```", "", "- [ ] a"),
			want: []Item{{Text: "a", Source: "- [ ] a", Line: 5}},
		},
		{
			name: "in a list nothing is an indented block, also behind blank lines",
			text: lines("- [ ] a", "", "    - [ ] b", "", "        - [ ] c", "- plain", "", "", "    - [ ] d", "", "\t- [ ] e"),
			want: []Item{
				{Text: "a", Source: lines("- [ ] a", "", "    - [ ] b", "", "        - [ ] c"), Line: 1},
				{Text: "b", Depth: 1, Source: lines("    - [ ] b", "", "        - [ ] c"), Line: 3},
				{Text: "c", Depth: 2, Source: "        - [ ] c", Line: 5},
				{Text: "d", Depth: 1, Source: "    - [ ] d", Line: 9},
				{Text: "e", Depth: 1, Source: "\t- [ ] e", Line: 11},
			},
		},
		{
			name: "text right below an item goes on with it, so the list does too",
			text: lines("- [ ] a", "lazy", "", "    - [ ] b", "", "text", "", "    - [ ] code"),
			want: []Item{{Text: "a", Source: "- [ ] a", Line: 1}, {Text: "b", Source: "    - [ ] b", Line: 4}},
		},
		{
			name: "right below text there is no block of code",
			text: lines("Tasks:", "    - [ ] a", "    - [ ] b"),
			want: []Item{{Text: "a", Source: "    - [ ] a", Line: 2}, {Text: "b", Source: "    - [ ] b", Line: 3}},
		},
		{
			name: "inline code is no fence",
			text: lines("```x```", "- [ ] a", "``", "- [ ] b"),
			want: []Item{{Text: "a", Source: "- [ ] a", Line: 2}, {Text: "b", Source: "- [ ] b", Line: 4}},
		},
		{
			name: "nothing in an HTML comment is a task",
			text: lines("<!-- one line --> - [ ] no", "- [ ] a", "<!--", "- [ ] no", "", "# no", "--> - [ ] no", "- [ ] b", "  <!-- of b", "  - [ ] no", "  -->", "  - [ ] c <!-- text", "- <!-- of an item", "  - [ ] no", "  -->", "- [ ] d"),
			want: []Item{
				{Text: "a", Source: "- [ ] a", Line: 2},
				{Text: "b", Source: lines("- [ ] b", "  <!-- of b", "  - [ ] no", "  -->", "  - [ ] c <!-- text"), Line: 8},
				{Text: "c <!-- text", Depth: 1, Source: "  - [ ] c <!-- text", Line: 12},
				{Text: "d", Source: "- [ ] d", Line: 16},
			},
		},
		{
			name: "a comment that is never closed ends with its item, or with the file",
			text: lines("- [ ] a", "  <!--", "  - [ ] no", "- [ ] b", "", "<!--", "- [ ] no"),
			want: []Item{{Text: "a", Source: lines("- [ ] a", "  <!--", "  - [ ] no"), Line: 1}, {Text: "b", Source: "- [ ] b", Line: 4}},
		},
		{
			name: "no comment in code",
			text: lines("```", "<!--", "```", "", "    <!--", "", "- [ ] a"),
			want: []Item{{Text: "a", Source: "- [ ] a", Line: 7}},
		},
		{
			name: "sections",
			text: lines("- [ ] a", "# One #", "- [ ] b", "  # inside", "- [ ] c", "   ### C#", "- [ ] d", "#no", "- [ ] e", "Two", "===", "- [ ] f", "Three", "---", "- [ ] g", "", "---", "- [ ] h", "#", "- [ ] i"),
			want: []Item{
				{Text: "a", Source: "- [ ] a", Line: 1},
				{Text: "b", Section: "One", Source: lines("- [ ] b", "  # inside"), Line: 3},
				{Text: "c", Section: "One", Source: lines("- [ ] c", "   ### C#"), Line: 5},
				{Text: "d", Section: "One", Source: "- [ ] d", Line: 7},
				{Text: "e", Section: "One", Source: "- [ ] e", Line: 9},
				{Text: "f", Section: "Two", Source: "- [ ] f", Line: 12},
				{Text: "g", Section: "Three", Source: "- [ ] g", Line: 15},
				{Text: "h", Section: "Three", Source: "- [ ] h", Line: 18},
				{Text: "i", Section: "", Source: "- [ ] i", Line: 20},
			},
		},
		{
			name: "line ends of Windows, and a byte order mark",
			text: "\ufeff- [x] a\r\n  body\r\n\r\n- [ ] b\r\n",
			want: []Item{{Text: "a", Done: true, Source: "- [x] a\n  body", Line: 1}, {Text: "b", Source: "- [ ] b", Line: 4}},
		},
		{
			name: "front matter is no heading",
			text: lines("---", "title: x", "list:", "- [ ] no", "---", "", "- [ ] a"),
			want: []Item{{Text: "a", Source: "- [ ] a", Line: 7}},
		},
		{name: "bytes that are no UTF-8", text: "- [ ] a\xff\n", want: []Item{{Text: "a\xff", Source: "- [ ] a\xff", Line: 1}}},
		{name: "nothing", text: ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"tasks.md": test.text})
			doc := p.read("tasks.md", Checklist)
			if doc.Status != OK {
				t.Errorf("status %v: %s", doc.Status, doc.Problem)
			}
			if diff := cmp.Diff(test.want, doc.Items); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// Thousands of nested items share one text instead of copying each other.
func TestChecklistDeeplyNested(t *testing.T) {
	var b strings.Builder
	const depth = 3000
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "- [ ] x\n")
	}
	src := []byte(b.String())
	var items []Item
	allocs := testing.AllocsPerRun(1, func() { items = parseChecklist(src) })
	if len(items) != depth || items[depth-1].Depth != depth-1 {
		t.Fatalf("%d items, the last one %d deep", len(items), items[len(items)-1].Depth)
	}
	if allocs > depth {
		t.Errorf("%v allocations for %d items", allocs, depth)
	}
}

// A large file takes a moment, whatever it contains: time that grew with the square of
// its size would never end.
func TestChecklistHuge(t *testing.T) {
	for _, unit := range []string{"[", "- ", "- [ ] ", "- [ ] x\n", "\n", "#", "`", "```\n", "~~~~\n- [ ] x\n", "A]", "- [ ] [A", "x\n", "x\n===\n", " ", "\t", "\r", "1", "*"} {
		for _, first := range []string{"", "- [ ] ", "  - [ ] x\n```\n"} {
			src := first + strings.Repeat(unit, (MaxFileSize-len(first))/len(unit)/32)
			for _, item := range parseChecklist([]byte(src)) {
				if item.Line < 1 {
					t.Fatalf("a task in line %d", item.Line)
				}
			}
		}
	}
}

func FuzzChecklist(f *testing.F) {
	for _, seed := range []string{
		"# A\n- [ ] a [P]\n  b\n\t- [x] c\n", "```\n- [ ] a\n", "- [ ] a\n  ~~~\n- [ ] b\n~~~\n", "\ufeff---\n---\n1. [X]\r\n\r\n  \r\n", "Title\n===\n* [ ] x\r",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		text := strings.ReplaceAll(string(src), "\r\n", "\n")
		lines := strings.Split(text, "\n")
		before := 0
		for _, item := range parseChecklist(src) {
			if item.Line <= before || item.Line > len(lines) {
				t.Fatalf("line %d of %d, after line %d", item.Line, len(lines), before)
			}
			before = item.Line
			if !strings.Contains(text, item.Source) {
				t.Errorf("the source %q is not in the text", item.Source)
			}
			if first, _, _ := strings.Cut(item.Source, "\n"); strings.TrimPrefix(lines[item.Line-1], "\ufeff") != first || !strings.Contains(first, item.Text) {
				t.Errorf("line %d %q, source %q, text %q do not fit", item.Line, lines[item.Line-1], item.Source, item.Text)
			}
			if last := item.Source[strings.LastIndexByte(item.Source, '\n')+1:]; strings.TrimSpace(last) == "" {
				t.Errorf("the source %q ends with a blank line", item.Source)
			}
			for _, tag := range item.Tags {
				if !strings.Contains(item.Text, "["+tag+"]") {
					t.Errorf("the tag %q is not in %q", tag, item.Text)
				}
			}
		}
	})
}
