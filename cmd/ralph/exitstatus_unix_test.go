//go:build unix

package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// bareHook returns a hook whose program is named ralph, on the PATH, and readable by
// every user.
func bareHook(t *testing.T, files map[string]string, args ...string) (h hook, program string) {
	t.Helper()
	h = newHook(t, files, args...)
	bin := t.TempDir()
	for _, dir := range []string{h.dir, h.store, bin} {
		for _, d := range []string{dir, filepath.Dir(dir)} {
			if err := os.Chmod(d, 0o777); err != nil {
				t.Fatal(err)
			}
		}
	}
	h.store = filepath.Join(h.store, "own") // of the user who runs it
	program = filepath.Join(bin, "ralph")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	h.env = append(h.env, "PATH="+bin+":"+os.Getenv("PATH"))
	return h, program
}

// by returns a hook that runs another program, which then starts ralph.
func (h hook) by(argv ...string) hook {
	h.prepare = func(cmd *exec.Cmd) {
		path, err := exec.LookPath(argv[0])
		if err != nil {
			path = argv[0]
		}
		cmd.Path, cmd.Args = path, argv
	}
	return h
}

// installedLine returns the command line that install writes for Claude Code.
func installedLine(t *testing.T, h hook, program string, settings string) string {
	t.Helper()
	file := filepath.Join(h.dir, ".claude", "settings.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(settings), 0o644); err != nil {
		t.Fatal(err)
	}
	if r := h.by(program, "install", "claude-code").run(t); r.status != 0 {
		t.Fatalf("status %d: %s%s", r.status, r.stdout, r.stderr)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var s struct {
		Hooks struct {
			Stop []struct {
				Hooks []map[string]any
			}
		}
	}
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatal(err)
	}
	handler := s.Hooks.Stop[0].Hooks[0]
	line, ok := handler["command"].(string)
	if _, list := handler["args"]; !ok || list {
		t.Fatalf("%s: want a line for a shell, which all programs that read the file understand", data)
	}
	return line
}

// shells lists the shells of this machine that hosts may use.
func shells() (found [][]string) {
	for _, shell := range [][]string{{"sh"}, {"bash"}, {"dash"}, {"zsh"}, {"ksh"}, {"mksh"}, {"busybox", "ash"}} {
		if _, err := exec.LookPath(shell[0]); err == nil {
			found = append(found, append(shell, "-c"))
		}
	}
	return found
}

// A crash while the packages are initialised ends by a signal.
func TestCrashBeforeMain(t *testing.T) {
	for _, level := range []string{"", "GOTRACEBACK=none", "GOTRACEBACK=single"} {
		h := newHook(t, goOn(""))
		h.env = []string{"GODEBUG=fips140=bogus", level}
		r := h.run(t)
		if status, ok := r.state.Sys().(syscall.WaitStatus); !ok || !status.Signaled() {
			t.Errorf("%s: status %d, want a signal", level, r.status)
		}
	}
}

// The crash mode is set before any package is initialised that could crash.
func TestCrashModeComesFirst(t *testing.T) {
	h := newHook(t, goOn(""))
	h.env = []string{"GODEBUG=inittrace=1"}
	var order []string
	for line := range strings.Lines(h.run(t).stderr) {
		if name, ok := strings.CutPrefix(line, "init "); ok {
			order = append(order, strings.Fields(name)[0])
		}
	}
	trace := strings.Join(order, " ")
	before, after, ok := strings.Cut(trace, "github.com/ralph-sdk/ralph/internal/fatal ")
	if !ok || !strings.Contains(after, "jsonschema") {
		t.Fatalf("initialised: %s", trace)
	}
	for _, name := range []string{"errors", "sync", "syscall", "time", "os", "reflect", "crypto/internal/fips140", "github.com/ralph-sdk/ralph/rules"} {
		if strings.Contains(" "+before, " "+name+" ") {
			t.Errorf("%s is initialised first", name)
		}
	}
}

// The command line that install writes works as ralph itself does, in every shell.
func TestInstalledLine(t *testing.T) {
	h, program := bareHook(t, goOn(""))
	line := installedLine(t, h, program, "{}")
	for _, shell := range shells() {
		t.Run(strings.Join(shell, " "), func(t *testing.T) {
			h := h.by(append(shell, line)...)
			if r := h.run(t); r.status != 0 || r.answer(t).Reason != "on" || r.stderr != "" {
				t.Errorf("status %d, stdout %q, stderr %q", r.status, r.stdout, r.stderr)
			}
			h.stdin = strings.NewReader("garbage")
			h.run(t).letsGo(t, "it is not JSON", "it is not JSON")
		})
	}
}

// The installed line never ends with status 2, even if Go itself ends the program with
// it.
func TestInstalledLineNeverEndsWith2(t *testing.T) {
	h, program := bareHook(t, goOn(""))
	line := installedLine(t, h, program, "{}")
	for name, c := range map[string]struct {
		env  string
		line string
		bare int // how ralph itself ends
	}{
		"a malformed GOMEMLIMIT": {env: "GOMEMLIMIT=512MB", bare: 2},
		"an unknown GODEBUG":     {env: "GODEBUG=fips140=bogus", bare: -1},
		"little address space":   {line: "ulimit -v 300000 && ", bare: 2},
		"another program":        {line: "ralph() { return 2; }; ", bare: 2},
	} {
		t.Run(name, func(t *testing.T) {
			h := h
			if c.env != "" {
				h.env = append(h.env, c.env)
			}
			if r := h.by("sh", "-c", c.line+"ralph eval").run(t); r.status != c.bare && !(c.bare == -1 && r.status == 128+int(syscall.SIGABRT)) {
				t.Skipf("without the guard: status %d, want %d", r.status, c.bare)
			}
			for _, shell := range shells() {
				if r := h.by(append(shell, c.line+line)...).run(t); r.status == 2 || c.bare == 2 && r.status != 1 {
					t.Errorf("%q: status %d, stderr %q", shell, r.status, r.stderr)
				}
			}
		})
	}
}

// With --answer exit-code, install writes no guard: status 2 is an answer there.
func TestInstalledLineAnswersByStatus(t *testing.T) {
	h, program := bareHook(t, goOn(""))
	const settings = `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "ralph", "args": ["eval", "--answer", "exit-code"]}]}]}}`
	line := installedLine(t, h, program, settings)
	if r := h.by("sh", "-c", line).run(t); r.status != 2 || r.stderr != "on\n" {
		t.Errorf("%s: status %d, stderr %q", line, r.status, r.stderr)
	}
}
