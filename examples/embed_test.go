package examples_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// answer is what a program answered to its host.
type answer struct {
	Stdout map[string]any // nil if it printed nothing
	Stderr string
	Status int
}

// buildPrograms compiles the programs of embed/ and returns their directory.
func buildPrograms(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "./embed/...")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return dir
}

// ask runs a program as the hook of an agent in a project.
func ask(t *testing.T, program, dir, stdin string) answer {
	t.Helper()
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	cmd := exec.Command(program)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "RALPH_STATE_DIR="+filepath.Join(t.TempDir(), "state"), "RALPH_OFF=", "CLAUDE_PROJECT_DIR=")
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	a := answer{Stderr: stderr.String(), Status: cmd.ProcessState.ExitCode()}
	if stdout.Len() > 0 {
		if err := json.Unmarshal(stdout.Bytes(), &a.Stdout); err != nil {
			t.Fatalf("stdout is %q: %v", stdout.String(), err)
		}
	}
	return a
}

// The programs of embed/ answer hooks as processes of their own, with their policies inside.
func TestEmbed(t *testing.T) {
	bin := buildPrograms(t)
	const stop = `{"session_id": "s1", "hook_event_name": "Stop", "cwd": ".", "stop_hook_active": false}`
	for _, test := range []struct {
		name    string
		program string
		files   files
		stdin   string
		want    answer
	}{
		{
			name: "items are open", program: "minimal", stdin: stop,
			files: files{"TODO.md": "# To do\n\n- [x] wash\n- [ ] dry\n  - with the blue towel\n- [ ] put away\n"},
			want: answer{Stdout: event{"decision": "block",
				"reason": "TODO.md has open items (2). Do the next one, then tick its box:\n\n- [ ] dry\n  - with the blue towel"}},
		},
		{name: "all is ticked", program: "minimal", stdin: stop, files: files{"TODO.md": "- [x] wash\n"}},
		{name: "no list", program: "minimal", stdin: stop},
		{
			name: "garbage from the host", program: "minimal", stdin: "{", files: files{"TODO.md": "- [ ] dry\n"},
			want: answer{Stderr: "[ralph] …", Stdout: event{"systemMessage": "[ralph] …"}},
		},
		{
			name: "too little is covered", program: "source", stdin: stop,
			files: files{"coverage.out": "mode: set\na.go:1.1,2.2 3 1\na.go:3.1,4.2 2 0\nb.go:1.1,2.2 1 4\n"},
			want: answer{Stdout: event{"decision": "block", "systemMessage": "Coverage: 66.7 %",
				"reason": "The tests cover 66.7 % of the statements (4 of 6), 80 % are required.\n" +
					"Test what is not covered yet, then run: go test -coverprofile=coverage.out ./..."}},
		},
		{name: "enough is covered", program: "source", stdin: stop, files: files{"coverage.out": "mode: set\na.go:1.1,2.2 9 1\na.go:3.1,4.2 1 0\n"}},
		{name: "nothing was measured", program: "source", stdin: stop},
		{
			name: "no profile", program: "source", stdin: stop, files: files{"coverage.out": "mode: set\nnonsense\n"},
			want: answer{Stdout: event{"systemMessage": "[ralph] …"}},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			p := &project{t: t, dir: dir}
			p.write(test.files)
			got := ask(t, filepath.Join(bin, test.program), dir, test.stdin)
			// Wording of other packages is not this test's business.
			if m, ok := got.Stdout["systemMessage"].(string); ok && strings.HasPrefix(m, "[ralph] ") {
				got.Stdout["systemMessage"] = "[ralph] …"
			}
			if strings.HasPrefix(got.Stderr, "[ralph] ") {
				got.Stderr = "[ralph] …"
			}
			diff(t, normal(t, test.want), normal(t, got))
		})
	}
}

// normal returns a value as JSON knows it, so that named map types compare equal.
func normal(t *testing.T, v any) any {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// The smallest program has at most 15 lines, its policy included.
func TestSmallestProgram(t *testing.T) {
	src, err := os.ReadFile("embed/decide_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, program, found := strings.Cut(string(src), "\nfunc Example_decide() {\n")
	if n := 1 + strings.Count(program, "\n"); !found || n > 15 {
		t.Errorf("the program of embed/decide_test.go has %d lines, want at most 15", n)
	}
}
