package rules_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/internal/form"
	"github.com/ralph-sdk/ralph/rules"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares text with a file, or writes it there with -update.
func golden(t *testing.T, name, text string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.ReplaceAll(string(want), "\r\n", "\n"), text); diff != "" {
		t.Errorf("%s (-want +got); if the new one is right, run the test with -update:\n%s", name, diff)
	}
}

// corpus lists the policies of a directory. Files whose names begin with _ are included
// or read by others.
func corpus(t *testing.T, dir string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(all) == 0 {
		t.Fatalf("no policies in %s: %v", dir, err)
	}
	var names []string
	for _, name := range all {
		if base := filepath.Base(name); base[0] != '_' {
			names = append(names, base)
		}
	}
	return names
}

// Every policy in testdata/diagnostics is broken or doubtful, and the golden file beside
// it has the findings, as `ralph check` prints them. To add a case, add the policy and
// run the test with -update.
func TestDiagnostics(t *testing.T) {
	const dir = "testdata/diagnostics"
	names := corpus(t, dir)
	if len(names) < 45 {
		t.Errorf("only %d policies", len(names))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fsys := os.DirFS(dir)
			p, diags := rules.Load(t.Context(), fsys, name, rules.Config{Shipped: examples.FS, Hosts: []string{"claude-code", "codex", "gemini"}, Deadline: 25 * time.Second})
			if len(diags) == 0 {
				t.Error("nothing is wrong with it; such a policy belongs into testdata/ok")
			}
			if got := p == nil; got != (diags.Err() != nil) {
				t.Errorf("the program is nil: %t, there are errors: %t", got, (diags.Err() != nil))
			}
			checkDiagnostics(t, fsys, diags)
			checkStyle(t, diags)
			golden(t, filepath.Join(dir, strings.TrimSuffix(name, ".yaml")+".golden"), diags.Format())
		})
	}
}

// The policies in testdata/ok have no findings, and neither have those that ship.
func TestNothingToSay(t *testing.T) {
	for _, name := range corpus(t, "testdata/ok") {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loadQuietly(t, os.DirFS("testdata/ok"), name)
		})
	}
	for _, name := range shippedPolicies(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			loadQuietly(t, examples.FS, name)
		})
	}
}

func loadQuietly(t *testing.T, fsys fs.FS, name string) {
	t.Helper()
	p, diags := rules.Load(t.Context(), fsys, name, rules.Config{Shipped: examples.FS})
	if p == nil || len(diags) > 0 {
		t.Errorf("there is something to say:\n%s", diags.Format())
	}
}

// shippedPolicies lists the policies that ship, without the guards.
func shippedPolicies(t testing.TB) []string {
	t.Helper()
	names, err := fs.Glob(examples.FS, "*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range names {
		if !strings.HasPrefix(name, "guards/") && !strings.HasSuffix(name, "_test.yaml") {
			out = append(out, name)
		}
	}
	if len(out) < 3 {
		t.Fatalf("the examples are not all there: %v", names)
	}
	return out
}

// checkStyle asserts that messages read like one another.
func checkStyle(t *testing.T, diags rules.Diagnostics) {
	t.Helper()
	severities := map[string]string{}
	for _, c := range form.Checks() {
		severities[c.ID] = c.Severity
	}
	for _, d := range diags {
		if s, ok := severities[d.Check]; !ok || s != d.Severity.String() {
			t.Errorf("the table of checks does not have it, or not as %s: %s", d.Severity, d)
		}
		word, _, _ := strings.Cut(d.Message, " ")
		if first := word[0]; first >= 'A' && first <= 'Z' && word != strings.ToUpper(word) {
			t.Errorf("a message begins with a small letter: %s", d)
		}
		if strings.HasSuffix(d.Message, ".") || strings.HasSuffix(d.Help, ".") {
			t.Errorf("a message is a clause without a full stop: %s", d)
		}
	}
}

// checkDiagnostics asserts what holds for all diagnostics: nothing is left out, they are
// in a file that was read, and begin before they end.
func checkDiagnostics(t testing.TB, fsys fs.FS, diags rules.Diagnostics) {
	t.Helper()
	for _, d := range diags {
		if d.Message == "" || d.Check == "" || d.Pos.File == "" || strings.ContainsAny(d.Message+d.Help, "\n\r") {
			t.Errorf("something is left out, or in the way: %#v", d)
		}
		if d.Pos.Line == 0 {
			continue
		}
		src, err := fs.ReadFile(fsys, d.Pos.File)
		if err != nil {
			if src, err = fs.ReadFile(examples.FS, strings.TrimPrefix(d.Pos.File, "ralph:")); err != nil {
				t.Errorf("a diagnostic about a file that is not there: %s", d)
				continue
			}
		}
		lines := strings.Split(strings.ReplaceAll(string(src), "\r\n", "\n"), "\n")
		if strings.Contains(strings.Join(lines, ""), "\r") {
			continue // whether a lone carriage return ends a line is for package source to say
		}
		for _, at := range []rules.Pos{d.Pos, d.End} {
			if at.Line < 1 || at.Line > len(lines) || at.Col < 1 || at.Col > utf8.RuneCountInString(lines[at.Line-1])+2 {
				t.Errorf("%s: %d:%d lies outside the file", d, at.Line, at.Col)
			}
		}
		if d.End.Line < d.Pos.Line || d.End.Line == d.Pos.Line && d.End.Col < d.Pos.Col {
			t.Errorf("%s ends at %d:%d, before it begins", d, d.End.Line, d.End.Col)
		}
	}
}
