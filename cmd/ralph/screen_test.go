package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
)

func TestScreen(t *testing.T) {
	for _, c := range []struct {
		name, text string
		colors     bool
		want       string
	}{
		{"plain text", "plain äöü 日本 ✓ 👩‍💻\n\ttabs\r\n", false, "plain äöü 日本 ✓ 👩‍💻\n\ttabs\n"},
		{"a title", "a\x1b]0;title\a", false, `a\x1b]0;title\a`},
		{"what hides a line", "shown\rhidden\b\v\f\x00", false, `shown\rhidden\b\v\f\x00`},
		{"the second set of controls", "\u0085\u009b31m", false, `\u0085\u009b31m`},
		{"the same as bytes", "\x9b31m", false, "\ufffd31m"},
		{"a changed direction", "user\u202e\u2066 // admin", false, `user\u202e\u2066 // admin`},
		{"ralph's colours", bold + "b" + noColor, true, bold + "b" + noColor},
		{"where it has none", bold + "b" + noColor, false, `\x1b[1mb\x1b[0m`},
		{"other colours", "\x1b[8mhidden\x1b[0;1m", true, `\x1b[8mhidden\x1b[0;1m`},
		{"half of one", "\x1b[1;3", true, `\x1b[1;3`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			n, err := (&screen{to: &b, colors: c.colors}).Write([]byte(c.text))
			if diff := cmp.Diff(c.want, b.String()); diff != "" || n != len(c.text) || err != nil {
				t.Errorf("%d, %v, -want +got:\n%s", n, err, diff)
			}
		})
	}
}

// The screen does not change what JSON means.
func TestScreenKeepsJSON(t *testing.T) {
	var all strings.Builder
	for r := rune(0); r < 0x2100; r++ {
		all.WriteRune(r)
	}
	var b bytes.Buffer
	a := &app{stdout: &screen{to: &b}}
	if err := a.encodeJSON(all.String()); err != nil {
		t.Fatal(err)
	}
	if i := bytes.IndexFunc(b.Bytes(), func(r rune) bool { return r != '\n' && unicode.IsControl(r) }); i >= 0 {
		t.Errorf("a control character: %q", b.Bytes()[i:i+4])
	}
	var got string
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got != all.String() {
		t.Errorf("%v, %q", err, got)
	}
}

func TestScreenPassesErrorsOn(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	if n, err := (&screen{to: w}).Write([]byte("a\x1b")); n != 0 || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%d, %v", n, err)
	}
}

// No command prints control sequences to a terminal, or to a pipe that can lead to one, whatever policies, states, logs
// and agents contain.
func TestNothingSpeaksToTheTerminal(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	const evil = `\e]0;title\a\e[2J\x7f\x9b\u202e`
	files := map[string]string{
		".ralph/policy.yaml": "ralph: 1\ndescription: \"" + evil + "\"\nparams: {p: {default: \"" + evil + "\", description: \"" + evil + "\"}}\n" +
			"facts: {f: {text: \"" + evil + "\"}, x: {exec: [echo, \"" + evil + "\"]}}\n" +
			"memory: {m: {type: string, default: \"" + evil + "\"}}\n" +
			"rules:\n  - {name: go, when: 'f contains \"y\" or p != \"\"', notice: \"" + evil + "\", continue: \"" + evil + "\", then: [remember: 'm = p + \"x\"']}\n" +
			"  - {name: x, when: ok(x), stop: \"" + evil + "\"}\n",
		".ralph/policy_test.yaml":        "policy: policy.yaml\ntests:\n  - {name: \"" + evil + "\", given: {f: \"" + evil + "\"}, expect: {stop: true, reason: \"" + evil + "\"}}\n",
		".ralph/broken.yaml":             "ralph: 1\nrules: [{name: \"" + evil + "\", whne: \"" + evil + "\"}]\n",
		".ralph/raw.yaml":                "ralph: 1\nrules: [{name: \x1b]0;title\a, stop: s}] \u202e\n",
		".claude/settings.json":          `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo \u001b]0;title\u0007 \u202e"}]}]}}`,
		".claude/ralph-loop.local.md":    "---\nactive: true\niteration: 1\nsession_id: \"" + evil + "\"\nmax_iterations: 5\ncompletion_promise: \"" + evil + "\"\n---\n\x1b]0;title\a\n",
		".specify/.current-feature":      "\x1b]0;title\a\n",
		"new.yaml":                       "ralph: 1\nrules: [{name: go, continue: \"" + evil + "\"}]\n",
		"event.json":                     `{"session_id": "s\u001b]0;title\u0007", "hook_event_name": "Stop", "cwd": ".", "stop_hook_active": false, "last_assistant_message": "\u001b]0;t\u0007"}`,
		"PROMPT.md":                      "\x1b]0;title\a",
		".ralph/archive/x\x1b[2J.md":     "\x1b]0;title\a",
		".ralph/evil\x1b]0;title\a.yaml": "ralph: 1\nrules: []\n",
	}
	if runtime.GOOS == "windows" { // it has no such names
		delete(files, ".ralph/archive/x\x1b[2J.md")
		delete(files, ".ralph/evil\x1b]0;title\a.yaml")
	}
	const title = "\x1b]0;title\a"
	type use struct {
		args  []string
		shows bool // that something would speak
	}
	uses := map[string][]use{
		"start": {{[]string{"ralph-wiggum", title, "--force"}, false}, {[]string{title}, true}}, "stop": {{nil, false}, {[]string{title}, true}},
		"reset": {{[]string{title, "--yes"}, true}},
		"pause": {{[]string{"policy", "--session", title}, true}}, "resume": {{nil, false}},
		"hint": {{[]string{title, "--session", title}, true}, {[]string{"--revoke"}, false}},
		"run": {
			{[]string{"--prompt", "PROMPT.md", "--max", "1", "--", "printf", `\033]0;title\a%s`, title}, true},
			{[]string{"--prompt", "PROMPT.md", "--max", "1", "--format", "json", "--", "echo", title}, true},
			{[]string{"--list"}, false}, {[]string{"--resume", title}, false}, {nil, false},
		},
		"until": {
			{[]string{title, "--yes"}, true}, {[]string{`printf '\033]0;title\a'; false`, "--host", "claude-code", "--yes"}, true},
			{[]string{`printf '\033]0;title\a'; false`, "--max", "1", "--", "printf", `\033]0;title\a%s`, title}, true},
		},
		"policies": {{nil, true}, {[]string{"--format", "json"}, true}}, "status": {{nil, true}, {[]string{"--format", "json"}, true}}, "log": {{nil, true}, {[]string{"--format", "json"}, true}},
		"explain": {{nil, true}, {[]string{"--format", "json"}, true}},
		"check":   {{nil, true}, {[]string{"broken"}, true}, {[]string{".ralph/raw.yaml"}, true}, {[]string{"--format", "github", "broken"}, false}, {[]string{title}, true}},
		"test":    {{nil, true}, {[]string{"--format", "json"}, true}},
		"graph":   {{nil, true}, {[]string{"--format", "mermaid"}, false}, {[]string{"--format", "text"}, true}, {[]string{"--format", "json"}, true}, {[]string{"--situation", title}, true}},
		"view":    {{[]string{title}, true}, {[]string{"--out", "page.html"}, false}},
		"diff":    {{[]string{"new.yaml"}, false}}, "init": {{[]string{title}, true}}, "install": {{[]string{"claude-code", "--dry-run"}, true}},
		"uninstall": {{[]string{"claude-code", "--policy", title, "--dry-run"}, true}}, "doctor": {{nil, true}}, "trust": {{nil, false}, {[]string{"--list"}, false}}, "version": {{nil, false}},
		"help": {{[]string{title}, true}, {[]string{"licenses"}, false}, {[]string{"completion", "bash"}, false}}, "__complete": {{[]string{"check", ""}, true}},
	}
	h := newHook(t, files)
	for _, args := range [][]string{{"eval", "--input", "event.json"}, {"eval", "--policy", "ralph-wiggum", "--input", "event.json"}} {
		h.args = args
		h.run(t)
	}
	names := []string{"__complete"}
	for _, c := range new(app).tree(new(app).evalCommand()).Commands() {
		if c.Name() != "eval" { // whose stdout is for the host
			names = append(names, c.Name())
		}
	}
	for _, name := range names {
		if uses[name] == nil {
			t.Errorf("%s: nothing tries it", name)
		}
		for _, u := range uses[name] {
			h.args, h.stdin = append([]string{name}, u.args...), strings.NewReader("")
			r := h.run(t)
			for _, text := range []string{r.stdout, r.stderr} {
				if i := strings.IndexFunc(text, speaks); i >= 0 {
					t.Errorf("%q: stands there as it is: %.60q", h.args, text[i:])
				}
			}
			if out := r.stdout + r.stderr; u.shows && !strings.Contains(out, "]0;t") && !strings.Contains(out, `\u202e`) {
				t.Errorf("%q shows nothing of it:\n%s", h.args, out)
			}
		}
	}
}

// speaks reports whether a terminal obeys a character.
func speaks(r rune) bool {
	return r != '\n' && r != '\t' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)
}
