package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/internal/workspace"
)

// tree makes directories, whose names end in /, and files with their content, in which BASE is the root of the tree.
func tree(t *testing.T, files map[string]string) (in func(name string) string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in = func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	for name, content := range files {
		dir := in(name)
		if name[len(name)-1] != '/' {
			dir = filepath.Dir(dir)
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if name[len(name)-1] == '/' {
			continue
		}
		if err := os.WriteFile(in(name), []byte(strings.ReplaceAll(content, "BASE", base)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return in
}

// homeAt is an environment whose home directory is dir.
func homeAt(dir string) func(string) string {
	return func(name string) string {
		if name == "HOME" || name == "USERPROFILE" {
			return dir
		}
		return ""
	}
}

// A project is found from a directory inside it: by .ralph, then by .git, and never at or above the home directory.
func TestAbove(t *testing.T) {
	in := tree(t, map[string]string{
		"home/.ralph/": "", "home/.git/": "",
		"home/a/.ralph/": "", "home/a/sub/deep/": "", "home/a/clone/.git/": "", "home/a/clone/src/": "", "home/a/own/.ralph/": "", "home/a/own/x/": "",
		"home/b/.git/": "", "home/b/sub/deep/": "", "home/b/module/.git": "gitdir: ../.git/modules/module", "home/b/module/x/": "",
		"home/c/sub/":   "",
		"home/d/.ralph": "a file", "home/d/sub/": "",
	})
	for dir, want := range map[string]string{
		"home/a":           "home/a",
		"home/a/sub/deep":  "home/a",
		"home/a/clone/src": "home/a", // a clone within the project belongs to it
		"home/a/own/x":     "home/a/own",
		"home/b/sub/deep":  "home/b",
		"home/b/module/x":  "home/b/module",
		"home/c/sub":       "home/c/sub",
		"home/d/sub":       "home/d/sub",
		"home":             "home",
	} {
		if got := workspace.Above(in(dir), nil, homeAt(in("home"))); got != in(want) {
			t.Errorf("above %s: %s", dir, got)
		}
	}
	if got := workspace.Above(in("home/c/sub"), nil, homeAt(in("elsewhere"))); got != in("home") && filepath.Separator == '/' {
		t.Errorf("with another home directory: %s", got)
	}
}

// A file that the head of a policy reads makes a project as .ralph does.
func TestAboveFiles(t *testing.T) {
	in := tree(t, map[string]string{
		"home/.specify/.current-feature": "",
		"home/m/.git/":                   "", "home/m/sub/.specify/.current-feature": "001-x", "home/m/sub/deep/": "", "home/m/other/": "",
		"home/m/dir/.specify/.current-feature/": "", "home/m/dir/x/": "",
		"home/m/sub/own/.ralph/": "", "home/m/sub/own/x/": "",
		"home/r/.ralph/": "", "home/r/sub/.specs/now": "", "home/r/sub/x/": "",
		"home/outside": "", "home/n/x/": "",
	})
	if err := os.MkdirAll(in("home/m/link/.specify"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", in("home/m/link/.specify/.current-feature")); err != nil {
		t.Skip(err)
	}
	files := []string{".specs/now", ".specify/.current-feature", "../outside", "/etc/passwd"}
	for dir, want := range map[string]string{
		"home/m/sub":       "home/m/sub",
		"home/m/sub/deep":  "home/m/sub",
		"home/m/sub/own/x": "home/m/sub/own",
		"home/m/other":     "home/m",
		"home/m/dir/x":     "home/m",
		"home/m/link":      "home/m/link",
		"home/r/sub/x":     "home/r/sub",
		"home/n/x":         "home/n/x", // the home directory is not a project, whatever it holds
	} {
		if got := workspace.Above(in(dir), files, homeAt(in("home"))); got != in(want) {
			t.Errorf("above %s: %s", dir, got)
		}
		for _, flag := range []string{"", in("home/r")} {
			want := in(want)
			if flag != "" {
				want = flag
			}
			if got, err := workspace.Find(in(dir), flag, files, homeAt(in("home"))); got != want || err != nil {
				t.Errorf("the project of %s with the flag %q: %s, error %v", dir, flag, got, err)
			}
		}
	}
}

// A git worktree has the main tree that points back at it.
func TestMainTree(t *testing.T) {
	in := tree(t, map[string]string{
		"main/.git/worktrees/w/commondir": "../..\n", "main/.git/worktrees/in/commondir": "../..\n", "main/.git/worktrees/rel/commondir": "../..\n",
		"main/.git/worktrees/w/gitdir": "BASE/w/.git\n", "main/.git/worktrees/in/gitdir": "BASE/main/trees/in/.git\n", "main/.ralph/": "",
		"w/.git": "gitdir: BASE/main/.git/worktrees/w\n", "w/sub/": "",
		"main/trees/in/.git": "gitdir: ../../.git/worktrees/in\n", "main/trees/in/sub/": "",
		"main/.git/worktrees/rel/gitdir": "../../../../rel/.git\n", "rel/.git": "gitdir: ../main/.git/worktrees/rel\n",
		// These claim what is not so.
		"thief/.git":                      "gitdir: BASE/main/.git/worktrees/w\n", // the main tree points at w
		"main/.git/worktrees/lost/gitdir": "BASE/thief/.git\n", "main/.git/worktrees/lost/commondir": "../..\n",
		"stale/.git":  "gitdir: BASE/main/.git/worktrees/gone\n",
		"odd/.git":    "gitdir: BASE/main/.git\n",
		"module/.git": "gitdir: BASE/main/.git/modules/module\n", "main/.git/modules/module/gitdir": "BASE/module/.git\n",
		"two/.git":  "gitdir: BASE/main/.git/worktrees/w\ngitdir: x\n",
		"dir/.git/": "", "none/": "",
	})
	for dir, want := range map[string]string{
		"w": "main", "main/trees/in": "main", "rel": "main",
		"w/sub": "", "main": "", "thief": "", "stale": "", "odd": "", "module": "", "two": "", "dir": "", "none": "",
	} {
		got := workspace.MainTree(in(dir), homeAt(in("home")))
		if want != "" {
			want = in(want)
		}
		if got != want {
			t.Errorf("the main tree of %s is %q", dir, got)
		}
	}
	if got := workspace.MainTree(in("w"), homeAt(in("main"))); got != "" {
		t.Errorf("the home directory is a main tree: %s", got)
	}
	// A worktree within its main tree is a project of its own.
	for dir, want := range map[string]string{"w/sub": "w", "main/trees/in/sub": "main/trees/in", "main/trees": "main"} {
		if got := workspace.Above(in(dir), nil, homeAt(in("home"))); got != in(want) {
			t.Errorf("above %s: %s", dir, got)
		}
	}
}
