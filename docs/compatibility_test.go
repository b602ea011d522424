package docs_test

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

// Each package that programs can import is promised by the page, or says in its first paragraph that it may change.
func TestPackagesArePromised(t *testing.T) {
	page, err := os.ReadFile("compatibility.md")
	if err != nil {
		t.Fatal(err)
	}
	promised := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| \\[`([a-z/]+)`\\]\\(\\.\\./([a-z/]+)\\) \\|").FindAllStringSubmatch(string(page), -1) {
		if m[1] != m[2] {
			t.Errorf("the link of %s leads to %s", m[1], m[2])
		}
		promised[m[1]] = true
	}
	if len(promised) < 5 {
		t.Fatalf("only the packages %v were found on the page", promised)
	}
	for pkg, doc := range packageDocs(t) {
		first, _, _ := strings.Cut(doc, "\n\n")
		changes := strings.Contains(strings.Join(strings.Fields(first), " "), " may change in any version")
		if changes == promised[pkg] {
			t.Errorf("%s is promised: %v; its first paragraph says that it may change: %v\n%s", pkg, promised[pkg], changes, first)
		}
		delete(promised, pkg)
	}
	for pkg := range promised {
		t.Errorf("there is no package %s", pkg)
	}
}

// packageDocs returns the comments of the packages that other modules can import, by their directories.
func packageDocs(t *testing.T) map[string]string {
	t.Helper()
	docs := map[string]string{}
	err := filepath.WalkDir(root(t), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"internal", "testdata", "next"}, d.Name())):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil || file.Name.Name == "main" {
			return err
		}
		dir, err := filepath.Rel(root(t), filepath.Dir(name))
		if err != nil {
			return err
		}
		docs[filepath.ToSlash(dir)] += text(file.Doc)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func text(c *ast.CommentGroup) string {
	if c == nil {
		return ""
	}
	return c.Text()
}

// The JSON forms that the page shows are those of the decision that it shows: a
// verdict with the memory after it, and the record.
func TestJSONForms(t *testing.T) {
	var shown []string
	for _, b := range readDocument(t, "docs/compatibility.md").blocks {
		if b.lang == "json" {
			shown = append(shown, b.text)
		}
	}
	if len(shown) != 2 {
		t.Fatalf("the page shows %d JSON forms, expected verdict and record", len(shown))
	}
	program, diags := rules.LoadBytes(t.Context(), "build.yaml", []byte(`ralph: 1
facts:
  build: {json: build.json, schema: {properties: {left: {type: integer}}}}
limits: {repeats: 3}
progress: build.left
rules:
  - name: left
    when: build.left > 0
    continue: ${build.left} targets are left.
`), loop.Config())
	if program == nil {
		t.Fatal(diags.Err())
	}
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	values := map[string]any{"build": map[string]any{"left": 2}}

	v := program.Eval(t.Context(), rules.Values(values), rules.Options{Time: now, Turn: "t1"})
	same(t, shown[0], v)

	records := &looptest.Records{}
	l, err := loop.New(program, loop.WithValues(values), loop.WithRecorder(records), loop.WithClock(func() time.Time { return now }))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Run(t.Context(), host.Event{SessionID: "s1", Turn: "t1"}); err != nil {
		t.Fatal(err)
	}
	same(t, shown[1], records.All()[0])
}

// same compares JSON that a page shows with a value, except for what differs between runs and releases.
func same[T any](t *testing.T, shown string, got *T) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(shown)))
	d.DisallowUnknownFields()
	want, back := new(T), new(T)
	if err := d.Decode(want); err != nil {
		t.Fatalf("%v in\n%s", err, shown)
	}
	b, err := json.MarshalIndent(got, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, back,
		cmpopts.IgnoreTypes(rules.Budget{}),
		cmpopts.IgnoreFields(loop.Head{}, "ID", "Digest", "Took"),
		cmpopts.IgnoreFields(rules.Step{}, "Start", "Took"),
		cmpopts.IgnoreFields(rules.FactRead{}, "Start", "Took"),
	); diff != "" {
		t.Errorf("(-page +got)\n%s\nit is\n%s", diff, b)
	}
}
