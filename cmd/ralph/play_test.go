package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
)

// bench plays a case: a project with policies, hooks that are called, and what happens between them.
type bench struct {
	t       *testing.T
	dir     string // of the project
	own     string // ralph's own directory
	now     time.Time
	hook    []string // the command line of the hook
	records int      // of the log that were shown
}

func newBench(t *testing.T) *bench {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, dir: filepath.Join(dir, "project"), own: filepath.Join(dir, "own"), hook: []string{"eval"}, now: time.Date(2025, 11, 3, 9, 0, 0, 0, time.UTC)}
	home := filepath.Join(dir, "home")
	for _, d := range []string{b.dir, home} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range hostVariables {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", home)
	t.Setenv("RALPH_STATE_DIR", b.own)
	t.Chdir(b.dir)
	return b
}

// write writes a file of the project. It is old: one that was just written and is not valid is read again.
func (b *bench) write(name, content string) {
	b.t.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		b.t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		b.t.Fatal(err)
	}
}

// ralph runs a command line.
func (b *bench) ralph(stdin string, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	a := &app{stdin: strings.NewReader(stdin), stdout: &out, stderr: &err, getenv: os.Getenv, now: func() time.Time { return b.now }}
	status = a.run(b.t.Context(), args)
	return status, out.String(), err.String()
}

// play does what the lines before " -> " say, and returns them with what came of it.
//
//	{"field": …}        a hook is called; the session is "s" if the event names none
//	write FILE CONTENT  a file of the project; \n is a line feed
//	rm FILE             and cat FILE
//	hook FLAGS          the command line of the hook from now on
//	wait DURATION       the clock moves
//	env NAME=VALUE      in the hook's environment; without a value it goes
//	memory CONTENT      writes the document of the session; without content it goes
//	ralph COMMAND       a person types it
func (b *bench) play(script string) string {
	b.t.Helper()
	var played []string
	for line := range strings.Lines(script) {
		input, _, _ := strings.Cut(strings.TrimSpace(line), " -> ")
		if input == "" {
			continue
		}
		if out := b.step(input); out != "" {
			input += " -> " + out
		}
		played = append(played, input)
	}
	return strings.Join(played, "\n")
}

func (b *bench) step(input string) string {
	b.t.Helper()
	if input[0] == '{' {
		return b.event(input)
	}
	verb, rest, _ := strings.Cut(input, " ")
	name, value, _ := strings.Cut(rest, " ")
	switch verb {
	case "write":
		b.write(name, strings.ReplaceAll(value, `\n`, "\n"))
	case "rm":
		if err := os.Remove(filepath.Join(b.dir, name)); err != nil {
			b.t.Fatal(err)
		}
	case "cat":
		content, err := os.ReadFile(filepath.Join(b.dir, name))
		if err != nil {
			return "none"
		}
		return strings.ReplaceAll(string(content), "\n", `\n`)
	case "hook":
		b.hook = append([]string{"eval"}, strings.Fields(rest)...)
	case "wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			b.t.Fatal(err)
		}
		b.now = b.now.Add(d)
	case "ralph":
		if status, _, stderr := b.ralph("", strings.Fields(rest)...); status != 0 {
			return strings.TrimSpace(stderr)
		}
	default:
		b.t.Fatalf("the script has the line %q", input)
	}
	return ""
}

// event calls the hook, and shows its decisions: "OUTCOME by RULE", then the reason that the agent gets after ": ", the note after
// " + ", the notice to the person after " ! ", and stderr after " # ".
func (b *bench) event(input string) string {
	b.t.Helper()
	fields := map[string]any{"session_id": "s", "cwd": b.dir}
	if err := json.Unmarshal([]byte(input), &fields); err != nil {
		b.t.Fatal(err)
	}
	in, err := json.Marshal(fields)
	if err != nil {
		b.t.Fatal(err)
	}
	status, stdout, stderr := b.ralph(string(in), b.hook...)
	if status != 0 {
		b.t.Errorf("%s: the status is %d", input, status)
	}
	var answer struct {
		Decision, Reason, SystemMessage string
		HookSpecificOutput              struct{ AdditionalContext string }
	}
	if stdout != "" {
		if err := json.Unmarshal([]byte(stdout), &answer); err != nil {
			b.t.Fatalf("%v: %s", err, stdout)
		}
	}
	if (answer.Decision == "block") != (answer.Reason != "") {
		b.t.Errorf("%s: the answer is %s", input, stdout)
	}
	shown := strings.Join(b.decisions(), "; ")
	for _, x := range [][2]string{{": ", answer.Reason}, {" + ", answer.HookSpecificOutput.AdditionalContext}, {" ! ", answer.SystemMessage}, {" # ", stderr}} {
		if s := strings.TrimSpace(x[1]); s != "" {
			shown += x[0] + s
		}
	}
	return strings.NewReplacer("\n", `\n`, b.dir, "DIR", b.document(), "DOC", b.own, "OWN").Replace(shown)
}

// decisions returns those that the log has and that were not shown.
func (b *bench) decisions() []string {
	b.t.Helper()
	log, err := os.ReadFile(filepath.Join(b.own, "decisions.jsonl"))
	if err != nil && !os.IsNotExist(err) {
		b.t.Fatal(err)
	}
	var all []string
	for line := range bytes.Lines(log) {
		var r loop.Record
		if err := json.Unmarshal(line, &r); err != nil {
			b.t.Fatalf("%v: %s", err, line)
		}
		s := string(r.Outcome)
		if r.Rule != "" {
			s += " by " + r.Rule
		}
		all = append(all, s)
	}
	shown := all[b.records:]
	b.records = len(all)
	return shown
}

// document is the path of the document of the session "s".
func (b *bench) document() string {
	const name = "session_s-71e839eb5584f4fa2d675b635aa4c24f.json"
	return filepath.Join(b.own, "store", name)
}

// decisionCase is a project, what happens in it, and what comes of that.
type decisionCase struct {
	name   string
	policy string            // policy.yaml without its first line
	more   map[string]string // other files; those in .ralph get the first line too
	script string
}

// playAll compares each script with what came of it.
func playAll(t *testing.T, cases []decisionCase) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t)
			b.write(".ralph/policy.yaml", "ralph: 1\n"+c.policy)
			for name, content := range c.more {
				if strings.HasPrefix(name, ".ralph/") {
					content = "ralph: 1\n" + content
				}
				b.write(name, content)
			}
			var want []string
			for line := range strings.Lines(c.script) {
				if line = strings.TrimSpace(line); line != "" {
					want = append(want, line)
				}
			}
			got := strings.Split(b.play(c.script), "\n")
			for i := range min(len(got), len(want)) {
				if like(want[i], got[i]) {
					got[i] = want[i]
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// like reports whether a line is as wanted, where … stands for any text.
func like(want, got string) bool {
	pattern := strings.ReplaceAll(regexp.QuoteMeta(want), "…", ".*")
	return regexp.MustCompile("^" + pattern + "$").MatchString(got)
}
