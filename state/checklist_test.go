package state

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An item is shown as its mark, depth, section and text; open items have no ✓.
func TestChecklist(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"signs", "- [ ] a\n* [x] b\n+ [X] c\n1. [ ] d\n12) [x] e\n-   [ ]   f  \n• [ ] g\n– [x] h",
			"[ ] a\n[x]✓ b\n[X]✓ c\n[ ] d\n[x]✓ e\n[ ] f\n[ ] g\n[x]✓ h"},
		{"without a sign", "[ ] a\n[x] b\n  [X] c\n[~] no\n[] no\n[1] no\ntext [ ] no", "[ ] a\n[x]✓ b\n[X]✓ 1 c"},
		{"another mark is open", "- [~] a\n- [-] b\n- [/] c\n- [>] d\n- [ö] e\n- [✅] f\n- [☑️] g\n- [1] h",
			"[~] a\n[-] b\n[/] c\n[>] d\n[ö] e\n[✅] f\n[☑] g\n[1] h"},
		{"as people write it", "-\u00a0[\u00a0] a\n- [ ]b\n-[x] c\n- [] d\n- [ x ] e\n- [X\u00a0] f\n- [ ]* g\n- [ ]",
			"[ ] a\n[ ] b\n[x]✓ c\n[ ] d\n[x]✓ e\n[X]✓ f\n[ ] * g\n[ ] "},
		{"a box in one character", "☐ a\n- ☐ b\n- ☑ c\n☑️ d", "[ ] a\n[ ] b\n[x]✓ c\n[x]✓ d"},
		{"links are no boxes", "- [x](link)\n- [x][ref]\n[x]: url\n- [ab] c\n- x [ ] d\n> - [ ] e\n## [ ] f\n-", ""},
		{"depth", "- [ ] a\n  - [x] b\n    - [ ] c\n  - [ ] d\n\t- [ ] e\n- plain\n   1. [ ] f\nprose\n  - [ ] g",
			"[ ] a\n[x]✓ 1 b\n[ ] 2 c\n[ ] 1 d\n[ ] 2 e\n[ ] 1 f\n[ ] g"},
		{"sections", "- [ ] a\n# One #\n- [ ] b\n  # inside\n### C#\n- [ ] d\n#no\n- [ ] e\nTwo\n===\n- [ ] f\nThree\n---\n- [ ] g\n\n---\n- [ ] h\n#\n- [ ] i",
			"[ ] a\n[ ] (One) b\n[ ] (C#) d\n[ ] (C#) e\n[ ] (Two) f\n[ ] (Three) g\n[ ] (Three) h\n[ ] i"},
		{"closed fences hide", "```md\n- [ ] a\n~~~\n````\n- [ ] b\n~~~~ x\n- [ ] c\n~~~\n- [ ] d\n~~~~~\n- [ ] e", "[ ] b\n[ ] e"},
		{"open fences hide nothing", "```\n- [ ] a\n# B\n- [x] c", "[ ] a\n[x]✓ (B) c"},
		{"a fence ends with its item", "- [ ] a\n  ```\n  code\n- [ ] b\n  ```\n  - [ ] no\n  ```\n- ```\n  - [ ] no\n  ```\n- [ ] c", "[ ] a\n[ ] b\n[ ] c"},
		{"code of one line is no fence", "```x```\n- [ ] a\n``\n- [ ] b", "[ ] a\n[ ] b"},
		{"indented code counts", "Like this:\n\n    - [ ] a", "[ ] a"},
		{"closed comments hide", "<!-- x -->\n- [ ] a\n<!--\n- [ ] no\n# no\n-->\n- [ ] b <!-- c\n- [ ] d -->\n- <!--\n  - [ ] no\n  -->\n- [ ] e", "[ ] a\n[ ] b <!-- c\n[ ] d -->\n[ ] e"},
		{"open comments hide nothing", "- [ ] a\n<!--\n- [ ] b", "[ ] a\n[ ] b"},
		{"front matter is none of it", "\ufeff---\r\n# title\r\n- [ ] no\r\n---\r\n- [ ] a\r\n", "[ ] a"},
		{"bytes that are not UTF-8", "- [ ] a\xff", "[ ] a\ufffd"},
		{"nothing", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			items, err := ParseChecklist([]byte(test.text))
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, i := range items {
				item := i.(map[string]any)
				line := "[" + item["mark"].(string) + "]"
				if item["done"].(bool) {
					line += "✓"
				}
				if item["depth"] != 0 {
					line += fmt.Sprint(" ", item["depth"])
				}
				if item["section"] != "" {
					line += fmt.Sprintf(" (%s)", item["section"])
				}
				lines = append(lines, line+" "+item["text"].(string))
			}
			if diff := cmp.Diff(test.want, strings.Join(lines, "\n")); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// An item has what is indented below it, and the tags of its first line.
func TestChecklistSource(t *testing.T) {
	text := "# T\n- [x] 1.3 [P] do [VERIFY] it [US1]\n  **Do**: [NO]\n\n  - [ ] [p] [A-B_2]\n    ```\n  code\n    ```\n\n\n- [ ] [[Q]] [R\r\nprose\n"
	want := []any{
		map[string]any{"text": "1.3 [P] do [VERIFY] it [US1]", "mark": "x", "done": true, "depth": 0, "line": 2, "section": "T", "tags": []any{"P", "VERIFY", "US1"},
			"source": "- [x] 1.3 [P] do [VERIFY] it [US1]\n  **Do**: [NO]\n\n  - [ ] [p] [A-B_2]\n    ```\n  code\n    ```"},
		map[string]any{"text": "[p] [A-B_2]", "mark": " ", "done": false, "depth": 1, "line": 5, "section": "T", "tags": []any{"A-B_2"}, "source": "  - [ ] [p] [A-B_2]\n    ```\n  code\n    ```"},
		map[string]any{"text": "[[Q]] [R", "mark": " ", "done": false, "depth": 0, "line": 11, "section": "T", "tags": []any{"Q"}, "source": "- [ ] [[Q]] [R"},
	}
	got, err := ParseChecklist([]byte(text))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("error %v, -want +got:\n%s", err, diff)
	}
}

// Time that grew with the square of the size would never end here.
func TestChecklistHuge(t *testing.T) {
	for _, unit := range []string{"[", "- ", "- [ ] ", "\n", "#", "`", "```a\n", "~~~~\n  ```a\n", "<!--\n", "- x\n ```a\n", "A]", "- [ ] [A", "x\n===\n", "\t", "\r", "1", "*"} {
		for _, first := range []string{"", "- [ ] a\n  ", "  - [ ] x\n```\n"} {
			if _, err := ParseChecklist([]byte(first + strings.Repeat(unit, 1<<18/len(unit)))); err != nil {
				t.Errorf("%q: %v", unit, err)
			}
		}
	}
	if _, err := ParseChecklist([]byte(strings.Repeat("- [ ]\n", maxItems+1))); err == nil {
		t.Error("too many items are no error")
	}
	var deep strings.Builder // nested items share the text instead of copying each other
	for i := range 3000 {
		deep.WriteString(strings.Repeat(" ", i) + "- [ ] x\n")
	}
	items, err := ParseChecklist([]byte(deep.String()))
	if err != nil || len(items) != 3000 || items[2999].(map[string]any)["depth"] != 2999 {
		t.Errorf("%d items, %v", len(items), err)
	}
}

func FuzzChecklist(f *testing.F) {
	for _, seed := range []string{
		"# A\n- [ ] a [P]\n  b\n\t- [x] c\n", "```\n- [ ] a\n", "- [ ] a\n  ~~~\n- [ ] b\n~~~\n", "\ufeff---\n---\n1. [X]\r\n\r\n  \r\n", "Title\n===\n* [ ] x\r<!--\n-->", "☐\u00a0",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		items, err := ParseChecklist(src)
		if err != nil {
			return
		}
		text, _ := decode(src)
		text = strings.ReplaceAll(text, "\r\n", "\n")
		lines := strings.Split(text, "\n")
		before := 0
		for _, i := range items {
			item := i.(map[string]any)
			line, source := item["line"].(int), item["source"].(string)
			if line <= before || line > len(lines) {
				t.Fatalf("line %d of %d, after line %d", line, len(lines), before)
			}
			before = line
			first, _, _ := strings.Cut(source, "\n")
			if !strings.Contains(text, source) || !strings.HasPrefix(lines[line-1], first) || !strings.Contains(first, item["text"].(string)) {
				t.Errorf("line %q, source %q, text %q do not fit", lines[line-1], source, item["text"])
			}
			if last := source[strings.LastIndexByte(source, '\n')+1:]; strings.TrimSpace(last) == "" {
				t.Errorf("the source %q ends with a blank line", source)
			}
		}
	})
}
