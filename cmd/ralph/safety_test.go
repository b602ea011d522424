package main

import (
	"io"
	"os"
	"strings"
	"testing"
)

// goOn is a policy that always continues, so only something else can let the agent stop.
func goOn(facts string) map[string]string {
	return map[string]string{".ralph/policy.yaml": "ralph: 1\n" + facts + "rules:\n  - name: go\n    continue: on\n"}
}

// needing is one whose answer hangs on a fact.
func needing(fact string) map[string]string {
	return map[string]string{".ralph/policy.yaml": "ralph: 1\nfacts: {it: {" + fact + "}}\nrules:\n  - name: go\n    when: missing(it) or ok(it)\n    continue: on\n"}
}

func TestGoesOn(t *testing.T) {
	r := newHook(t, goOn("")).run(t)
	if a := r.answer(t); r.status != 0 || a.Decision != "block" || a.Reason != "on" || r.stderr != "" {
		t.Errorf("status %d, stdout %q, stderr %q", r.status, r.stdout, r.stderr)
	}
	r = newHook(t, goOn(""), "--answer", "exit-code").run(t)
	if r.status != 2 || r.stdout != "" || r.stderr != "on\n" {
		t.Errorf("exit-code: status %d, stdout %q, stderr %q", r.status, r.stdout, r.stderr)
	}
}

// Whatever goes wrong, the status is 0, the agent may stop, and the user learns why, in
// the answer and on stderr.
func TestTroubleLetsGo(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	manyParentheses := strings.Repeat("(", 1_000_000)
	for _, c := range []struct {
		name    string
		command string
		files   map[string]string
		args    []string
		stdin   string // the event of a stop if empty
		told    string
	}{
		{name: "source that hangs", command: "bad-ralph", files: needing("hangs: x"), args: []string{"--deadline", "50ms"}, told: "no decision within 50ms"},
		{name: "source that never pauses", command: "bad-ralph", files: needing("spins: x"), args: []string{"--deadline", "50ms"}, told: "no decision within 50ms"},
		{name: "no policy", files: nil, told: "unknown policy"},
		{name: "no such policy", files: nil, args: []string{"--policy", "speckitt"}, told: "speckitt: unknown policy"},
		{name: "folder in place of the policy", files: map[string]string{".ralph/policy.yaml/x": ""}, told: "unknown policy"},
		{name: "broken policy", files: map[string]string{".ralph/policy.yaml": "ralph: 1\nrules: [{name: go, when: nosuch, continue: on}]"}, told: "run `ralph check .ralph/policy.yaml"},
		{name: "policy that is no YAML", files: map[string]string{".ralph/policy.yaml": "ralph: 1\nrules: [\n"}, told: "run `ralph check"},
		{name: "policy of a later version", files: map[string]string{".ralph/policy.yaml": "ralph: 99\nrules: []\n"}, told: "run `ralph check"},
		{name: "binary policy", files: map[string]string{".ralph/policy.yaml": "\x00\x01\xff"}, told: "run `ralph check"},
		{name: "a million parentheses", files: map[string]string{".ralph/policy.yaml": "ralph: 1\nrules:\n  - name: go\n    when: " + manyParentheses + "\n    continue: on\n"}, told: "run `ralph check"},
		{name: "a million brackets", files: map[string]string{".ralph/policy.yaml": "ralph: 1\nrules: " + strings.Repeat("[", 1_000_000)}, told: "run `ralph check"},
		{name: "as many as are read", files: map[string]string{".ralph/policy.yaml": "ralph: 1\nrules:\n  - name: go\n    when: " + strings.Repeat("(", 4000) + "\n    continue: on\n"}, told: "run `ralph check"},
		{name: "unknown param", files: goOn(""), args: []string{"--set", "nosuch=1"}, told: "nosuch"},
		{name: "param without a value", files: goOn(""), args: []string{"--set", "nosuch"}, told: "--set must be name=value"},
		{name: "broken settings", files: with(goOn(""), ".ralph/config.yaml", "set: ["), told: ".ralph/config.yaml"},
		{name: "settings with a typo", files: with(goOn(""), ".ralph/config.yaml", "sets: {}"), told: ".ralph/config.yaml"},
		{name: "garbage", files: goOn(""), stdin: "garbage", told: "it is not JSON"},
		{name: "half an event", files: goOn(""), stdin: `{"session_id": "s-1", `, told: "ends in the middle"},
		{name: "two events", files: goOn(""), stdin: "{}\n{}", told: "send one JSON object"},
		{name: "deep event", files: goOn(""), stdin: strings.Repeat("[", 1_000_000), told: "hook input"},
		{name: "huge event", files: goOn(""), stdin: `{"x": "` + strings.Repeat("x", 17<<20) + `"}`, told: "too large (the limit is 16 MiB)"},
		{name: "unknown flag", files: goOn(""), args: []string{"--polcy", "x"}, told: "unknown flag: --polcy"},
		{name: "argument", files: goOn(""), args: []string{"speckit"}, told: "speckit"},
		{name: "unknown form of answer", files: goOn(""), args: []string{"--answer", "xml"}, told: "--answer must be json or exit-code"},
		{name: "deadline that is none", files: goOn(""), args: []string{"--deadline", "soon"}, told: "deadline"},
		{name: "deadline of nothing", files: goOn(""), args: []string{"--deadline", "0s"}, told: "--deadline must be a duration"},
		{name: "unknown host", files: goOn(""), args: []string{"--host", "nosuch"}, told: "--host must be"},
		{name: "no such input", files: goOn(""), args: []string{"--input", "nosuch.json"}, told: "the event cannot be read"},
		{name: "folder as input", files: goOn(""), args: []string{"--input", "."}, told: "the event cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHook(t, c.files, c.args...)
			h.command = c.command
			if c.stdin != "" {
				h.stdin = strings.NewReader(c.stdin)
			}
			h.run(t).letsGo(t, "", c.told)
			if c.stdin != "" {
				h.stdin = strings.NewReader(c.stdin)
			}
			if r := h.run(t); r.answer(t).SystemMessage == "" {
				t.Error("the person is told nothing")
			}
			// By exit status, too: every error is 0, and stdout is empty.
			if c.stdin != "" {
				h.stdin = strings.NewReader(c.stdin)
			}
			if c.args == nil {
				h.args = append(h.args, "--answer", "exit-code")
				if r := h.run(t); r.status != 0 || r.stdout != "" || !strings.Contains(r.stderr, c.told) {
					t.Errorf("exit-code: status %d, stdout %q, stderr %q", r.status, r.stdout, r.stderr)
				}
			}
		})
	}
}

// A source that panics makes its fact missing, which is reported.
func TestPanicInASource(t *testing.T) {
	h := newHook(t, map[string]string{".ralph/policy.yaml": "ralph: 1\nfacts: {it: {panics: x}}\nrules: [{name: go, when: ok(it), continue: on}]\n"})
	h.command = "bad-ralph"
	h.run(t).letsGo(t, "it: the source panics panicked: boom", "")
}

func with(files map[string]string, name, content string) map[string]string {
	files[name] = content
	return files
}

// Input that is not an event of a project is reported only in the answer: some hosts show
// every line of stderr as an error of the hook.
func TestNoEvent(t *testing.T) {
	for stdin, told := range map[string]string{
		" ":                             "it is empty",
		"null":                          "got null",
		`{"hook_event_name": "Stop"}`:   "has no cwd",
		`{"cwd": "/no/such/directory"}`: "does not exist",
	} {
		h := newHook(t, goOn(""))
		h.stdin = strings.NewReader(stdin)
		r := h.run(t)
		r.letsGo(t, told, "")
		if r.stderr != "" {
			t.Errorf("%s: stderr %q", stdin, r.stderr)
		}
	}
}

// Whether loops are switched off is decided before anything is read, even stdin.
func TestSwitchedOff(t *testing.T) {
	never, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer never.Close()
	h := newHook(t, map[string]string{".ralph/policy.yaml": "broken: ["}, "--nosuch-value-matters=1")
	h.args = []string{"eval"}
	h.stdin, h.env = never, []string{"RALPH_OFF=1"}
	if r := h.run(t); r.status != 0 || r.stdout != "" || r.stderr != "" {
		t.Errorf("status %d, stdout %q, stderr %q", r.status, r.stdout, r.stderr)
	}
}

// An input that never ends is left when the time is up.
func TestStdinWithoutEnd(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	h := newHook(t, goOn(""), "--deadline", "50ms")
	if _, err := io.WriteString(w, `{"session_id": `); err != nil {
		t.Fatal(err)
	}
	h.stdin = r
	h.run(t).letsGo(t, "no decision within 50ms", "no decision within 50ms")
}

// A host that closed its end of a pipe must not end the process by a signal or an
// odd status.
func TestClosedPipes(t *testing.T) {
	closed := func() *os.File {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		r.Close()
		t.Cleanup(func() { w.Close() })
		return w
	}
	long := map[string]string{".ralph/policy.yaml": "ralph: 1\nrules:\n  - name: go\n    continue: " + strings.Repeat("on ", 1000) + "\n    log: a line\n"}
	t.Run("stdout", func(t *testing.T) {
		h := newHook(t, long)
		h.stdout = closed()
		if r := h.run(t); r.status != 0 || !strings.Contains(r.stderr, "the answer could not be written, so the agent may stop") {
			t.Errorf("status %d, stderr %q", r.status, r.stderr)
		}
	})
	t.Run("stderr", func(t *testing.T) {
		h := newHook(t, long)
		h.stderr = closed()
		if r := h.run(t); r.status != 0 || r.answer(t).Decision != "block" {
			t.Errorf("status %d, stdout %q", r.status, r.stdout)
		}
	})
	t.Run("both", func(t *testing.T) {
		h := newHook(t, long)
		h.stdout, h.stderr = closed(), closed()
		if r := h.run(t); r.status != 0 {
			t.Errorf("status %d", r.status)
		}
	})
	t.Run("stderr, by exit status", func(t *testing.T) {
		h := newHook(t, long, "--answer", "exit-code")
		h.stderr = closed()
		if r := h.run(t); r.status != 0 {
			t.Errorf("status %d: the agent is held and nobody can tell it why", r.status)
		}
	})
	t.Run("stdout, and a mistyped flag", func(t *testing.T) {
		h := newHook(t, long, "--nosuch")
		h.stdout = closed()
		if r := h.run(t); r.status != 0 || !strings.Contains(r.stderr, "unknown flag") {
			t.Errorf("status %d, stderr %q", r.status, r.stderr)
		}
	})
}
