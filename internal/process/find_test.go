package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

func TestFind(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("programs have other names")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	for name, mode := range map[string]fs.FileMode{"bin/tool": 0o755, "bin/text": 0o644, "tool": 0o755, "sub/tool": 0o755} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(dir, "bin")
	for _, c := range []struct {
		path, program, want string
		err                 error
	}{
		{bin, "tool", filepath.Join(bin, "tool"), nil},
		{".:sub::" + bin, "tool", filepath.Join(bin, "tool"), nil},
		{".:sub:", "tool", "", exec.ErrNotFound},
		{bin, "text", "", exec.ErrNotFound},
		{bin, "", "", exec.ErrNotFound},
		{bin, "..", "", exec.ErrNotFound},
		{bin, "./tool", filepath.Join(dir, "sub/tool"), nil},
		{bin, "../bin/tool", filepath.Join(bin, "tool"), nil},
		{bin, bin + "/tool", filepath.Join(bin, "tool"), nil},
		{bin, "./none", "", exec.ErrNotFound},
		{bin, "../bin/text", "", fs.ErrPermission},
	} {
		t.Setenv("PATH", c.path)
		got, err := Find(c.program, filepath.Join(dir, "sub"))
		if got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s in PATH=%s: %q, %v; want %q, %v", c.program, c.path, got, err, c.want, c.err)
		}
	}
}

func TestBatch(t *testing.T) {
	for _, c := range []struct {
		goos, program, arg string
		ok                 bool
	}{
		{"windows", `C:\a.exe`, `"&`, true},
		{"windows", `C:\a.CMD`, "plain", true},
		{"windows", `C:\a.CMD`, `a" & b`, false},
		{"windows", `C:\a.bat. `, "%PATH%", false},
		{"linux", "/a.cmd", "&", true},
	} {
		if err := checkBatch(c.goos, c.program, []string{c.arg}); (err == nil) != c.ok {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
