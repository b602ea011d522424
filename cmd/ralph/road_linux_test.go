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
	mostFunctions = 315
	mostFiles     = 60
	mostStats     = 30
	mostOpens     = 18 // five are Go's own
)

// TestRoad counts what one stop runs, in a project, below it, and in a work tree.
func TestRoad(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the program twice")
	}
	source, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "CGO_ENABLED=0") // as it is released
	b := newBench(t)
	home := filepath.Dir(b.dir)
	sh := func(script string, env ...string) string {
		t.Helper()
		cmd := exec.Command("sh", "-ec", script)
		cmd.Dir, cmd.Env = b.dir, append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}, env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, out)
		}
		return string(out)
	}
	build := func(name string, flags ...string) string {
		t.Helper()
		program := filepath.Join(home, name)
		cmd := exec.Command("go", append(append([]string{"build", "-o", program}, flags...), ".")...)
		cmd.Dir, cmd.Env = source, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return program
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
	sh(`mkdir -p sub/deep; git init -q; git add .; git -c user.name=n -c user.email=e commit -qm x; git worktree add -q ../tree`)
	stop := func(program, dir string, env ...string) string {
		t.Helper()
		event := fmt.Sprintf(`{"session_id": "s", "transcript_path": %q, "cwd": %q, "prompt_id": "p", "hook_event_name": "Stop", "stop_hook_active": false,
			"last_assistant_message": "One.", "permission_mode": "default", "background_tasks": [], "session_crons": []}`, filepath.Join(b.dir, "session.jsonl"), dir)
		b.write("../event.json", event)
		return sh(program+" eval --host claude-code --policy small < ../event.json", append(env, "CLAUDE_PROJECT_DIR="+b.dir)...)
	}
	counts := filepath.Join(home, "counts")
	if err := os.Mkdir(counts, 0o755); err != nil {
		t.Fatal(err)
	}
	covered := build("covered", "-cover", "-coverpkg=github.com/ralph-sdk/ralph/...")
	if out := stop(covered, b.dir, "GOCOVERDIR="+counts); !strings.Contains(out, "Task 2 of 3.") {
		t.Fatal(out)
	}
	list := exec.Command("go", "tool", "covdata", "func", "-i="+counts)
	list.Dir, list.Env = source, env
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	functions, in := 0, map[string]bool{}
	for line := range strings.Lines(string(out)) {
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
	plain, trace := build("plain"), filepath.Join(home, "trace")
	for _, dir := range []string{b.dir, filepath.Join(b.dir, "sub", "deep"), filepath.Join(home, "tree")} {
		stop(strace+" -f -o "+trace+" "+plain, dir)
		calls, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		extra := strings.Count(b.dir, "/") - 4 // an ordinary project is /home/NAME/src/PROJECT
		stats, opens := len(regexp.MustCompile(`stat(at|x)?\(`).FindAll(calls, -1))-extra, len(regexp.MustCompile(`open(at)?\(`).FindAll(calls, -1))
		t.Logf("%s: %d stat, %d open", dir, stats, opens)
		if stats > mostStats || opens > mostOpens || opens < 8 {
			t.Errorf("a stop in %s makes %d calls of stat and %d of open, and may make %d and %d", dir, stats, opens, mostStats, mostOpens)
		}
	}
}
