package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The most that one stop of a small policy takes, as Claude Code's hook with a session file: functions and files of this module that run,
// and system calls.
const (
	mostFunctions = 250
	mostFiles     = 60
	mostStats     = 30
	mostOpens     = 18 // five are Go's own
)

// TestRoad counts what one stop runs, in a project, below it, and in a work tree. It is nightly: RALPH_STORM=full.
func TestRoad(t *testing.T) {
	if os.Getenv("RALPH_STORM") != "full" {
		t.Skip("it builds the program twice: set RALPH_STORM=full")
	}
	source, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	environ := append(os.Environ(), "CGO_ENABLED=0") // as it is released
	b := newBench(t)
	home := filepath.Dir(b.dir)
	run := func(dir string, env []string, name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	b.write(".ralph/small.yaml", `ralph: 1
facts:
  state: {json: state.json, schema: {required: [phase], properties: {phase: {type: string}, index: {type: integer, default: 0}}}, inline: true}
rules:
  - {name: more, when: phase == "work" and index < 3, continue: "Task ${index + 1} of 3."}
  - {name: end, when: phase == "done", done: all is done}
`)
	b.write("state.json", `{"phase": "work", "index": 1}`)
	b.write("session.jsonl", `{"type": "user", "message": {"role": "user", "content": "go"}}
{"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": "One."}]}}
`)
	b.write("../counts/none", "")
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "CLAUDE_PROJECT_DIR=" + b.dir, "GOCOVERDIR=" + filepath.Join(home, "counts")}
	run(b.dir, env, "sh", "-ec", "mkdir -p sub/deep; git init -q; git add .; git -c user.name=n -c user.email=e commit -qm x; git worktree add -q ../tree")
	stop := func(dir, program string) string {
		t.Helper()
		b.write("../event.json", fmt.Sprintf(`{"session_id": "s", "transcript_path": %q, "cwd": %q, "prompt_id": "p", "hook_event_name": "Stop",
			"stop_hook_active": false, "last_assistant_message": "One.", "permission_mode": "default"}`, filepath.Join(b.dir, "session.jsonl"), dir))
		return run(b.dir, env, "sh", "-c", program+" eval --host claude-code --policy small < ../event.json")
	}
	run(source, environ, "go", "build", "-o", home, "-cover", "-coverpkg=github.com/ralph-sdk/ralph/...", ".")
	if out := stop(b.dir, filepath.Join(home, "ralph")); !strings.Contains(out, "Task 2 of 3.") {
		t.Fatal(out)
	}
	out := run(source, environ, "go", "tool", "covdata", "func", "-i="+filepath.Join(home, "counts"))
	functions, in := 0, map[string]bool{}
	for line := range strings.Lines(out) {
		file, _, ok := strings.Cut(line, ":\t")
		if f := strings.Fields(line); ok && f[len(f)-1] != "0.0%" {
			path, _, _ := strings.Cut(file, ":")
			functions++
			in[path] = true
		}
	}
	t.Logf("%d functions in %d files", functions, len(in))
	if functions > mostFunctions || len(in) > mostFiles || functions < 100 {
		t.Errorf("a stop runs %d functions in %d files, and may run %d in %d", functions, len(in), mostFunctions, mostFiles)
	}
	strace, err := exec.LookPath("strace")
	if err != nil {
		t.Skip("there is no strace to count system calls")
	}
	run(source, environ, "go", "build", "-o", home, ".")
	for _, dir := range []string{b.dir, filepath.Join(b.dir, "sub", "deep"), filepath.Join(home, "tree")} {
		calls := stop(dir, strace+" -f "+filepath.Join(home, "ralph")) // its output too
		extra := strings.Count(b.dir, "/") - 4                         // an ordinary project is /home/NAME/src/PROJECT
		stats, opens := len(regexp.MustCompile(`stat(at|x)?\(`).FindAllString(calls, -1))-extra, len(regexp.MustCompile(`open(at)?\(`).FindAllString(calls, -1))
		t.Logf("%s: %d stat, %d open", dir, stats, opens)
		if stats > mostStats || opens > mostOpens || opens < 8 {
			t.Errorf("a stop in %s makes %d calls of stat and %d of open, and may make %d and %d", dir, stats, opens, mostStats, mostOpens)
		}
	}
}
