package state

import (
	"context"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/syserr"
	"github.com/ralph-sdk/ralph/schema"
)

// The results of reading a file: the status, whether the reason is worth reporting, and
// the reason as the rest of a sentence.
func TestRead(t *testing.T) {
	deep := strings.Repeat("[", 100_000)
	tests := []struct {
		name    string
		format  Format
		content string

		status  Status
		quiet   bool
		problem string
		value   any    // of the Document
		text    string // Text, or Body of front matter
	}{
		{name: "text", content: "\ufeff \n\u00a0\u2003demo\n\n", text: "demo"},
		{name: "text keeps bytes that are no UTF-8", content: " a\xff\xfeb ", text: "a\xff\xfeb"},
		{name: "empty text", content: "", status: Missing, quiet: true, problem: "is empty"},
		{name: "blank text", content: "\ufeff \r\n\t", status: Missing, quiet: true, problem: "is empty"},
		{name: "big text", content: strings.Repeat("x", MaxFileSize+1), status: Invalid, problem: "is too big: more than 8 MiB"},

		{name: "json", format: JSON, content: "\ufeff{\"a\": true, \"a\": null, \"b\": {}}\r\n", value: map[string]any{"a": nil, "b": map[string]any{}}},
		{name: "empty json", format: JSON, content: "", status: Invalid, problem: "is not valid JSON: 1:1: "},
		{name: "blank json", format: JSON, content: "\n \n", status: Invalid, problem: "is not valid JSON: 1:1: "},
		{name: "torn json", format: JSON, content: "{\"a\": 1,\n  \"b\": tr", status: Invalid, problem: "is not valid JSON: 2:10: "},
		{name: "two documents", format: JSON, content: "{}\n{}", status: Invalid, problem: "is not valid JSON: 2:1: "},
		{name: "json null", format: JSON, content: "null", status: Invalid, problem: "is not a JSON object but null"},
		{name: "json list", format: JSON, content: "[1]", status: Invalid, problem: "is not a JSON object but an array"},
		{name: "json number", format: JSON, content: "3", status: Invalid, problem: "is not a JSON object but a number"},
		{name: "json text", format: JSON, content: `"{}"`, status: Invalid, problem: "is not a JSON object but a string"},
		{name: "json true", format: JSON, content: "true", status: Invalid, problem: "is not a JSON object but a boolean"},
		{name: "deep json", format: JSON, content: deep, status: Invalid, problem: "is not valid JSON: 1:1001: "},
		{name: "big json", format: JSON, content: `{"a": "` + strings.Repeat("x", MaxFileSize) + `"}`, status: Invalid, problem: "is too big: more than 8 MiB"},

		{name: "front matter", format: FrontMatter, content: "---\na: 1\n---\nbody\n---\n", value: map[string]any{"a": 1}, text: "body\n---\n"},
		{name: "front matter, CRLF and BOM", format: FrontMatter, content: "\ufeff--- \r\na: x\r\n---\t\r\n\r\nbody", value: map[string]any{"a": "x"}, text: "\r\nbody"},
		{name: "front matter without body", format: FrontMatter, content: "---\na: 1\n---", value: map[string]any{"a": 1}},
		{name: "empty front matter", format: FrontMatter, content: "---\n---\nx", value: map[string]any{}, text: "x"},
		{name: "front matter of comments", format: FrontMatter, content: "---\n# a\n\n---\n", value: map[string]any{}},
		{name: "body that is no UTF-8", format: FrontMatter, content: "---\na: 1\n---\n\xff\x00", value: map[string]any{"a": 1}, text: "\xff\x00"},
		{name: "no front matter", format: FrontMatter, content: "# Title\n---\n", status: Missing, quiet: true, problem: "has no front matter: its first line is not ---"},
		{name: "four dashes", format: FrontMatter, content: "----\na: 1\n----\n", status: Missing, quiet: true, problem: "has no front matter: its first line is not ---"},
		{name: "empty file", format: FrontMatter, content: "", status: Missing, quiet: true, problem: "has no front matter: its first line is not ---"},
		{name: "front matter that never closes", format: FrontMatter, content: "---\na: 1\n", status: Invalid, problem: "has front matter that line 1 opens and no second --- closes; write a line of --- below its last field"},
		{name: "front matter of one fence", format: FrontMatter, content: "---", status: Invalid, problem: "has front matter that line 1 opens and no second --- closes; write a line of --- below its last field"},
		{name: "broken yaml", format: FrontMatter, content: "---\na: [1\nb: 2\n---\n", status: Invalid, problem: "has front matter that is not valid YAML: near line "},
		{name: "open quote", format: FrontMatter, content: "---\na: \"x\n---\n", status: Invalid, problem: "has front matter that is not valid YAML: "},
		{name: "list as front matter", format: FrontMatter, content: "---\n- a\n---\n", status: Invalid, problem: "has front matter that is not a list of fields (key: value) but an array"},
		{name: "word as front matter", format: FrontMatter, content: "---\na\n---\n", status: Invalid, problem: "has front matter that is not a list of fields (key: value) but a string"},
		{name: "two yaml documents", format: FrontMatter, content: "---\na: 1\n--- b\n---\n", status: Invalid, problem: "has front matter of more than one YAML document"},
		{name: "NUL in front matter", format: FrontMatter, content: "---\na: 1\x00\n---\n", status: Invalid, problem: "has front matter that is not valid YAML: control characters are not allowed"},
		{name: "front matter that is no UTF-8", format: FrontMatter, content: "---\na: 1\nb: \xff\n---\n", status: Invalid, problem: "has bytes that are not UTF-8 in its front matter"},
		{name: "big front matter", format: FrontMatter, content: "---\na: " + strings.Repeat("x", maxMatterSize) + "\n---\n", status: Invalid, problem: "has front matter that is too big: more than 256 KiB"},
		{name: "deep front matter", format: FrontMatter, content: "---\na: " + deep + "\n---\n", status: Invalid, problem: "has front matter that "},

		{name: "unknown format", format: 99, content: "x", status: Invalid, problem: "cannot be read as format 99"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"dir/file": test.content})
			doc := p.read("dir/file", test.format)
			if doc.Status != test.status || doc.Quiet != test.quiet || !strings.HasPrefix(doc.Problem, test.problem) || (test.problem == "") != (doc.Problem == "") {
				t.Errorf("got %v, quiet %v, %q; want %v, quiet %v, %q", doc.Status, doc.Quiet, doc.Problem, test.status, test.quiet, test.problem)
			}
			if diff := cmp.Diff(test.value, doc.Document.Value); diff != "" {
				t.Errorf("value (-want +got):\n%s", diff)
			}
			if got := doc.Text + doc.Body; got != test.text {
				t.Errorf("text %q, want %q", got, test.text)
			}
			if doc.Path != "dir/file" || doc.Version == "" || doc.ModTime.IsZero() {
				t.Errorf("path %q, version %q, modified %v", doc.Path, doc.Version, doc.ModTime)
			}
		})
	}
}

// What is not a file that can be read is missing. Only plain absence is quiet.
func TestReadOddFiles(t *testing.T) {
	outside := newProject(t, map[string]string{"secret": "secret"})
	p := newProject(t, map[string]string{"file": "inside", "dir/x": "x"})
	p.link("to-file", "file")
	p.link("absolute-to-file", p.path("file"))
	p.link("to-dir", "dir")
	p.link("dangling", "nowhere")
	p.link("circle", "circle")
	p.link("out", outside.path("secret"))
	p.link("out-by-dots", "../"+outside.path("secret")[1:])
	p.link("out-dir", outside.Dir())

	tests := []struct {
		path    string
		text    string
		quiet   bool
		found   bool
		problem string
	}{
		{path: "to-file", text: "inside", found: true},
		{path: "absolute-to-file", text: "inside", found: true},
		{path: "to-dir/x", text: "x", found: true},
		{path: "absent", quiet: true, problem: "does not exist"},
		{path: "file/below", quiet: true, problem: "does not exist"},
		{path: "dangling", quiet: true, found: true, problem: "is a link to a file that does not exist"},
		{path: "dir", problem: "is a directory, not a file"},
		{path: "to-dir", problem: "is a directory, not a file"},
		{path: "circle", problem: "is a link in a cycle"},
		{path: "circle/x", problem: "is a link in a cycle"},
		{path: "out", problem: "is a link that leads outside the project"},
		{path: "out-dir/secret", problem: "is a link that leads outside the project"},
		{path: strings.Repeat("x", 20_000), problem: "cannot be read: the path is too long"},
		{path: "../x", problem: `has an unusable path: it contains "..": name the file relative to the project`},
		{path: "", problem: "has an unusable path: it is empty"},
	}
	for _, test := range tests {
		t.Run(syserr.Path(test.path), func(t *testing.T) {
			doc := p.read(test.path, Text)
			want := Doc{Status: Missing, Quiet: test.quiet, Found: test.found, Problem: test.problem}
			if test.problem == "" {
				want = Doc{Text: test.text, Found: true}
			}
			got := Doc{Status: doc.Status, Quiet: doc.Quiet, Found: doc.Found, Problem: doc.Problem, Text: doc.Text}
			if diff := cmp.Diff(want, got, cmp.AllowUnexported()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if (doc.Version == "") != (doc.Status == Missing) {
				t.Errorf("version %q of a file that is %v", doc.Version, doc.Status)
			}
			if strings.Contains(doc.Problem, outside.Dir()) {
				t.Errorf("the problem names a path outside: %q", doc.Problem)
			}
		})
	}
	if doc := p.read("out-by-dots", Text); doc.Status != Missing {
		t.Errorf("a link that climbs out: %+v", doc)
	}
}

func TestReadWithoutPermission(t *testing.T) {
	if os.Getuid() <= 0 {
		t.Skip("permissions do not bind this user")
	}
	p := newProject(t, map[string]string{"file": "x", "dir/x": "x"})
	for _, name := range []string{"file", "dir"} {
		if err := os.Chmod(p.path(name), 0); err != nil {
			t.Fatal(err)
		}
	}
	defer os.Chmod(p.path("dir"), 0o700)
	for _, name := range []string{"file", "dir/x"} {
		if doc := p.read(name, JSON); doc.Status != Missing || doc.Quiet || doc.Problem != "cannot be read: permission denied" {
			t.Errorf("%s: %v, quiet %v, %q", name, doc.Status, doc.Quiet, doc.Problem)
		}
	}
}

// A version distinguishes contents and places, and nothing else.
func TestVersion(t *testing.T) {
	p := newProject(t, map[string]string{"a": "one", "b": "one"})
	p.link("link", "a")
	a := p.version("a")
	if a != p.version("./a") || a != p.version("link") {
		t.Error("the version depends on the spelling of the path")
	}
	if a == p.version("b") {
		t.Error("two files have one version")
	}
	p.write("a", "two")
	if a == p.version("a") {
		t.Error("the version did not change with the content")
	}
	p.write("a", "one")
	if a != p.version("a") {
		t.Error("the same content has two versions")
	}
	if p.version("absent") != "" {
		t.Error("an absent file has a version")
	}
}

func TestReadOutOfTime(t *testing.T) {
	p := newProject(t, map[string]string{"a": "x"})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	doc := p.Read(ctx, File{Path: "a"})
	if doc.Status != Missing || doc.Quiet || doc.Problem != "was not read: out of time" {
		t.Errorf("got %+v", doc)
	}
}

// A disk that may hang is watched while it is read; results in time are the same.
func TestReadFromOtherDisk(t *testing.T) {
	p := newProject(t, map[string]string{"a.json": `{"n": 1}`})
	for _, local := range []bool{true, false} {
		p.local = local
		doc := p.Read(t.Context(), File{Path: "a.json", Format: JSON, Timeout: time.Minute})
		if doc.Status != OK {
			t.Errorf("on this machine %v: %+v", local, doc)
		}
	}
	late := false
	for range 10_000 { // one of the two comes first
		switch doc := p.Read(t.Context(), File{Path: "a.json", Format: JSON, Timeout: 1}); {
		case doc.Status == Missing && !doc.Quiet && doc.Problem == "took longer than 1ns to read":
			late = true
		case doc.Status != OK:
			t.Fatalf("got %+v", doc)
		}
		if late {
			return
		}
	}
	t.Error("no reading was ever given up")
}

func TestReadAfterClose(t *testing.T) {
	p := newProject(t, map[string]string{"a": "x"})
	p.Close()
	if doc := p.read("a", Text); doc.Status != Missing || doc.Problem != "cannot be read: the project was closed" {
		t.Errorf("got %+v", doc)
	}
}

// Positions count lines and columns of the whole file, and the source text of
// plain scalars is at hand where the value is of another type.
func TestDocumentOfFrontMatter(t *testing.T) {
	p := newProject(t, map[string]string{"s.md": strings.Join([]string{
		"---",
		"promise: 42",
		"on: yes",
		`quoted: "7"`,
		"none: null",
		"base: &b {deep: [x, 0x1F]}",
		"alias: *b",
		"<<: *b",
		"# names",
		"promise: 043",
		"---",
		"body",
	}, "\n")})
	doc := p.read("s.md", FrontMatter)
	base := map[string]any{"deep": []any{"x", 31}}
	want := map[string]any{
		"promise": 43, "on": "yes", "quoted": "7", "none": nil,
		"base": base, "alias": base, "<<": base,
	}
	if diff := cmp.Diff(any(want), doc.Document.Value); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
	type at struct {
		Line, Col int
		Text      string
		Plain     bool
	}
	for pointer, want := range map[string]at{
		"/promise":      {10, 10, "043", true}, // the last one counts
		"/on":           {3, 5, "yes", true},
		"/quoted":       {4, 9, "", false},
		"/none":         {5, 7, "", false},
		"/base/deep/1":  {6, 21, "0x1F", true},
		"/alias/deep/1": {6, 21, "0x1F", true},
		"/<</deep/0":    {6, 18, "x", true},
		"/absent":       {},
		"/base/deep/2":  {},
		"/base/deep/x":  {},
	} {
		var got at
		got.Line, got.Col = doc.Document.Position(pointer)
		got.Text, got.Plain = doc.Document.Text(pointer)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", pointer, diff)
		}
	}
}

// A file that is being written is waited for, and no other.
func TestSettle(t *testing.T) {
	numbers, err := schema.FromValue("numbers", map[string]any{"properties": map[string]any{"n": map[string]any{"type": "integer"}}})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name    string
		format  Format
		content string
		age     time.Duration
		status  Status
		waits   time.Duration
	}{
		{"well formed", JSON, "{}", 0, OK, 0},
		{"a number", JSON, `{"n": 1}`, 0, OK, 0},
		{"a wrong type", JSON, `{"n": "x"}`, 0, OK, settleTime},
		{"an old wrong type", JSON, `{"n": "x"}`, youngAge, OK, 0},
		{"well formed but no object", JSON, "[]", 0, Invalid, settleTime},
		{"no text yet", Text, "", 0, Missing, settleTime},
		{"list is never torn", Checklist, "", 0, OK, 0},
		{"no front matter yet", FrontMatter, "", 0, Missing, settleTime},
		{"read leniently", LenientFrontMatter, "---\nglob: *.md\n---\n", 0, OK, 0},
		{"old", JSON, "{", youngAge, Invalid, 0},
		{"old front matter", FrontMatter, "---\na: 1", time.Hour, Invalid, 0},
		{"nearly old", JSON, "{", youngAge - settleTime/2, Invalid, settleTime / 2},
		{"a little ahead", JSON, "{", -time.Second, Invalid, settleTime},
		{"far ahead, as a clock that was set back leaves it", JSON, "{", -time.Hour, Invalid, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // its clock stands still but for those who wait
				p := newProject(t, map[string]string{"f": test.content})
				p.age("f", test.age)
				start := time.Now()
				doc := p.Read(t.Context(), File{Path: "f", Format: test.format, Schema: numbers, Now: func() time.Time { return start }})
				if waited := time.Since(start); doc.Status != test.status || waited != test.waits {
					t.Errorf("got %v after %v: %s", doc.Status, waited, doc.Problem)
				}
			})
		})
	}

	for format, parts := range map[Format][2]string{
		JSON:        {`{"a": `, `1}`},
		FrontMatter: {"---\na: 1\n", "---\nbody"},
	} {
		for _, first := range []string{parts[0], ""} {
			t.Run("waits for "+format.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := newProject(t, map[string]string{"f": first})
					p.age("f", 0)
					time.AfterFunc(3*settlePoll, func() { p.finish("f", parts[0]+parts[1]) })
					doc := p.Read(t.Context(), File{Path: "f", Format: format})
					if doc.Status != OK {
						t.Errorf("got %v: %s", doc.Status, doc.Problem)
					}
				})
			})
		}
	}

	t.Run("waits for all matches together", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newProject(t, map[string]string{"a.json": "{", "b.json": `{"a": `, "c.json": "{}"})
			for _, name := range []string{"a.json", "b.json", "c.json"} {
				p.age(name, 0)
			}
			p.local = true
			start := time.Now()
			time.AfterFunc(3*settlePoll, func() { p.finish("a.json", "{}") })
			all, _, err := ReadAll(t.Context(), p.Root, File{Path: "*.json", Format: JSON}, 0, func(d Doc) Status { return d.Status })
			if diff := cmp.Diff([]Status{OK, Invalid, OK}, all); diff != "" || err != nil || time.Since(start) != settleTime {
				t.Errorf("after %s: %v (-want +got)\n%s", time.Since(start), err, diff)
			}
		})
	})

	t.Run("gives up with the context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			p := newProject(t, map[string]string{"f": "{"})
			p.age("f", 0)
			ctx, cancel := context.WithTimeout(t.Context(), settleTime/2)
			defer cancel()
			start := time.Now()
			doc := p.Read(ctx, File{Path: "f", Format: JSON})
			if waited := time.Since(start); doc.Status == OK || waited != settleTime/2 {
				t.Errorf("got %v after %v", doc.Status, waited)
			}
		})
	})
}
