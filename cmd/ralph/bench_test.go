package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// manyRules is a policy of n rules over a state, all of which are tried. Only the last one holds.
func manyRules(n int) string {
	var b strings.Builder
	b.WriteString("ralph: 1\nfacts:\n  state: {json: state.json, inline: true, schema: {properties: {phase: {type: string}, index: {type: integer}}}}\nrules:\n")
	for i := range n - 1 {
		fmt.Fprintf(&b, "  - {name: rule%d, when: 'phase == \"work\" and index == %d', stop: 'index %d'}\n", i, i+1, i+1)
	}
	return b.String() + "  - {name: last, when: index == 0, continue: all rules were tried}\n"
}

// BenchmarkProcess measures a hook as its host does: whole processes, in turn with an empty Go program. x-empty is the median of the
// ratios of the pairs.
//
//	go test -run '^$' -bench Process -benchtime 100x ./cmd/ralph
func BenchmarkProcess(b *testing.B) {
	dir := b.TempDir()
	write := func(name, text string) {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	build := func(name, from string) string {
		program := filepath.Join(dir, name)
		cmd := exec.Command("go", "build", "-trimpath", "-o", program, from)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		return program
	}
	write("empty.go", "package main\n\nfunc main() {}\n")
	write("rules/.ralph/rules100.yaml", manyRules(100))
	write("rules/.ralph/rules1000.yaml", manyRules(1000))
	write("rules/state.json", `{"phase": "work", "index": 0}`)
	if err := os.CopyFS(filepath.Join(dir, "speckit"), os.DirFS("../../examples/demo/speckit")); err != nil {
		b.Fatal(err)
	}
	empty, ralph := build("empty", filepath.Join(dir, "empty.go")), build("ralph", ".")
	for _, c := range []struct{ name, project, policy, want string }{
		{"idle", "none", "policy", ""},
		{"speckit", "speckit", "speckit", `"decision":"block"`},
		{"rules100", "rules", "rules100", "all rules were tried"},
		{"rules1000", "rules", "rules1000", "all rules were tried"},
	} {
		b.Run(c.name, func(b *testing.B) {
			args := []string{"eval", "--policy", c.policy}
			if c.project == "none" { // no policy is named, and there is none
				args = args[:1]
			}
			write(c.project+"/TODO.md", "")
			run := func(n int, program string, args ...string) float64 {
				cmd := exec.Command(program, args...)
				cmd.Env = append(os.Environ(), "HOME="+dir, "RALPH_STATE_DIR="+filepath.Join(dir, "state"))
				cmd.Stdin = strings.NewReader(fmt.Sprintf(`{"session_id": "%s%d", "hook_event_name": "Stop", "cwd": %q}`, c.name, n, filepath.Join(dir, c.project)))
				began := time.Now()
				out, err := cmd.Output()
				took := time.Since(began)
				if err != nil || !strings.Contains(string(out), c.want) && program == ralph {
					b.Fatalf("%v: %s", err, out)
				}
				return took.Seconds()
			}
			var ratios []float64
			for i := 0; b.Loop(); i++ {
				ratios = append(ratios, run(i, ralph, args...)/run(i, empty))
			}
			slices.Sort(ratios)
			b.ReportMetric(ratios[len(ratios)/2], "x-empty")
		})
	}
}
