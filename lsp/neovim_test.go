package lsp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Neovim, as Debian has it, shows findings while one types, and does what ralph lsp offers.
func TestNeovim(t *testing.T) {
	nvim, err := exec.LookPath("nvim")
	if err != nil {
		t.Skip("Neovim is not installed: apt-get install neovim")
	}
	script, err := filepath.Abs("testdata/neovim.lua")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	ralph := filepath.Join(dir, "ralph.exe")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", ralph, "../cmd/ralph").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const policy = `ralph: 1
facts:
  state: {json: s.json, schema: {properties: {phase: {enum: [plan, work]}}}}
rules:
  - name: go
    when: state.phaze == "work"
    continue: "on"
limits: {repeats: 3}
`
	if err := os.Mkdir(filepath.Join(dir, ".ralph"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, ".ralph", "p.yaml")
	if err := os.WriteFile(file, []byte(policy), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), nvim, "--headless", "--clean", "-n", file, "-c", "luafile "+script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "RALPH_PROGRAM="+ralph, "HOME="+dir, "XDG_STATE_HOME="+dir, "XDG_CACHE_HOME="+dir)
	out, err := cmd.Output()
	want := `ralph unknown-field 6:16 unknown field "phaze"; the declared fields are "phase"
corrected
hover: ` + "```" + ` field phase: "plan" | "work" ` + "```" + `
completion: phase
definition: line 3
renamed:     when: task.phase == "work"
ended
`
	if diff := cmp.Diff(want, strings.ReplaceAll(string(out), "\r", "")); diff != "" || err != nil {
		t.Errorf("%v, -want +got\n%s", err, diff)
	}
}
