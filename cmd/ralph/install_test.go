package main

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/ralph-sdk/ralph/host/setup"
)

// Taken out again, ralph leaves a settings file as it was, to the byte.
func TestInstallUninstall(t *testing.T) {
	const other = `{"type": "command", "command": "say done"}`
	for name, src := range map[string]string{
		"other hooks":    "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"hooks\": [" + other + "]}\n    ]\n  }\n}\n",
		"other events":   "{\n\t\"hooks\": {\n\t\t\"SessionStart\": [{\"hooks\": [" + other + "]}]\n\t},\n\n\t\"x\": [ 1,2 ]\n}",
		"no hooks":       "{\r\n    \"model\" : \"opus\",\r\n    \"env\":{}\r\n}\r\n",
		"on one line":    `{"hooks":{"Stop":[{"hooks":[` + other + `]}]},"n":1e400}`,
		"odd but valid":  "\ufeff { \"\\u0061\": \"<&>\", \"a\": 2, \"hooks\": {\"Stop\": [{\"matcher\": \"\", \"hooks\": []}]} }",
		"an empty group": "{\"hooks\": {\"Stop\": [{\"hooks\": []}]}}",
		"no field":       "{}\n",
		"no hook":        "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n",
		"keys twice":     "{\"a\": {\"x\": 1, \"x\": 2}, \"a\": 2}",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, ".claude", "settings.json")
			if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(src), 0o640); err != nil {
				t.Fatal(err)
			}
			store := t.TempDir()
			getenv := func(name string) string {
				if name == "RALPH_STATE_DIR" {
					return store
				}
				return ""
			}
			ralph := func(args ...string) {
				t.Helper()
				var out strings.Builder
				a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out, getenv: getenv}
				if status := a.run(context.Background(), append(args, "--project", dir)); status != exitOK {
					t.Fatalf("ralph %s: status %d\n%s", strings.Join(args, " "), status, out.String())
				}
			}
			ralph("install", "claude-code", "--policy", "speckit")
			ralph("install", "claude-code", "--policy", "todo-reminder")
			installed, err := os.ReadFile(file)
			if err != nil || !strings.Contains(string(installed), "todo-reminder") {
				t.Fatalf("%v\n%s", err, installed)
			}
			ralph("uninstall", "claude-code", "--policy", "speckit")
			ralph("uninstall", "claude-code")
			got, err := os.ReadFile(file)
			if diff := cmp.Diff(src, string(got)); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s\ninstalled it was\n%s", err, diff, installed)
			}
			if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o640 {
				t.Error("its permissions:", info.Mode(), err)
			}
		})
	}
}

// In a project and a home directory without settings, uninstall removes everything that install made, for each host and
// scope.
func TestUninstallLeavesNothing(t *testing.T) {
	for _, g := range (setup.Env{Home: "~"}).Hosts() {
		for _, scope := range g.Scopes() {
			t.Run(g.Name+" "+scope, func(t *testing.T) {
				project, home := t.TempDir(), t.TempDir()
				getenv := func(name string) string {
					return map[string]string{"HOME": home, "USERPROFILE": home, "RALPH_STATE_DIR": filepath.Join(home, "state")}[name]
				}
				ralph := func(command string) {
					t.Helper()
					var out strings.Builder
					a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out, getenv: getenv}
					if status := a.run(t.Context(), []string{command, g.Name, "--policy", "ralph-wiggum", "--scope", scope, "--project", project}); status != exitOK {
						t.Fatalf("ralph %s: status %d\n%s", command, status, out.String())
					}
				}
				ralph("install")
				if installed := tree(t, project, home); len(installed) < 2 {
					t.Fatalf("install made only %q", installed)
				}
				ralph("install")
				ralph("uninstall")
				if left := tree(t, project, home); len(left) > 0 {
					t.Errorf("uninstall leaves %q", left)
				}
			})
		}
	}
}

// tree lists the files in directories, except ralph's own.
func tree(t *testing.T, dirs ...string) (names []string) {
	t.Helper()
	for _, dir := range dirs {
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
			if name == "state" {
				return fs.SkipDir
			}
			if name != "." {
				names = append(names, name)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}
