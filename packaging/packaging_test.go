// Package packaging holds what people install, and the tests of it: archives, packages of npm, plugins of hosts.
package packaging

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the licences, and the hooks of plugins")

// equal compares a file with what it is generated from.
func equal(t *testing.T, file, want string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, read(t, file)); diff != "" {
		t.Errorf("%s: go test ./packaging -update writes it (-want +got)\n%s", file, diff)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// command runs a program and returns what it prints and its status.
func command(t *testing.T, dir string, env []string, name string, args ...string) (string, int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if status := new(exec.ExitError); err != nil && !errors.As(err, &status) {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// The hook of a plugin is what ralph install writes into a person's own settings, but that PATH finds the program.
func TestHooks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the guard of the entry is for POSIX shells")
	}
	home := t.TempDir()
	program := filepath.Join(home, "ralph")
	if out, status := command(t, ".", nil, "go", "build", "-o", program, "../cmd/ralph"); status != 0 {
		t.Fatal(out)
	}
	for _, p := range []struct{ host, settings, hooks string }{
		{"claude-code", ".claude/settings.json", "plugins/ralph/hooks/hooks.json"},
		{"codex", ".codex/hooks.json", "plugins/ralph/hooks/codex.json"},
		{"gemini", ".gemini/settings.json", "plugins/gemini/hooks/hooks.json"},
	} {
		env := []string{"HOME=" + home, "RALPH_STATE_DIR=" + filepath.Join(home, "state"), "CLAUDE_CONFIG_DIR=", "CODEX_HOME="}
		if out, status := command(t, t.TempDir(), env, program, "install", p.host, "--scope", "user", "--policy", "ralph-wiggum"); status != 0 {
			t.Fatal(out)
		}
		equal(t, p.hooks, strings.ReplaceAll(read(t, filepath.Join(home, p.settings)), program+" eval", "ralph eval"))
	}
}

// Each manifest is JSON with the version of CHANGELOG.md, and the marketplaces lead to the plugin.
func TestManifests(t *testing.T) {
	version := regexp.MustCompile(`(?m)^## v([0-9.]+)`).FindStringSubmatch(read(t, "../CHANGELOG.md"))[1]
	for _, file := range []string{"npm/ralph/package.json", "plugins/ralph/.claude-plugin/plugin.json", "plugins/ralph/.codex-plugin/plugin.json", "plugins/gemini/gemini-extension.json"} {
		var m struct {
			Version              string
			Hooks                string
			OptionalDependencies map[string]string
		}
		if err := json.Unmarshal([]byte(read(t, file)), &m); err != nil || m.Version != version {
			t.Errorf("%s has the version %q, want %q: %v", file, m.Version, version, err)
		}
		if m.Hooks != "" {
			read(t, "plugins/ralph/"+m.Hooks)
		}
		for name, v := range m.OptionalDependencies {
			if v != version {
				t.Errorf("%s asks for %s %s", file, name, v)
			}
		}
	}
	const plugin = "./packaging/plugins/ralph"
	for _, file := range []string{"../.claude-plugin/marketplace.json", "../.agents/plugins/marketplace.json"} {
		var m struct{ Plugins []struct{ Source any } }
		if err := json.Unmarshal([]byte(read(t, file)), &m); err != nil || len(m.Plugins) != 1 || !strings.Contains(fmt.Sprint(m.Plugins[0].Source), plugin) {
			t.Errorf("%s does not lead to %s: %v", file, plugin, err)
		}
	}
}

// A command of a plugin has no consent but for the commands of ralph that it names, none of which approves or installs.
func TestCommands(t *testing.T) {
	files, err := filepath.Glob("plugins/ralph/commands/*.md")
	if err != nil || len(files) != 3 {
		t.Fatal(files, err)
	}
	allowed := regexp.MustCompile(`Bash\((ralph (?:start ralph-wiggum|stop|status|log|explain)):\*\)`)
	for _, file := range files {
		head, body, _ := strings.Cut(read(t, file), "\n---\n")
		_, tools, _ := strings.Cut(head, "allowed-tools: ")
		for _, tool := range strings.Split(tools, ", ") {
			if m := allowed.FindStringSubmatch(tool); m == nil || !strings.Contains(body, "`"+m[1]) {
				t.Errorf("%s allows %s", file, tool)
			}
		}
	}
}

// licenses.txt has the licence of each module that the program contains on some system.
func TestLicenses(t *testing.T) {
	modules := map[string]string{"github.com/ralph-sdk/ralph": ".."}
	for _, system := range []string{"linux", "darwin", "windows"} {
		out, status := command(t, "..", []string{"GOOS=" + system, "CGO_ENABLED=0"}, "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/ralph")
		if status != 0 {
			t.Fatal(out)
		}
		for line := range strings.Lines(out) {
			if module, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				modules[module] = dir
			}
		}
	}
	named, of, texts := regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)[^.]*(\.(md|txt))?$`), map[string][]string{}, []string(nil)
	names := make([]string, 0, len(modules))
	for name := range modules {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		entries, err := os.ReadDir(modules[name])
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.IsDir() || !named.MatchString(e.Name()) })
		if err != nil || len(entries) == 0 {
			t.Errorf("%s has no licence: %v", name, err)
		}
		for _, e := range entries {
			text := strings.TrimSpace(strings.ReplaceAll(read(t, filepath.Join(modules[name], e.Name())), "\r\n", "\n"))
			if of[text] == nil {
				texts = append(texts, text)
			}
			if of[text] = append(of[text], name); strings.HasPrefix(name, "golang.org/x/sys ") {
				of[text] = append(of[text], "the standard library of Go") // which has the same text
			}
		}
	}
	var b strings.Builder
	b.WriteString("The licences of ralph and of the modules that the program contains\n")
	for _, text := range texts {
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 72), strings.Join(of[text], "\n"), text)
	}
	equal(t, "licenses.txt", b.String())
}

// The wrapper of npm passes arguments, input and status on. Without the package of its platform it says what to install.
func TestWrapper(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil || runtime.GOOS == "windows" {
		t.Skip("it needs node, and a program that is a script")
	}
	dist, out := t.TempDir(), t.TempDir()
	for _, platform := range []string{"darwin_amd64_v1", "darwin_arm64_v8.0", "linux_amd64_v1", "linux_arm64_v8.0", "windows_amd64_v1", "windows_arm64_v8.0"} {
		dir := filepath.Join(dist, "ralph_"+platform)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"ralph", "ralph.exe"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho \"$@\"\nexit 7\n"), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	packages := filepath.Join(out, "node_modules", "@ralph-sdk")
	if out, status := command(t, ".", nil, "node", "npm/pack.mjs", dist, packages, "1.2.3"); status != 0 {
		t.Fatal(out)
	}
	wrapper := filepath.Join(packages, "ralph", "bin", "ralph.js")
	if out, status := command(t, ".", nil, "node", wrapper, "check", "a b"); out != "check a b\n" || status != 7 {
		t.Errorf("status %d: %s", status, out)
	}
	natives, err := filepath.Glob(filepath.Join(packages, "ralph-*"))
	if err != nil || len(natives) != 6 {
		t.Fatal(natives, err)
	}
	for _, dir := range natives {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	if out, status := command(t, ".", nil, "node", wrapper, "eval"); !strings.Contains(out, "npm install -g @ralph-sdk/ralph.") || status != 1 {
		t.Errorf("status %d: %s", status, out)
	}
}
