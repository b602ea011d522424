package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ralph-sdk/ralph/internal/workspace"
)

// Where a project is: the flag, else the session's directory wherever the agent is, else
// the project that the event's directory belongs to.
func TestFind(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	for _, dir := range []string{"project/sub/deep", "elsewhere", "marked/.ralph", "marked/sub"} {
		if err := os.MkdirAll(in(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(in("file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(in("project"), in("link")); err != nil {
		t.Skip("no links here:", err)
	}
	for _, c := range []struct {
		name, flag, session, cwd string
		want                     string // "" is an error
	}{
		{"the event's directory", "", "", "project/sub", "project/sub"},
		{"a folder without a project", "", "", "project/sub/deep", "project/sub/deep"},
		{"a folder of a project", "", "", "marked/sub", "marked"},
		{"the session's directory is the project as it is", "", "marked/sub", "elsewhere", "marked/sub"},
		{"and the flag's", "marked/sub", "", "elsewhere", "marked/sub"},
		{"the agent went down", "", "project", "project/sub/deep", "project"},
		{"the agent is in a worktree elsewhere", "", "project", "elsewhere", "project"},
		{"the input names no directory", "", "project", "", "project"},
		{"the flag wins", "elsewhere", "project", "project/sub", "elsewhere"},
		{"links are resolved", "", "link", "project/sub", "project"},
		{"on both sides", "", "project", "link/sub", "project"},
		{"a session directory that is gone", "", "gone", "project", "project"},
		{"the agent removed its directory", "", "project", "project/removed", "project"},
		{"or a worktree elsewhere", "", "project", "gone", "project"},
		{"a session directory that is a file", "", "file", "elsewhere", "elsewhere"},
		{"a session directory that is the root of the file system", "", "/", "project", "project"},
		{"and nothing else", "", "/", "", ""},
		{"no directory is named", "", "", "", ""},
		{"a directory that is gone", "", "", "gone", ""},
		{"both are gone", "", "gone", "removed", ""},
		{"a file", "", "", "file", ""},
		{"a flag that leads nowhere", "gone", "project", "project", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			abs := func(name string) string {
				switch name {
				case "":
					return ""
				case "/":
					return filepath.VolumeName(base) + string(filepath.Separator)
				}
				return in(name)
			}
			env := func(name string) string {
				if name == "CLAUDE_PROJECT_DIR" {
					return abs(c.session)
				}
				return ""
			}
			got, err := workspace.Find(abs(c.cwd), abs(c.flag), nil, env)
			var refused *workspace.Error
			if c.want == "" {
				if !errors.As(err, &refused) {
					t.Errorf("%q, error %v", got, err)
				}
				return
			}
			if err != nil || got != in(c.want) {
				t.Errorf("%q, error %v, want %q", got, err, in(c.want))
			}
		})
	}
}

// Without an event a project is known by the flag or the session's variable.
func TestNamed(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	session := t.TempDir()
	for _, c := range []struct{ flag, session, want string }{
		{"", "", ""}, {"", string(filepath.Separator), ""}, {dir, "", dir}, {dir, session, dir}, {"", dir, dir}, {filepath.Join(dir, "gone"), dir, ""}, {"", filepath.Join(dir, "gone"), ""},
	} {
		env := func(name string) string { return map[string]string{"CLAUDE_PROJECT_DIR": c.session}[name] }
		if got := workspace.Named(c.flag, env); got != c.want {
			t.Errorf("Named(%q) with %q is %q", c.flag, c.session, got)
		}
	}
}

// Without a project only the variable can switch loops off, not a file of the current
// directory.
func TestOffWithoutProject(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".ralph"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".ralph", "off"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	none := func(string) string { return "" }
	if why, off := workspace.Off("", none); off {
		t.Error(why)
	}
	if why, off := workspace.Off(dir, none); !off || why == "" {
		t.Errorf("%v %q", off, why)
	}
}
