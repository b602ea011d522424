//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// The ID of the user that root becomes in these tests, since root may do everything.
const nobody = 65534

// asOrdinaryUser runs a hook as a user other than root, with a state directory that this
// user may write.
func asOrdinaryUser(t *testing.T, h hook) hook {
	t.Helper()
	if os.Geteuid() != 0 {
		return h
	}
	program := copyProgram(t)
	for _, dir := range []string{h.dir, h.store} {
		if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chown(h.store, nobody, nobody); err != nil {
		t.Fatal(err)
	}
	h.prepare = func(cmd *exec.Cmd) {
		cmd.Path = program
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	return h
}

// copyProgram makes a copy of the program that everybody may run.
func copyProgram(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	path := filepath.Join(dir, "ralph")
	out, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, in); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// stravinskyHook returns a hook whose loop continues unless the test prevents it.
func stravinskyHook(t *testing.T) (h hook, unchanged func()) {
	t.Helper()
	const body = "Do the work.\n"
	h = newHook(t, map[string]string{stravinskyFile: countedLoop(3, body)}, "--policy", "stravinsky")
	return h, func() {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(h.dir, stravinskyFile))
		if err != nil {
			t.Fatal(err)
		}
		if string(content) != countedLoop(3, body) {
			t.Errorf("the file is now %q", content)
		}
		if left := leftovers(t, h.dir); len(left) > 0 {
			t.Errorf("left behind: %q", left)
		}
	}
}

func TestReadOnlyFolder(t *testing.T) {
	h, unchanged := stravinskyHook(t)
	h = asOrdinaryUser(t, h)
	folder := filepath.Join(h.dir, ".stravinsky")
	if err := os.Chmod(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(folder, 0o755) })
	for range 2 {
		h.run(t).letsGo(t, "cannot write .stravinsky/continuation-loop.md: permission denied", "permission denied")
		unchanged()
	}
	// What did not happen was not counted.
	h.prepare = nil
	if streak := recordOf(t, h).Streak; streak.Total != 0 {
		t.Errorf("it remembers %+v", streak)
	}
}

func TestReadOnlyStateDirectory(t *testing.T) {
	h, unchanged := stravinskyHook(t)
	h = asOrdinaryUser(t, h)
	if err := os.Chmod(h.store, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(h.store, 0o755) })
	h.run(t).letsGo(t, "the loop cannot be counted, so it ends: cannot lock", "permission denied")
	unchanged()
}

func TestNoStateDirectory(t *testing.T) {
	h, unchanged := stravinskyHook(t)
	h.env = []string{"RALPH_STATE_DIR=", "HOME=", "XDG_STATE_HOME="}
	h.run(t).letsGo(t, "set RALPH_STATE_DIR", "set RALPH_STATE_DIR")
	unchanged()
}

func TestUnreadableFiles(t *testing.T) {
	t.Run("state", func(t *testing.T) {
		h, unchanged := stravinskyHook(t)
		h = asOrdinaryUser(t, h)
		path := filepath.Join(h.dir, stravinskyFile)
		if err := os.Chmod(path, 0); err != nil {
			t.Fatal(err)
		}
		h.run(t).letsGo(t, "cannot be read: permission denied", "")
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		unchanged()
	})
	t.Run("policy", func(t *testing.T) {
		h := asOrdinaryUser(t, newHook(t, goOn("")))
		if err := os.Chmod(filepath.Join(h.dir, ".ralph/policy.yaml"), 0); err != nil {
			t.Fatal(err)
		}
		h.run(t).letsGo(t, "the policy cannot be used", "permission denied")
	})
	t.Run("settings", func(t *testing.T) {
		h := asOrdinaryUser(t, newHook(t, with(goOn(""), ".ralph/config.yaml", "set: {}")))
		if err := os.Chmod(filepath.Join(h.dir, ".ralph/config.yaml"), 0); err != nil {
			t.Fatal(err)
		}
		h.run(t).letsGo(t, ".ralph/config.yaml cannot be read", ".ralph/config.yaml cannot be read")
	})
	t.Run("project", func(t *testing.T) {
		h := asOrdinaryUser(t, newHook(t, goOn("")))
		if err := os.Chmod(h.dir, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(h.dir, 0o755) })
		prepare := h.prepare
		h.prepare = func(cmd *exec.Cmd) {
			if prepare != nil {
				prepare(cmd)
			}
			cmd.Dir = "/"
		}
		h.run(t).letsGo(t, "", "")
		if a := h.run(t).answer(t); a.SystemMessage == "" {
			t.Error("the person is told nothing")
		}
	})
}

// Where nothing more can be written, the loop ends aloud, and nothing is lost. (TestFullDisks of internal/attack fills
// the disk of the project.)
func TestFullDisk(t *testing.T) {
	h, unchanged := stravinskyHook(t)
	program := copyProgram(t)
	h.prepare = func(cmd *exec.Cmd) {
		cmd.Path = "/bin/sh"
		cmd.Args = append([]string{"sh", "-c", `ulimit -f 0; exec "$0" "$@"`, program}, h.args...)
	}
	h.run(t).letsGo(t, "file too large", "file too large")
	unchanged()
}
