package state

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

const archived = ".ralph/local/archive/20260102T120000Z/"

// read reads a file that a change is based on.
func read(t testing.TB, r *Root, path string) *File {
	t.Helper()
	f, err := r.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestApply(t *testing.T) {
	for _, test := range []struct {
		name    string
		files   map[string]string
		changes []Change // with Old read before, if there is a file
		want    map[string]string
	}{
		{"a file", map[string]string{"d/a": "1"}, []Change{{Path: "d/a", New: []byte("2")}}, map[string]string{"d/a": "2"}},
		{"an empty one", map[string]string{"a": "1"}, []Change{{Path: "./a", New: []byte{}}}, map[string]string{"a": ""}},
		{"a new file in new directories", nil, []Change{{Path: "d/e/a", New: []byte("2")}}, map[string]string{"d/e/a": "2"}},
		{"a link", map[string]string{"d/a": "1", "l": "->DIR/d/a", "m": "->d"}, []Change{{Path: "l", New: []byte("2")}, {Path: "m/b", New: []byte("3")}},
			map[string]string{"d/a": "2", "d/b": "3", "l": "->DIR/d/a", "m": "->d"}},
		{"an archived file", map[string]string{"d/a": "1"}, []Change{{Path: "d/a"}}, map[string]string{archived + "d/a": "1", ".ralph/local/.gitignore": "*\n"}},
		{"an archived link", map[string]string{"d/a": "1", "l": "->d/a"}, []Change{{Path: "l"}}, map[string]string{archived + "l": "1", ".ralph/local/.gitignore": "*\n"}},
		{"several", map[string]string{"a": "1", "b": "1", archived + "a": "0"}, []Change{{Path: "a"}, {Path: "b", New: []byte("2")}, {Path: "c", New: []byte("3")}},
			map[string]string{"b": "2", "c": "3", archived + "a": "0", strings.TrimSuffix(archived, "/") + "-2/a": "1"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := project(t, test.files)
			for i := range test.changes {
				test.changes[i].Old, _ = r.Read(test.changes[i].Path)
			}
			if err := r.Apply(test.changes, noon); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, tree(t, r)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A refused change leaves all files as they are, those before and behind it too.
func TestApplyRefuses(t *testing.T) {
	files := map[string]string{
		"a": "1", "z": "1", "l": "->a", "out": "->/etc/hostname", "outdir": "->/etc", "nowhere": "->missing", "dir/x": "", "alias": "->.git",
		".git/config": "", ".ralph/policy.yaml": "", ".claude/settings.local.json": "{}", ".claude/state.md": "",
	}
	old := &File{Bytes: []byte("1"), Mode: 0o644}
	for _, c := range []struct {
		change Change
		want   string
	}{
		{Change{Path: "a", Old: &File{Bytes: []byte("0"), Mode: 0o644}, New: []byte("2")}, "change a: the file has changed since it was read"},
		{Change{Path: "a", Old: &File{Bytes: []byte("0"), Mode: 0o644}}, "has changed"},
		{Change{Path: "a", New: []byte("2")}, "has changed"},
		{Change{Path: "missing", Old: old, New: []byte("2")}, "has changed"},
		{Change{Path: "nowhere", New: []byte("2")}, "not exist"},
		{Change{Path: "missing"}, "not exist"},
		{Change{Path: "dir", Old: old, New: []byte("2")}, "is a directory"},
		{Change{Path: "a/b", New: []byte("2")}, "not"},
		{Change{Path: "out", Old: old, New: []byte("2")}, "a link leaves the project"},
		{Change{Path: "outdir/new", New: []byte("2")}, "a link leaves the project"},
		{Change{Path: "../a", New: []byte("2")}, `".."`},
		{Change{Path: "a", Old: &File{Bytes: []byte("1"), Mode: 0o444}, New: []byte("2")}, "is read-only"},
		{Change{Path: "a", Old: old, New: bytes.Repeat([]byte("x"), MaxFile+1)}, "is larger than 16 MiB"},
		{Change{Path: "z", Old: old, New: []byte("3")}, "is changed twice"},
		{Change{Path: "alias/config", Old: &File{Mode: 0o644}, New: []byte("2")}, "is never changed"},
		{Change{Path: ".claude/settings.local.json", Old: &File{Bytes: []byte("{}"), Mode: 0o644}, New: []byte("2")}, "is never changed"},
	} {
		r := project(t, files)
		err := r.Apply([]Change{{Path: "new/b", New: []byte("2")}, {Path: "z", Old: read(t, r, "z"), New: []byte("2")}, c.change}, noon)
		if err == nil || !errors.Is(err, fs.ErrNotExist) && !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrChanged) != (strings.Contains(c.want, "has changed")) {
			t.Errorf("%s: %v, want %q", c.change.Path, err, c.want)
		}
		if diff := cmp.Diff(files, tree(t, r)); diff != "" {
			t.Errorf("%s: files have changed (-want +got):\n%s", c.change.Path, diff)
		}
	}
}

func TestProtected(t *testing.T) {
	for _, path := range []string{
		".git", ".git/config", "sub/.git/hooks/x", ".GIT/config", ".git./config", ".git /x", ".g\u200cit/x", ".ralph/policy.yaml", ".Ralph/local/archive/x", ".vscode/tasks.json",
		".claude/settings.json", "a/.claude/settings.local.json", ".claude/\u017fettings.json", ".claude/hooks/x.sh", ".claude/skills/a/SKILL.md", ".mcp.json", ".codex/config.toml", ".clinerules/hooks/x", ".devin/hooks.v1.json",
		".gemini/settings.json", ".cursor/hooks.json", ".qwen/settings.json", "opencode.json", "OPENCODE.jsonc", ".factory/hooks.json", ".kiro/hooks/x.json", ".github/hooks/x.json", ".agents/hooks.json",
	} {
		if !isProtected(path) {
			t.Errorf("%q is not protected", path)
		}
	}
	for _, path := range []string{
		"a", "git/config", ".gitignore", ".github/workflows/ci.yml", ".claude/ralph-loop.local.md", ".claude/completion-state/promises/p.json", ".kiro/specs/x/tasks.md",
		".specify/feature.json", "specs/.ralph-state.json", ".ralph.md", "settings.json", "my-opencode.json", ".stravinsky/continuation-loop.md", "x.git/y",
	} {
		if isProtected(path) {
			t.Errorf("%q is protected", path)
		}
	}
}

// What a killed process left behind is not in the way, and the mode stays.
func TestApplyKeepsMode(t *testing.T) {
	r := project(t, map[string]string{"a": "1", ".ralph-1.tmp": "half"})
	if runtime.GOOS != "windows" {
		if err := os.Chmod(filepath.Join(r.Dir(), "a"), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	old := read(t, r, "a")
	if err := r.Apply([]Change{{Path: "a", Old: old, New: []byte("2")}}, noon); err != nil {
		t.Fatal(err)
	}
	if f := read(t, r, "a"); f.Mode != old.Mode || string(f.Bytes) != "2" {
		t.Errorf("mode %v, was %v; content %q", f.Mode, old.Mode, f.Bytes)
	}
	if diff := cmp.Diff(map[string]string{"a": "2"}, tree(t, r)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Of many that change one file at once, each change is made on the one before.
func TestApplyAtOnce(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("directories cannot be locked")
	}
	r := project(t, map[string]string{"n.json": `{"n": 0}`})
	const workers, rounds = 4, 25
	failed := make(chan error)
	for w := range workers {
		go func() {
			own, err := Open(r.Dir())
			for n := 0; n < rounds && err == nil; {
				var f *File
				if f, err = own.Read("n.json"); err != nil {
					break
				}
				v, _ := ParseJSON(f.Bytes)
				b, _ := SetJSON(f.Bytes, []any{"n"}, v.(map[string]any)["n"].(int)+1)
				switch err = own.Apply([]Change{{Path: "n.json", Old: f, New: b}, {Path: fmt.Sprintf("%d/%d", w, n), New: b}}, noon); {
				case err == nil:
					n++
				case errors.Is(err, ErrChanged):
					err = nil
				}
			}
			failed <- err
		}()
	}
	for range workers {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	files := tree(t, r)
	if len(files) != 1+workers*rounds || files["n.json"] != fmt.Sprintf(`{"n": %d}`, workers*rounds) {
		t.Errorf("%s, and %q", files["n.json"], slices.Sorted(maps.Keys(files)))
	}
}
