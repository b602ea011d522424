package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// Long commands show on a terminal how far they are, and clear that at the end. A pipe, CI and a dumb terminal get nothing.
func TestProgress(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	policy, tests := "ralph: 1\nrules: [{name: r, stop: enough}]\n", "tests:\n- {name: t, given: {}, expect: {rule: r}}\n"
	for name, text := range map[string]string{"a.yaml": policy, "b.yaml": policy, "a_test.yaml": tests, "b_test.yaml": tests} {
		if err := os.MkdirAll(".ralph", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(".ralph", name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		line, env string
		want      string
	}{
		{"check a b", "", "checking 1 of 2\x1b[K\r"},
		{"check a", "", ""},
		{"check a b", "CI=true", ""},
		{"check a b", "TERM=dumb", ""},
		{"test", "", "testing 1 of 2\x1b[K\r"},
		{"test", "CI=1", ""},
	} {
		t.Run(tt.line+" "+tt.env, func(t *testing.T) {
			outer, inner := openTerminal(t)
			var out strings.Builder
			a := &app{stdout: &out, stderr: inner, getenv: func(name string) string {
				value, _ := strings.CutPrefix(tt.env, name+"=")
				if value == tt.env {
					value = map[string]string{"RALPH_STATE_DIR": dir + ".own", "HOME": dir}[name]
				}
				return value
			}}
			status := a.run(t.Context(), strings.Fields(tt.line))
			inner.Close()
			shown, _ := io.ReadAll(outer) // an error is its end
			got := string(shown)
			if status != exitOK || !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" || tt.want != "" && !strings.HasSuffix(got, "\r"+clearLine) {
				t.Errorf("status %d, the terminal gets %q, want %q and what clears it\n%s", status, got, tt.want, out.String())
			}
		})
	}
	var errs strings.Builder
	a := &app{stderr: &errs, getenv: func(string) string { return "" }}
	for range withProgress(a, "testing", []int{1, 2}) {
	}
	if errs.Len() > 0 {
		t.Errorf("a pipe gets %q", errs.String())
	}
}

// openTerminal opens both ends of a terminal.
func openTerminal(t *testing.T) (outer, inner *os.File) {
	t.Helper()
	outer, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { outer.Close() })
	n, err := unix.IoctlGetInt(int(outer.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(outer.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err != nil {
		t.Skip(err)
	}
	if inner, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Skip(err)
	}
	return outer, inner
}
