package rules_test

import (
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/examples"
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

// corpus lists the policies of a folder. Files that begin with _ are included or
// read by others.
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

// Every policy in testdata/diagnostics is broken or doubtful, and the golden file
// beside it holds what is said about it, as `ralph check` prints it. To add a
// case, add the policy and run the test with -update.
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
			p, diags := rules.Load(fsys, name, rules.Config{Shipped: examples.FS})
			if len(diags) == 0 {
				t.Error("nothing is wrong with it; such a policy belongs into testdata/ok")
			}
			if got := p == nil; got != diags.HasErrors() {
				t.Errorf("the program is nil: %t, there are errors: %t", got, diags.HasErrors())
			}
			checkDiagnostics(t, fsys, diags)
			golden(t, filepath.Join(dir, strings.TrimSuffix(name, ".yaml")+".golden"), diags.Format())
		})
	}
}

// Nothing is said about the policies in testdata/ok, nor about those that ship.
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
	p, diags := rules.Load(fsys, name, rules.Config{Shipped: examples.FS})
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

// checkDiagnostics asserts what holds for all diagnostics: they lie in a file that
// was read, begin before they end, carry their line, and read like one another.
func checkDiagnostics(t testing.TB, fsys fs.FS, diags rules.Diagnostics) {
	t.Helper()
	for _, d := range diags {
		if d.Message == "" || d.Check == "" || d.Pos.File == "" {
			t.Errorf("something is left out: %#v", d)
		}
		if first := d.Message[0]; first >= 'A' && first <= 'Z' && !strings.HasPrefix(d.Message, "AND ") && !strings.HasPrefix(d.Message, "OR ") && !strings.HasPrefix(d.Message, "NOT ") {
			t.Errorf("a message begins with a small letter: %s", d)
		}
		if strings.HasSuffix(d.Message, ".") || strings.ContainsAny(d.Message+d.Help, "\n") {
			t.Errorf("a message is one clause without a full stop: %s", d)
		}
		if !d.Pos.IsValid() {
			continue
		}
		src, err := fs.ReadFile(fsys, d.Pos.File)
		if err != nil {
			if src, err = fs.ReadFile(examples.FS, strings.TrimPrefix(d.Pos.File, "ralph:")); err != nil {
				t.Errorf("a diagnostic about a file that is not there: %s", d)
				continue
			}
		}
		lines := strings.Split(strings.ReplaceAll(strings.ReplaceAll(string(src), "\r\n", "\n"), "\r", "\n"), "\n")
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
