package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/project"
)

// Every template makes a project whose policy has no finding and passes its tests.
func TestTemplates(t *testing.T) {
	for _, name := range project.PolicyTemplates() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ralph := func(args ...string) {
				t.Helper()
				var out strings.Builder
				a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: &out, getenv: func(name string) string {
					return map[string]string{"RALPH_STATE_DIR": filepath.Join(dir, "state"), "HOME": dir}[name]
				}}
				if status := a.run(context.Background(), args); status != exitOK {
					t.Errorf("ralph %s: status %d\n%s", strings.Join(args, " "), status, out.String())
				}
			}
			ralph("init", name, "--project", dir)
			policy, err := filepath.Glob(filepath.Join(dir, ".ralph", "*_test.yaml"))
			if err != nil || len(policy) != 1 {
				t.Fatal("it has no tests", err)
			}
			ralph("check", "--project", dir, strings.TrimSuffix(policy[0], "_test.yaml")+".yaml")
			ralph("test", policy[0])
			if name == project.PolicyTemplates()[0] {
				checkReadme(t, strings.TrimSuffix(policy[0], "_test.yaml")+".yaml")
			}
		})
	}
}

// The policy that init writes is the one of the README, and short.
func checkReadme(t *testing.T, file string) {
	written, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(readme), "<!-- file: .ralph/policy.yaml -->\n```yaml\n")
	shown, _, _ := strings.Cut(after, "```\n")
	if diff := cmp.Diff(shown, string(written)); diff != "" {
		t.Errorf("-README.md +init\n%s", diff)
	}
	if lines := strings.Count(strings.ReplaceAll(string(written), "\n\n", "\n"), "\n"); lines > 20 {
		t.Errorf("it has %d lines", lines)
	}
}

// A project begins where init is typed, inside of another one too, and each path that a command prints leads to what it wrote.
func TestInitHere(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(top, "sub", "hello")
	for _, dir := range []string{filepath.Join(top, ".git"), filepath.Join(top, ".ralph"), sub} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(sub)
	state := filepath.Join(t.TempDir(), "state")
	wrote := func(line string) (files []string) {
		t.Helper()
		var out strings.Builder
		a := &app{stdin: strings.NewReader(""), stdout: &out, stderr: io.Discard, getenv: func(name string) string {
			return map[string]string{"RALPH_STATE_DIR": state, "HOME": state}[name]
		}}
		if status := a.run(t.Context(), strings.Fields(line)); status != exitOK {
			t.Fatalf("%s: status %d\n%s", line, status, out.String())
		}
		for word := range strings.FieldsSeq(out.String()) {
			word = strings.TrimRight(word, ";.,:")
			if info, err := os.Stat(filepath.FromSlash(word)); err == nil && info.Mode().IsRegular() && !filepath.IsAbs(word) && !slices.Contains(files, word) {
				files = append(files, word)
			}
		}
		return files
	}
	for _, tt := range []struct {
		line string
		want []string
	}{
		{"init --project ../..", []string{"../../.ralph/policy.yaml", "../../.ralph/policy_test.yaml"}},
		{"pause --project ../..", []string{"../../.ralph/off"}},
		{"resume --project ../..", nil},
		{"init", []string{".ralph/policy.yaml", ".ralph/policy_test.yaml"}},
		{"pause", []string{".ralph/off"}},
		{"resume", nil},
		{"start ralph-wiggum x", []string{".claude/ralph-loop.local.md"}},
		{"install claude-code --project ../..", []string{"../../.claude/settings.json"}},
	} {
		if diff := cmp.Diff(tt.want, wrote(tt.line)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", tt.line, diff)
		}
	}
}
