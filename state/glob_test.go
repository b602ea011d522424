package state_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/state"
)

// readAll reads the matches of a pattern as text and shows each as "path: text" or "path! problem".
func readAll(t *testing.T, r *state.Root, pattern string, limit int) ([]string, int, error) {
	t.Helper()
	return state.ReadAll(t.Context(), r, state.File{Path: pattern, Format: state.Text}, limit, func(d state.Doc) string {
		if d.Status != state.OK && !d.Quiet {
			return d.Path + "! " + d.Problem
		}
		return d.Path + ": " + d.Text
	})
}

func globProject(t *testing.T, files ...string) (*state.Root, string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("in "+name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, err := state.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, dir
}

func TestReadAll(t *testing.T) {
	r, _ := globProject(t, "b.md", "a.md", "a.txt", "sub/c.md", "sub/deep/d.md", "{x}.md", ".hidden.md")
	for _, c := range []struct {
		pattern string
		want    []string
	}{
		{"*.md", []string{".hidden.md", "a.md", "b.md", "{x}.md"}},
		{"./a.*", []string{"a.md", "a.txt"}},
		{"**/*.md", []string{".hidden.md", "a.md", "b.md", "sub/c.md", "sub/deep/d.md", "{x}.md"}},
		{"sub/*", []string{"sub/c.md"}}, // a directory does not match
		{"{a,b}.md", []string{"a.md", "b.md"}},
		{`\{x\}.md`, []string{"{x}.md"}},
		{"a.md", []string{"a.md"}},
		{"none/*.md", nil},
		{"*.none", nil},
	} {
		got, more, err := readAll(t, r, c.pattern, 0)
		if err != nil || more != 0 {
			t.Errorf("%s: %d more, %v", c.pattern, more, err)
		}
		var want []string
		for _, name := range c.want {
			want = append(want, name+": in "+name)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", c.pattern, diff)
		}
	}
}

// AnyFile finds what ReadAll would, good or bad, and Match reports the same for a name.
func TestAnyFile(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	if err := os.WriteFile(filepath.Join(home, "mine.md"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	names := []string{"a.md", "sub/c.md", "folder.md/x.txt", "empty/.keep", "many/last.md"}
	for i := range 300 {
		names = append(names, fmt.Sprintf("many/f%03d.txt", i))
	}
	r, _ := globProject(t, names...)
	for pattern, want := range map[string]bool{
		"*.md": true, "a.md": true, "./a.*": true, "**/c.md": true, "sub/*": true, "~/*.md": true, "{a,x/y}.md": true, "s?b/*": true,
		"many/*.md": true, "many/f299.*": true, "many/*.none": false,
		"*.txt": false, "a.md/*": false, "folder.*": false, "empty/*.json": false, "none/*": false, "sub": false, "~/*.txt": false, "b.md": false,
		"": false, "../*": false, "/*": false, "[a": false, "a\x00": false, "~/../*": false,
	} {
		if got := r.AnyFile(pattern); got != want {
			t.Errorf("AnyFile(%q) = %t", pattern, got)
		}
	}
	for pattern, want := range map[string]bool{"a/*.md": true, "**/b.md": true, "a/b.md": true, "*.md": false, "[a": false} {
		if got := state.Match(pattern, "a/b.md"); got != want {
			t.Errorf("Match(%q) = %t", pattern, got)
		}
	}
}

func TestReadAllRefusesPatterns(t *testing.T) {
	r, _ := globProject(t, "a.md")
	for _, pattern := range []string{"", "../*", "sub/../../*", "/etc/*", "~/../*", "[a", "{a", "a\x00b", `a\`} {
		_, _, err := readAll(t, r, pattern, 0)
		var refused *state.PathError
		if !errors.As(err, &refused) {
			t.Errorf("%q: the error is %v", pattern, err)
		}
	}
}

// A pattern leads where a path spelled like it leads: "." and empty segments count for
// nothing. Reading, asking and matching a name agree.
func TestPatternsAreCleaned(t *testing.T) {
	r, _ := globProject(t, "a/x.txt", "a/b/y.txt")
	for pattern, want := range map[string][]string{
		"a//*.txt": {"a/x.txt"}, "a/./*.txt": {"a/x.txt"}, "a//x.txt": {"a/x.txt"}, ".//a/x.txt": {"a/x.txt"}, "././a/*": {"a/x.txt"},
		"./a//b/./*": {"a/b/y.txt"}, "a/**//*.txt": {"a/b/y.txt", "a/x.txt"}, "a//./**/./**/y.txt": {"a/b/y.txt"}, "{a//,b}x.txt": {"a/x.txt"},
		"a/x.txt/": {"a/x.txt"}, "a/*/": {"a/x.txt"}, "a/.": nil, "{/a,b}/x.txt": nil,
	} {
		found, _, err := state.ReadAll(t.Context(), r, state.File{Path: pattern}, 0, func(d state.Doc) string { return d.Path })
		if err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
		if diff := cmp.Diff(want, found); diff != "" && len(want)+len(found) > 0 {
			t.Errorf("%s (-want +got)\n%s", pattern, diff)
		}
		if got := r.AnyFile(pattern); got != (len(want) > 0) {
			t.Errorf("AnyFile(%q) = %t", pattern, got)
		}
		for _, name := range []string{"a/x.txt", "a/b/y.txt"} {
			if got := state.Match(pattern, name); got != slices.Contains(want, name) {
				t.Errorf("Match(%q, %q) = %t", pattern, name, got)
			}
		}
	}
}

// Of many files the first are read, whatever their number and however they are distributed.
func TestReadAllHasALimit(t *testing.T) {
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("d%d/f%03d.md", i%3, i))
	}
	r, _ := globProject(t, names...)
	all, more, err := readAll(t, r, "**/*.md", 0)
	if err != nil || more != 0 || len(all) != 300 {
		t.Fatalf("without a limit: %d files, %d more, %v", len(all), more, err)
	}
	first, more, err := readAll(t, r, "**/*.md", 200)
	if err != nil || more != 100 {
		t.Errorf("with a limit: %d more, %v", more, err)
	}
	if diff := cmp.Diff(all[:200], first); diff != "" {
		t.Error(diff)
	}
}

// A match that is not a regular file is one bad document among good ones.
func TestReadAllOddFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	r, dir := globProject(t, "d/good.md", "elsewhere.txt", "d/folder.md/x")
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"inside.md": "../elsewhere.txt", "outside.md": outside, "dangling.md": "nowhere", "circle.md": "circle.md", "to-folder.md": "folder.md",
	} {
		if err := os.Symlink(target, filepath.Join(dir, "d", name)); err != nil {
			t.Fatal(err)
		}
	}
	got, _, err := readAll(t, r, "d/*.md", 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"d/circle.md! is a link in a cycle",
		"d/good.md: in d/good.md",
		"d/inside.md: in elsewhere.txt",
		"d/outside.md! is a link that leads outside the project",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if strings.Contains(strings.Join(got, ""), "secret") {
		t.Error("a file outside of the project was read")
	}
}

// Files in a directory that is a link within the project are read like others.
func TestReadAllThroughALinkedFolder(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	r, dir := globProject(t, "real/a.md")
	if err := os.Symlink("real", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	got, _, err := readAll(t, r, "link/*.md", 0)
	if err != nil || len(got) != 1 || !strings.HasSuffix(got[0], "in real/a.md") {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestReadAllBeneathTheHomeFolder(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	if err := os.WriteFile(filepath.Join(home, "a.md"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, _ := globProject(t)
	got, _, err := readAll(t, r, "~/*.md", 0)
	if diff := cmp.Diff([]string{"~/a.md: mine"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// When the time is over there is an error and no half of a list.
func TestReadAllInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // its clock stands still but for those who wait
		r, _ := globProject(t, "a.md", "b.md")
		for timeout, late := range map[time.Duration]bool{3 * time.Hour: false, time.Hour + 1: true} {
			f := state.File{Path: "*.md", Timeout: timeout}
			got, _, err := state.ReadAll(t.Context(), r, f, 0, func(state.Doc) int {
				time.Sleep(time.Hour)
				return 1
			})
			if (err != nil) != late || (got == nil) != late {
				t.Errorf("within %v: %v, %v", timeout, got, err)
			}
		}
	})
}
