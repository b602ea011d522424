package release_test

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// released lists the directories of the nested modules that import ralph and do not say that they are not released.
func released(t *testing.T) (dirs []string) {
	t.Helper()
	err := filepath.WalkDir(root(t), func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() && (strings.HasPrefix(e.Name(), ".") || e.Name() == "node_modules" || e.Name() == "testdata") {
			return fs.SkipDir
		}
		if e.Name() != "go.mod" {
			return nil
		}
		mod, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(mod, []byte("\tgithub.com/ralph-sdk/ralph v")) || bytes.Contains(mod, []byte("// Not released")) {
			return err
		}
		dir, err := filepath.Rel(root(t), filepath.Dir(name))
		dirs = append(dirs, filepath.ToSlash(dir))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// The version is in the first heading of CHANGELOG.md. What needs a copy gets it from there: a plugin, which hosts update
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
	modules := released(t)
	if len(modules) == 0 {
		t.Fatal("no nested module is released")
	}
	for _, dir := range modules {
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
