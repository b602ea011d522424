package loop_test

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// shown makes a policy that continues with a text about its facts.
func shown(facts, text string) string {
	return "ralph: 1\nlimits: {continuations: 1000}\nfacts:\n" + indent(facts, "  ") +
		"rules:\n  - name: show\n    when: true\n    continue: |-\n" + indent(text, "      ")
}

func indent(s, by string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSpace(s), "\n") {
		b.WriteString(by + line + "\n")
	}
	return b.String()
}

const notesSchema = `{properties: {owner: {type: string, default: nobody}, n: {type: integer, default: 0}}}`

func TestGlob(t *testing.T) {
	p := newProject(t, map[string]string{
		"notes/b.json": `{"owner": "me", "n": 2.0}`, "notes/a.json": `{}`, "notes/c.txt": "no match",
		"notes/.hidden.json": `{"owner": "you"}`, "notes/sub/d.json": `{}`,
	})
	when := p.now.Add(-90 * time.Second)
	if err := os.Chtimes(p.path("notes/b.json"), when, when); err != nil {
		t.Fatal(err)
	}
	l := p.loop(shown(`notes: {glob: notes/*.json, schema: `+notesSchema+`}`, `
${map(notes, .path + " " + .name + " " + .value.owner)}
${filter(notes, .name == "b")[0].age}
${sum(map(notes, .value.n))}
problem: ${problem(notes)}`))
	want := "notes/.hidden.json .hidden you\nnotes/a.json a nobody\nnotes/b.json b me\n1m30s\n2\nproblem:"
	if diff := cmp.Diff(want, said(p.run(l, p.stop()))); diff != "" {
		t.Error(diff)
	}
}

// A file that cannot be used is left out and listed in one line; the others are used.
// Nothing is reported unless the policy reports it.
func TestGlobLeavesBadFilesOut(t *testing.T) {
	p := newProject(t, map[string]string{
		"notes/a.json": `{"owner": "me"}`, "notes/bad.json": `{not json`, "notes/empty.json": ``,
		"notes/list.json": `[1]`, "notes/type.json": `{"owner": 7}`, "notes/two.json": `{} {}`, "notes/folder.json/x": "",
	})
	l := p.loop(shown(`notes: {glob: notes/*.json, schema: `+notesSchema+`}`, "${map(notes, .name)}\n${problem(notes)}"))
	d := p.run(l, p.stop())
	lines := strings.Split(said(d), "\n")
	if lines[0] != "a" || len(lines) != 6 {
		t.Fatalf("the list is %q", lines)
	}
	for i, name := range []string{"bad", "empty", "list", "two", "type"} {
		if !strings.HasPrefix(lines[i+1], "notes/"+name+".json: ") {
			t.Errorf("line %d of the problem is %q, want one on %s", i, lines[i+1], name)
		}
	}
	if len(d.Notices) > 0 {
		t.Errorf("the person is told %q", d.Notices)
	}
}

// The names of files are anybody's: they neither break lines nor leave the project.
func TestGlobHostileNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the system allows no such names")
	}
	p := newProject(t, map[string]string{
		"n/${env.HOME}.json": `{`, "n/a\nnotes: all fine.json": `{`, "n/\x1b[2J.json": `{`, "n/-rf.json": `{"owner": "x"}`, "n/\xff.json": `{"owner": "y"}`,
	})
	l := p.loop(shown(`notes: {glob: n/*.json, schema: `+notesSchema+`}`, "${len(notes)}\n${problem(notes)}"))
	got := said(p.run(l, p.stop()))
	lines := strings.Split(got, "\n")
	if lines[0] != "2" || len(lines) != 4 || strings.ContainsRune(got, 0x1b) {
		t.Errorf("it says %q", got)
	}
	if !strings.Contains(got, "${env.HOME}.json") {
		t.Errorf("a name was read as a text with holes: %q", got)
	}
}

func TestGlobFormatsAndBounds(t *testing.T) {
	p := newProject(t, map[string]string{
		"t/a.txt": " one \n", "t/b.txt": "", "m/a.md": "---\nowner: me\n---\nThe body.\n", "m/b.md": "no front matter",
	})
	for i := range 30 {
		p.write(fmt.Sprintf("many/f%02d.json", i), "{")
	}
	for _, c := range []struct{ name, fact, text, want string }{
		{"texts", `x: {glob: t/*, parse: text}`, `${map(x, .name + "=" + .value)} ${problem(x)}`, "a=one\nb="},
		{"front matter", `x: {glob: m/*, parse: frontmatter, schema: ` + notesSchema + `}`, `${map(x, .value.owner + " " + trim(.value.body))}; ${problem(x)}`,
			"me The body.; m/b.md: has no front matter"},
		{"nothing", `x: {glob: none/*.json, schema: {}}`, `${len(x)} ${ok(x)}`, "0 true"},
		{"a bound", `x: {glob: "**/*.txt", parse: text, max: 1}`, `${map(x, .path)}; ${problem(x)}`, "t/a.txt; 1 more files match than the 1 that are read"},
		{"many bad ones", `x: {glob: many/*.json, schema: {}}`, `${len(split(problem(x), "\n"))} ${split(problem(x), "\n")[20]}`, "21 … and 10 more"},
		{"a pattern that leaves", `x: {glob: ../*, schema: {}}`, `${missing(x)}`, "true"},
	} {
		got := said(p.run(p.loop(shown(c.fact, c.text)), p.stop()))
		if strings.TrimSpace(got) != c.want && !strings.HasPrefix(got, c.want+":") {
			t.Errorf("%s: it says %q, want %q", c.name, got, c.want)
		}
	}
}

// The value of a placeholder is literal, even if it looks like a pattern.
func TestGlobHolesAreLiteral(t *testing.T) {
	p := newProject(t, map[string]string{"a/x.txt": "a", "b/x.txt": "b"})
	l := p.loop(shown(`x: {glob: "${env.DIR}/*.txt", parse: text}`, `${missing(x) ? problem(x) : string(len(x))}`))
	for dir, want := range map[string]string{"a": "1", "*": "0", "{a,b}": "0", "": "is empty", "..": "leads out of its directory", "/etc": "is an absolute path"} {
		p.env["DIR"] = dir
		if got := said(p.run(l, p.stop())); !strings.Contains(got, want) {
			t.Errorf("%q: it says %q, want %q", dir, got, want)
		}
	}
}
