//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// pipe replaces a file or directory with a named pipe.
func pipe(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
}

// ends runs a command that must not wait for what never comes.
func ends(t *testing.T, cmd *exec.Cmd) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dog := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
	_ = cmd.Wait()
	if !dog.Stop() {
		t.Errorf("%q hangs", cmd.Args)
	}
	return out.String(), errs.String()
}

// everything is a policy that reads all that a policy can name. The text of a state file
// lists the paths.
const everything = `ralph: 1
facts:
  where: {text: where.txt}
  text: {text: "${where}"}
  json: {json: "${where}"}
  front: {frontmatter: "${where}"}
  items: {checklist: "${where}"}
  inside: {glob: "${where}/*.json"}
  every: {glob: "**/*.json"}
  home: {glob: "~/notes/*.json"}
  tasks: {tasks: claude}
  state: {json: state.json, schema: state.schema.json}
limits: {continuations: 1000}
rules:
  - include: guard
  - name: go
    when: >-
      (ok(text) or missing(text)) and (ok(json) or missing(json)) and (ok(front) or missing(front)) and (ok(items) or missing(items))
      and (ok(inside) or missing(inside)) and (ok(every) or missing(every)) and (ok(home) or missing(home)) and (ok(tasks) or missing(tasks))
      and (ok(state) or missing(state)) and (exists(where) or anyfile(where + "/*") or isdir(where) or true)
      and not said("x") and len(transcript.texts) >= 0
    continue: on
    then:
      - prune: {glob: "pipe/*", older: 1s}
      - prune: {glob: "*/pipe", older: 1s}
finally:
  - {when: true, prune: {glob: "pipe/**", older: 1s}}
`

// A named pipe instead of any file or directory that ralph reads does not delay a hook,
// not even until its deadline.
func TestPipesEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	for _, test := range []struct{ name, at string }{ // PROJECT/…, STATE/… or HOME/…
		{"a fact", "PROJECT/pipe"},
		{"a folder on the way", "PROJECT/deep/pipe"},
		{"the file that says where", "PROJECT/where.txt"},
		{"a file that effects change", "PROJECT/state.json"},
		{"policy", "PROJECT/.ralph/policy.yaml"},
		{"ralph's folder", "PROJECT/.ralph"},
		{"config.yaml", "PROJECT/.ralph/config.yaml"},
		{"off", "PROJECT/.ralph/off"},
		{"include", "PROJECT/.ralph/guard.yaml"},
		{"schema", "PROJECT/.ralph/state.schema.json"},
		{"ignore file", "PROJECT/.ralph/archive/.gitignore"},
		{"archive", "PROJECT/.ralph/archive"},
		{"session file", "PROJECT/session.jsonl"},
		{"home", "HOME"},
		{"Claude Code's folder", "HOME/.claude"},
		{"its session files", "HOME/.claude/projects"},
		{"a folder of session files", "HOME/.claude/projects/p"},
		{"its tasks", "HOME/.claude/tasks"},
		{"a task list", "HOME/.claude/tasks/s-1"},
		{"a task", "HOME/.claude/tasks/s-1/1.json"},
		{"a file in the home directory", "HOME/notes/a.json"},
		{"a folder in the home directory", "HOME/notes"},
		{"state directory", "STATE"},
		{"memories", "STATE/memory"},
		{"a memory", "STATE/entries/*"},
		{"locks", "STATE/locks"},
		{"a lock", "STATE/locks/*"},
		{"log", "STATE/decisions.jsonl"},
		{"rotated log", "STATE/decisions.jsonl.1"},
		{"policies", "STATE/policies"},
		{"a policy", "STATE/policies/*"},
		{"time of the clean-up", "STATE/cleaned"},
		{"approvals", "STATE/trust"},
		{"pauses", "STATE/pauses"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{
				".ralph/policy.yaml": everything, ".ralph/guard.yaml": "ralph: 1\nrules: []\n", ".ralph/state.schema.json": "{}", ".ralph/config.yaml": "set: {}\n",
				"where.txt": "pipe", "state.json": "{}", "deep/a.json": "{}", "session.jsonl": "",
			}
			if test.at == "PROJECT/deep/pipe" {
				files["where.txt"] = "deep/pipe"
			}
			h := newHook(t, files, "--deadline", "10m")
			home := t.TempDir()
			h.env = []string{"HOME=" + home, "CLAUDE_CONFIG_DIR="}
			fields := map[string]any{}
			if strings.HasSuffix(test.at, "session.jsonl") {
				fields["transcript_path"] = filepath.Join(h.dir, "session.jsonl")
			}
			event := h.event(fields)
			h.stdin = strings.NewReader(event)
			if out, _ := ends(t, h.cmd()); !strings.Contains(out, `"on"`) {
				t.Fatalf("without a pipe it says %q", out)
			}
			path := strings.NewReplacer("PROJECT", h.dir, "STATE", h.store, "HOME", home).Replace(test.at)
			paths := []string{path}
			if strings.HasSuffix(path, "*") {
				var err error
				if paths, err = filepath.Glob(path); err != nil || len(paths) == 0 {
					t.Fatal(paths, err)
				}
			}
			for _, path := range paths {
				pipe(t, path)
				if strings.HasSuffix(path, "cleaned") { // it is looked at once a day
					old := time.Now().Add(-48 * time.Hour)
					if err := os.Chtimes(path, old, old); err != nil {
						t.Fatal(err)
					}
				}
			}
			h.stdin = strings.NewReader(event)
			stdout, _ := ends(t, h.cmd())
			(result{stdout: stdout}).answer(t)
			for _, args := range [][]string{{"status"}, {"log"}, {"explain"}, {"check"}, {"doctor"}, {"trust"}, {"trust", "--list"}, {"pause"}, {"resume"}, {"stop"}, {"test", ".ralph"}} {
				c := h
				c.args, c.stdin = args, strings.NewReader(event)
				ends(t, c.cmd())
			}
		})
	}
}

// The same for the settings of hosts, and for what commands write.
func TestPipesForCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	for _, at := range []string{
		"PROJECT/.claude", "PROJECT/.claude/settings.json", "PROJECT/.claude/settings.local.json", "PROJECT/.codex/hooks.json",
		"HOME/.claude/settings.json", "HOME/.codex/hooks.json", "PROJECT/.ralph/speckit.yaml", "PROJECT/.ralph/speckit_test.yaml", "PROJECT/.ralph/off",
		"PROJECT/.specify/.current-feature", "PROJECT/.claude/ralph-loop.local.md",
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			h := newHook(t, map[string]string{"x": ""})
			home := t.TempDir()
			h.env = []string{"HOME=" + home, "CLAUDE_CONFIG_DIR="}
			pipe(t, strings.NewReplacer("PROJECT", h.dir, "HOME", home).Replace(at))
			for _, command := range []string{
				"install claude-code --policy speckit", "install claude-code --policy speckit --scope user", "install codex --policy speckit --scope user",
				"doctor", "status", "uninstall claude-code", "init speckit", "init", "test .ralph", "start speckit", "start ralph-wiggum --prompt x", "pause", "resume", "stop",
				"diff speckit specum",
			} {
				c := h
				c.args, c.stdin = strings.Fields(command), strings.NewReader("")
				ends(t, c.cmd())
			}
		})
	}
}

// Policies and the files that they include are not read through links that lead out of
// the project, since findings quote them. A policy that the user names elsewhere may be a
// link.
func TestPolicyLinks(t *testing.T) {
	const (
		good   = "ralph: 1\nrules:\n  - name: go\n    continue: on\n"
		within = "ralph: 1\nrules:\n  - include: guard\n  - name: go\n    continue: on\n"
		guard  = "ralph: 1\nrules: []\n"
		typed  = "ralph: 1\nfacts: {s: {json: s.json, schema: s.schema.json}}\nrules:\n  - name: go\n    when: missing(s) or ok(s)\n    continue: on\n"
		out    = "a link leads outside the project"
	)
	for _, test := range []struct {
		name   string
		files  map[string]string
		links  map[string]string // to PROJECT/… or ELSEWHERE/…
		policy string
		want   string // of what is reported; "" if the agent continues
	}{
		{"policy", nil, map[string]string{".ralph/policy.yaml": "ELSEWHERE/secrets"}, "", out},
		{"policy by a chain", nil, map[string]string{".ralph/policy.yaml": "PROJECT/b", "b": "ELSEWHERE/secrets"}, "", out},
		{"a good policy elsewhere", nil, map[string]string{".ralph/policy.yaml": "ELSEWHERE/good.yaml"}, "", out},
		{"folder of policies", nil, map[string]string{".ralph": "ELSEWHERE/folder"}, "", out},
		{"in the place of a shipped one", nil, map[string]string{".ralph/speckit.yaml": "ELSEWHERE/secrets"}, "speckit", out},
		{"named by a path in the project", nil, map[string]string{"tools/p.yaml": "ELSEWHERE/secrets"}, "tools/p.yaml", out},
		{"named by an absolute path in the project", nil, map[string]string{"tools/p.yaml": "ELSEWHERE/secrets"}, "PROJECT/tools/p.yaml", out},
		{"include", map[string]string{".ralph/policy.yaml": within}, map[string]string{".ralph/guard.yaml": "ELSEWHERE/secrets"}, "", out},
		{"schema", map[string]string{".ralph/policy.yaml": typed}, map[string]string{".ralph/s.schema.json": "ELSEWHERE/secrets"}, "", out},
		{"config.yaml", map[string]string{".ralph/policy.yaml": good}, map[string]string{".ralph/config.yaml": "ELSEWHERE/secrets"}, "", out},
		{"include of a policy elsewhere", nil, nil, "ELSEWHERE/folder/leaky.yaml", out},

		{"policy within", map[string]string{"p.yaml": good}, map[string]string{".ralph/policy.yaml": "../p.yaml"}, "", ""},
		{"policy within, absolute", map[string]string{"p.yaml": good}, map[string]string{".ralph/policy.yaml": "PROJECT/p.yaml"}, "", ""},
		{"include within", map[string]string{".ralph/policy.yaml": within, "g.yaml": guard}, map[string]string{".ralph/guard.yaml": "PROJECT/g.yaml"}, "", ""},
		{"schema within", map[string]string{".ralph/policy.yaml": typed, "s.json": "{}"}, map[string]string{".ralph/s.schema.json": "PROJECT/s.json"}, "", ""},
		{"config.yaml within", map[string]string{".ralph/policy.yaml": good, "c.yaml": "set: {}\n"}, map[string]string{".ralph/config.yaml": "../c.yaml"}, "", ""},
		{"policy elsewhere", nil, nil, "ELSEWHERE/good.yaml", ""},
		{"policy elsewhere by a link", nil, nil, "ELSEWHERE/link/policy.yaml", ""},
		{"policy elsewhere by a relative path", nil, nil, "../ELSEWHERE-BASE/good.yaml", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			base, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			dir, elsewhere := filepath.Join(base, "project"), filepath.Join(base, "elsewhere")
			place := strings.NewReplacer("ELSEWHERE-BASE", "elsewhere", "PROJECT", dir, "ELSEWHERE", elsewhere)
			write := func(path, content string) {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			link := func(path, to string) {
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(place.Replace(to), path); err != nil {
					t.Fatal(err)
				}
			}
			write(filepath.Join(dir, "x"), "")
			write(filepath.Join(elsewhere, "secrets"), "aws_secret_access_key: hunter2\nhunter2: [\n")
			write(filepath.Join(elsewhere, "good.yaml"), good)
			write(filepath.Join(elsewhere, "folder/policy.yaml"), within)
			write(filepath.Join(elsewhere, "folder/guard.yaml"), guard)
			write(filepath.Join(elsewhere, "folder/leaky.yaml"), strings.ReplaceAll(within, "guard", "leak"))
			link(filepath.Join(elsewhere, "folder/leak.yaml"), "ELSEWHERE/secrets")
			link(filepath.Join(elsewhere, "link/policy.yaml"), "ELSEWHERE/folder/policy.yaml")
			for name, content := range test.files {
				write(filepath.Join(dir, name), content)
			}
			for name, to := range test.links {
				link(filepath.Join(dir, name), to)
			}
			h := hook{dir: dir, store: t.TempDir(), args: []string{"eval"}}
			named := []string{}
			if test.policy != "" {
				named = []string{"--policy", place.Replace(test.policy)}
			}
			h.args = append(h.args, named...)
			r := h.run(t)
			if test.want == "" {
				if a := r.answer(t); a.Decision != "block" || a.Reason != "on" {
					t.Errorf("it says %q, %q", r.stdout, r.stderr)
				}
				return
			}
			r.letsGo(t, "", "")
			said := r.stdout + r.stderr
			if log, err := os.ReadFile(filepath.Join(h.store, "decisions.jsonl")); err == nil {
				said += string(log)
			}
			if !strings.Contains(said, test.want) {
				t.Errorf("it says %q, want %q", said, test.want)
			}
			for _, args := range [][]string{{"check"}, {"explain"}, {"trust"}, {"doctor"}, {"status"}, {"test", ".ralph"}} {
				c := h
				c.args = args
				if test.policy != "" && slices.Contains([]string{"check", "trust"}, args[0]) {
					c.args = append(c.args, named[1])
				}
				r := c.run(t)
				said += r.stdout + r.stderr
			}
			if strings.Contains(said, "hunter2") {
				t.Errorf("it quotes what is none of its business: %q", said)
			}
			if b, err := os.ReadFile(filepath.Join(elsewhere, "secrets")); err != nil || !strings.Contains(string(b), "hunter2: [") {
				t.Errorf("what lies elsewhere is now %q, %v", b, err)
			}
		})
	}
}
