//go:build unix

package main

import (
	"bytes"
	"fmt"
	"github.com/ralph-sdk/ralph/host"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// Status 2 continues an agent, and a Go program that crashes ends with 2. Whatever a policy, a file or an event is, the hook ends with 0, 1
// or a signal, and says why.
func TestCrashes(t *testing.T) {
	bomb := "a0: &a0 [x, x]\n"
	for i := range 30 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9))
	}
	when := func(expression string) string {
		return "ralph: 1\nfacts: {state: {json: state.json}}\nrules:\n  - name: go\n    when: >-\n      " + expression + "\n    stop: stop\n"
	}
	const deep = 1_000_000
	for _, c := range []struct {
		name, policy, state, event, want string
	}{
		{name: "parentheses", policy: when(strings.Repeat("(", deep)), want: "policy.yaml:6:"},
		{name: "closed parentheses", policy: when(strings.Repeat("(", deep/3) + "1" + strings.Repeat(")", deep/3)), want: "policy.yaml:6:"},
		{name: "nots", policy: when(strings.Repeat("!", deep) + "true"), want: "policy.yaml:6:"},
		{name: "a long sum", policy: when("1" + strings.Repeat("+1", deep/3) + " > 0"), want: "policy.yaml:6:"},
		{name: "lists in YAML", policy: "ralph: 1\nrules: " + strings.Repeat("[", deep), want: "policy.yaml"},
		{name: "an alias bomb", policy: "ralph: 1\n" + bomb + "rules: *a30\n", want: "policy.yaml"},
		{name: "a large policy", policy: "ralph: 1\n# " + strings.Repeat("x", 2<<20), want: "at most 1048576"},
		{name: "a list without end", policy: when("len(map(1..1000000000, #)) > 0"), want: "rule go"},
		{name: "a long text", policy: when(`len(repeat("x", 2000000000)) > 0`), want: "memory budget"},
		{name: "a regular expression", policy: when(`"a" matches "((a{1000}){1000}){1000}"`), want: "policy.yaml"},
		{name: "lists in a state", policy: when("state.a > 0"), state: strings.Repeat("[", deep), want: "state.json"},
		{name: "a large state", policy: when("state.a > 0"), state: `{"a": "` + strings.Repeat("x", 20<<20) + `"}`, want: "state.json"},
		{name: "lists in an event", policy: when("true"), event: `{"session_id": "s", "hook_event_name": "Stop", "x": ` + strings.Repeat("[", deep), want: "not JSON"},
		{name: "a large event", policy: when("true"), event: event + strings.Repeat(" ", host.MaxInput), want: "64 MiB"},
		{name: "a session that is no path", policy: when("1 > 0"), event: `{"hook_event_name": "Stop", "session_id": "../../` + strings.Repeat("x", 1<<20) + `\u0000"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.event == "" {
				c.event = event
			}
			b := &bench{t: t, dir: t.TempDir()}
			b.write(".ralph/policy.yaml", c.policy)
			b.write("state.json", c.state)
			cmd := exec.Command("ralph", "eval", "--answer", "exit-code")
			cmd.Dir = b.dir
			cmd.Env = append(os.Environ(), "RALPH_STATE_DIR="+t.TempDir())
			cmd.Stdin = strings.NewReader(c.event)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			err := cmd.Run()
			if status := cmd.ProcessState.ExitCode(); status == exitContinue || status > exitFound {
				t.Errorf("the status is %d, %v", status, err)
			}
			if got := stderr.String(); !strings.Contains(got, c.want) || len(got) > 100_000 {
				t.Errorf("want %q, got %d bytes: %.1000s", c.want, len(got), got)
			}
		})
	}
}

// The answer is lost, or the event is: the hook neither hangs nor crashes, and what cannot be counted is not continued.
func TestOutputs(t *testing.T) {
	full := ""
	if _, err := os.Stat("/dev/full"); err == nil {
		full = "the answer could not be written, so the agent may stop"
	}
	for _, c := range []struct {
		line           string
		status         int
		stdout, stderr string
	}{
		{"ralph eval", 0, "block", ""},
		{"ralph eval >&-", 0, "", ""},
		{"ralph eval --answer exit-code", 2, "", "Go on."},
		{"ralph eval 2>&1 >&- | true", 0, "", ""},
		{"ralph eval <&-", 0, "it is empty", ""},
		{"ralph eval <.", 0, "the event: ", ""},
		{"ralph eval </dev/zero", 0, "larger than 64 MiB", ""},
		{"[ ! -e /dev/full ] || ralph eval >/dev/full", 0, "", full},
		{"[ ! -e /dev/full ] || ralph eval --answer exit-code 2>/dev/full", 0, "", ""},
		{"ulimit -f 0; ralph eval", 0, "cannot be kept", ""},
		{"(ulimit -v 65536; ralph eval || exit 1)", 1, "", ""},
		{"./no-such-ralph eval || exit 1", 1, "", ""},
	} {
		t.Run(c.line, func(t *testing.T) {
			b := newBench(t)
			b.write(".ralph/policy.yaml", "ralph: 1\nrules: [{name: go, continue: Go on.}]\n")
			cmd := exec.Command("sh", "-c", c.line)
			var stdout, stderr bytes.Buffer
			cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(event), &stdout, &stderr
			_ = cmd.Run() // the status says more
			if status := cmd.ProcessState.ExitCode(); status != c.status {
				t.Errorf("the status is %d, want %d", status, c.status)
			}
			if !strings.Contains(stdout.String(), c.stdout) || c.stdout != "block" && strings.Contains(stdout.String(), "block") {
				t.Errorf("stdout: want %q, got %s", c.stdout, stdout.String())
			}
			if !strings.Contains(stderr.String(), c.stderr) {
				t.Errorf("stderr: want %q, got %s", c.stderr, stderr.String())
			}
		})
	}
}

// With few files or little memory the Go runtime fails at one place or another. It never ends with 2, and no file is said to be damaged.
func TestFewFiles(t *testing.T) {
	b := newBench(t)
	b.write(".ralph/policy.yaml", "ralph: 1\nrules: [{name: go, continue: Go on.}]\n")
	for n := 3; n <= 16; n++ {
		cmd := exec.Command("sh", "-c", fmt.Sprintf("ulimit -n %d; exec ralph eval", n))
		cmd.Stdin = strings.NewReader(event)
		out, _ := cmd.CombinedOutput() // the status says more
		if status := cmd.ProcessState.ExitCode(); status == exitContinue || strings.Contains(string(out), "remove") {
			t.Errorf("with %d files the status is %d: %s", n, status, out)
		}
	}
}

// The hook ends itself when a decision takes too long, or too much memory.
func TestGuard(t *testing.T) {
	ended := make(chan error)
	stop := guard(0, func(err error) { ended <- err })
	if err := <-ended; !strings.Contains(err.Error(), "no decision within") {
		t.Error(err)
	}
	stop()
	much := make([]byte, maxHeap+1) // which is not touched
	var once sync.Once
	stop = guard(time.Hour, func(err error) { once.Do(func() { ended <- err }) })
	if err := <-ended; !strings.Contains(err.Error(), "more than 1024 MiB of memory") {
		t.Error(err)
	}
	stop()
	runtime.KeepAlive(much)
	runtime.GC() // it does not count for the tests that follow
}
