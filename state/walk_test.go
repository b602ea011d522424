package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func found(t testing.TB, r *Root, pattern string, entries int) ([]string, error) {
	t.Helper()
	names := []string{}
	w := walk{ctx: t.Context(), root: r.root, entries: entries, yield: func(m match) error {
		names = append(names, m.name)
		return nil
	}}
	err := w.find(pattern)
	slices.Sort(names)
	return slices.Compact(names), err
}

// Every directory is read once, whatever the pattern.
func TestWalkVisitsEachEntryOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 40 {
		files[fmt.Sprintf("d%d/e%d/f%d.md", i%2, i%4, i)] = ""
	}
	p := newProject(t, files)
	entries := 2 + 4 + 40
	for pattern, want := range map[string]int{
		"**/*.md": 40, "**/**/**/**/*.md": 40, "**/*/**/*/**/*.md": 40, "**": 40, "**/**": 40, "{**/*.md,**/f*,**/*.{txt,md}}": 40,
		"{d0,d1}/**/*.md": 40, "**/e1/**/*.md": 10, "**/" + strings.Repeat("{a,f}", 6) + "*": 0,
		strings.Repeat("**/", 1000) + "*.md": 40,
	} {
		got, err := found(t, p.Root, pattern, entries)
		if err != nil || len(got) != want {
			t.Errorf("%.40s: %d files, %v; want %d", pattern, len(got), err, want)
		}
	}
	for _, pattern := range []string{"**/*.md", "**/**/*.none", "*/*/*"} {
		if _, err := found(t, p.Root, pattern, entries-1); err == nil || !strings.Contains(err.Error(), "files and directories") {
			t.Errorf("%s: the error of a walk that goes too far is %v", pattern, err)
		}
	}
	for pattern, entries := range map[string]int{"d0/e0/*.md": 10, "d0/e0/f0.md": 1, "{d0,d1}/e0/*": 16, "d?/e0/f*": 46} {
		if _, err := found(t, p.Root, pattern, entries); err != nil {
			t.Errorf("%s: %v", pattern, err)
		}
	}
}

// A walk ends with its context, and where the caller has enough.
func TestWalkHasALimit(t *testing.T) {
	p := newProject(t, map[string]string{"a.md": "", "b.md": ""})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := p.find(ctx, "*", nil, func(match) error { t.Error("found something"); return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
	calls := 0
	if err := p.find(t.Context(), "*", nil, func(match) error { calls++; return fs.SkipAll }); err != nil || calls != 1 {
		t.Errorf("after SkipAll: %d calls, %v", calls, err)
	}
}

func TestPatternsHaveLimits(t *testing.T) {
	p := newProject(t, map[string]string{"aaaa": ""})
	for pattern, want := range map[string]string{
		strings.Repeat("{a,b}", 7):            "expands to more than 100 patterns",
		strings.Repeat("{a,b}", 800):          "expands to more than 100 patterns",
		strings.Repeat("{{a,b},{c,d}}/", 200): "expands to more than 100 patterns",
		strings.Repeat("a", 5000):             "is longer than 4096 bytes",
	} {
		_, _, err := ReadAll(t.Context(), p.Root, File{Path: pattern}, 0, func(Doc) int { return 0 })
		var refused *PathError
		if !errors.As(err, &refused) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: the error is %v, want %s", pattern, err, want)
		}
		if Match(pattern, "aaaa") || p.AnyFile(pattern) {
			t.Errorf("%.20s matches", pattern)
		}
	}
	long := strings.Repeat("a", 250)
	if err := os.WriteFile(filepath.Join(p.Dir(), long), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := found(t, p.Root, strings.Repeat("*a", 100)+"*b", 10); err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := found(t, p.Root, strings.Repeat("*a", 100)+"*", 10); err != nil || len(got) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}

// A link that leads out of the root, or nowhere, is a match that cannot be read, so that
// it is reported. Its target is not looked at.
func TestLiteralsThatAreLinks(t *testing.T) {
	p := newProject(t, map[string]string{"a.md": "", "d/b.md": ""})
	for name, to := range map[string]string{"in": "a.md", "out": t.TempDir() + "/c.md", "nowhere": "none.md", "folder": "d"} {
		if err := os.Symlink(to, filepath.Join(p.Dir(), name)); err != nil {
			t.Skip(err)
		}
	}
	for name, want := range map[string]bool{"a.md": true, "in": true, "out": true, "nowhere": true, "folder": false, "fold*": false, "d": false, "none": false} {
		if got := p.AnyFile(name); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// What is found is what doublestar finds.
func TestWalkAgreesWithDoublestar(t *testing.T) {
	files := map[string]string{}
	for _, dir := range []string{"", "a/", "b/", "a/b/", "a/a/b/", "b/ab/"} {
		for _, name := range []string{"a.md", "b.md", "ab", "{x}", "x,y"} {
			if dir+name != "b/ab" {
				files[dir+name] = ""
			}
		}
	}
	p := newProject(t, files)
	rapid.Check(t, func(rt *rapid.T) {
		segment := rapid.SampledFrom([]string{
			"a", "b", "ab", "*", "**", "?", "a*", "*b", "**b", "[ab]", "[^a]", "*.md", "{a,b}", "{a,a/b}", "{**,a}", "{*.md,{a,b}*}", `\{x\}`, "a.md", "{,a}b", "x,y", "[,]", "*[,}]*",
		})
		pattern := strings.Join(rapid.SliceOfN(segment, 1, 4).Draw(rt, "segments"), "/")
		got, err := found(t, p.Root, pattern, maxEntries)
		want := []string{}
		walkErr := doublestar.GlobWalk(p.root.FS(), pattern, func(name string, e fs.DirEntry) error {
			if !e.IsDir() {
				want = append(want, name)
			}
			return nil
		}, doublestar.WithNoFollow())
		slices.Sort(want)
		if diff := cmp.Diff(slices.Compact(want), got); diff != "" || err != nil || walkErr != nil {
			rt.Fatalf("%s: %v, %v (-doublestar +own)\n%s", pattern, err, walkErr, diff)
		}
	})
}
