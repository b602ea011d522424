package release_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// nested lists the directories of the nested modules that import ralph. The released ones are those that others can import: they have
// more than main packages.
func nested(t *testing.T) (released, others []string) {
	t.Helper()
	err := filepath.WalkDir(root(t), func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" || e.Name() == "testdata") {
			return fs.SkipDir
		}
		dir, err := filepath.Rel(root(t), filepath.Dir(name))
		if err != nil || e.Name() != "go.mod" || dir == "." {
			return err
		}
		mod, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(mod, []byte("\tgithub.com/ralph-sdk/ralph v")) {
			return err
		}
		cmd := exec.Command("go", "list", "-f", "{{if .GoFiles}}{{.Name}}{{end}}", "./...")
		cmd.Dir = filepath.Dir(name)
		out, err := cmd.Output()
		if err != nil {
			return err
		}
		if slices.ContainsFunc(strings.Fields(string(out)), func(name string) bool { return name != "main" }) {
			released = append(released, filepath.ToSlash(dir))
		} else {
			others = append(others, filepath.ToSlash(dir))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return released, others
}

// The version stands in the first heading of CHANGELOG.md. What needs a copy gets it from there: a plugin, which hosts update
// when its version changes, and a nested module that others import. Such a module replaces nothing.
func TestVersion(t *testing.T) {
	changes, err := os.ReadFile(filepath.Join(root(t), "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^## v(\d+\.\d+\.\d+)`).FindSubmatch(changes)
	if m == nil {
		t.Fatal("CHANGELOG.md has no version")
	}
	version := string(m[1])
	inJSON := regexp.MustCompile(`(?m)^(  "version": ")[^"]*(")`)
	copies := map[string]*regexp.Regexp{
		"plugins/ralph/.claude-plugin/plugin.json": inJSON,
		"plugins/ralph/.codex-plugin/plugin.json":  inJSON,
		"plugins/gemini/gemini-extension.json":     inJSON,
	}
	released, others := nested(t)
	if len(released) == 0 || len(others) == 0 {
		t.Fatalf("nested modules: %q are released, %q are not", released, others)
	}
	for _, dir := range released {
		copies[dir+"/go.mod"] = regexp.MustCompile(`(?m)(\tgithub\.com/ralph-sdk/ralph v)\S+($)`)
	}
	for file, place := range copies {
		name := filepath.Join(root(t), filepath.FromSlash(file))
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(place.FindAll(src, -1)); n != 1 {
			t.Errorf("%s has %d places for the version, want 1", file, n)
		}
		if strings.HasSuffix(file, ".mod") && bytes.Contains(src, []byte("replace")) {
			t.Errorf("%s replaces a module, which a program that imports it does not:\n%s", file, src)
		}
		want := place.ReplaceAll(src, []byte("${1}"+version+"${2}"))
		if *update {
			if err := os.WriteFile(name, want, 0o644); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(string(want), string(src)); diff != "" {
			t.Errorf("%s (-CHANGELOG.md +file); go test ./internal/release -update writes it\n%s", file, diff)
		}
	}
}
