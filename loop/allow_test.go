package loop_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

const (
	allowedPolicy = "ralph: 1\nrules:\n  - {name: go, when: 'session_id != \"\"', continue: allowed}\n"
	readsHome     = "ralph: 1\nrules:\n  - {name: go, when: 'env.HOME != \"\"', continue: read}\n"
	readsHomeLate = "ralph: 1\nwhen: session_id != ''\nrules:\n  - {name: go, when: 'env.HOME != \"\"', continue: read}\n"
	readsInput    = "ralph: 1\nfacts:\n  i: {input: {properties: {dir: {type: string}}}}\n  s: {json: '${i.dir}/s.json'}\nrules:\n  - {name: go, when: ok(s), continue: read}\n"
)

// allowing are options of a loop that reads no environment, and files in ok only.
func allowing(root string) []loop.Option {
	return []loop.Option{loop.WithRoot(root), loop.WithEnv(func(name string) string { return map[string]string{"HOME": "secret"}[name] }), loop.WithAllow(rules.Capabilities{
		Sources: []string{"input", "json"}, Names: []string{"session_id"}, Paths: []string{"ok/*"},
	})}
}

// What the options of a loop do not allow is held for every program, however it was loaded.
func TestAllowedPrograms(t *testing.T) {
	load := func(src string, lazy bool) *rules.Program {
		p, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte(src), rules.Config{Lazy: lazy})
		if p == nil {
			t.Fatal(diags.Err())
		}
		return p
	}
	const home = `the policy may not use the name "env.HOME"`
	opts := allowing(t.TempDir())
	if _, err := loop.New(load(readsHome, false), opts...); err == nil || !strings.Contains(err.Error(), home) {
		t.Errorf("New: %v, want %q", err, home)
	}
	l, err := loop.New(load(allowedPolicy, false), opts...)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Replace(load(readsHome, false)); err == nil || !strings.Contains(err.Error(), home) {
		t.Errorf("Replace: %v, want %q", err, home)
	}
	if d, err := l.Run(t.Context(), host.Event{SessionID: "s"}); err != nil || d.Verdict.Reason != "allowed" {
		t.Errorf("after a refused program: %v %v", d.Verdict.Reason, err)
	}
	if err := l.Replace(load(readsHomeLate, true)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if d, err := l.Run(t.Context(), host.Event{SessionID: "s"}); err == nil || d.Continue() || !strings.Contains(err.Error(), home) {
			t.Errorf("a lazy program: %v, want %q", err, home)
		}
	}
}

// A path that only the event determines is held, too.
func TestAllowedPaths(t *testing.T) {
	root := t.TempDir()
	if err := os.CopyFS(root, fstest.MapFS{"ok/s.json": {Data: []byte("{}")}, "no/s.json": {Data: []byte("{}")}}); err != nil {
		t.Fatal(err)
	}
	program, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte(readsInput), rules.Config{})
	if program == nil {
		t.Fatal(diags.Err())
	}
	l, err := loop.New(program, allowing(root)...)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, dir := range []string{"ok", "no"} {
		d, err := l.Run(t.Context(), host.Event{SessionID: dir, Values: map[string]any{"i": map[string]any{"dir": dir}}})
		if err != nil {
			t.Fatal(err)
		}
		got[dir] = d.Verdict.Reason
	}
	if diff := cmp.Diff(map[string]string{"ok": "read", "no": ""}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A loop is reloaded with its own configuration, and keeps its program if that fails.
func TestReload(t *testing.T) {
	l, diags := loop.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(allowedPolicy)}}, "p.yaml", allowing(t.TempDir())...)
	if l == nil {
		t.Fatal(diags.Err())
	}
	for _, tt := range []struct{ src, finding, reason string }{
		{readsHome, `p.yaml:3:23: the policy may not use the name "env.HOME"`, "allowed"},
		{"ralph: 1\nrules: [{name: go, continue: new}]\n", "", "new"},
		{"", "p.yaml", "new"},
	} {
		fsys := fstest.MapFS{}
		if tt.src != "" {
			fsys["p.yaml"] = &fstest.MapFile{Data: []byte(tt.src)}
		}
		found := ""
		if err := l.Reload(t.Context(), fsys, "p.yaml").Err(); err != nil {
			found = err.Error()
		}
		if (found == "") != (tt.finding == "") || !strings.HasPrefix(found, tt.finding) {
			t.Errorf("Reload(%q): %q, want %q", tt.src, found, tt.finding)
		}
		if d, err := l.Run(t.Context(), host.Event{SessionID: "s"}); err != nil || d.Verdict.Reason != tt.reason {
			t.Errorf("after %q: %q %v, want %q", tt.src, d.Verdict.Reason, err, tt.reason)
		}
	}
}
