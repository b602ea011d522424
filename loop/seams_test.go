package loop_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

func TestLocalLog(t *testing.T) {
	looptest.Recorder(t, func(t *testing.T) (loop.Recorder, func() []*loop.Record) {
		dir := t.TempDir()
		return loop.LocalLog(dir), func() (all []*loop.Record) {
			lines, err := store.Open(dir).ReadLog(nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range lines {
				r := new(loop.Record)
				decode(t, line, r)
				all = append(all, r)
			}
			return all
		}
	})
}

// ralph's own sources keep what is asked of those of others.
func TestOwnSources(t *testing.T) {
	p := newProject(t, map[string]string{
		"a.txt": "text\n", "a.json": `{"n": 1, "s": "x"}`, "b.json": `{"n": 2}`, "c.json": `{"n": 3}`,
		"a.md": "---\nn: 1\n---\nbody\n", "b.md": "---\nn: 2\n---\n", "todo.md": "- [ ] one\n- [x] two\n",
	})
	root, err := state.OpenRoot(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for kind, files := range map[string][]string{
		"text": {"a.txt"}, "json": {"a.json", "b.json", "c.json"}, "frontmatter": {"a.md", "b.md"}, "checklist": {"todo.md"}, "glob": {"*.json"},
	} {
		t.Run(kind, func(t *testing.T) {
			src, w := loop.OwnSource(kind, root)
			var queries []loop.Query
			for _, file := range files {
				program, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte("ralph: 1\nfacts: {f: {"+kind+": '"+file+"'}}\nrules: [{name: go, when: ok(f), continue: on}]"), loop.Config())
				if program == nil {
					t.Fatal(diags.Format())
				}
				q := loop.Query{Fact: program.Facts()[0], Root: root, Now: p.now, Env: func(string) string { return "" }}
				q.Args, q.Options = q.Fact.Split([]string{file})
				looptest.Source(t, src, q)
				queries = append(queries, q)
			}
			if src.Kind().Editable {
				looptest.Writer(t, src, w, []any{"n"}, 7, queries...)
			}
		})
	}
}

// Your own source and writer are tested in the same way.
func TestTable(t *testing.T) {
	src := &table{name: "table", rows: map[string]int{"a": 1, "b": 2}}
	program, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte("ralph: 1\nfacts: {a: {table: a}, b: {table: b}}\nrules: []"), loop.Config(loop.WithSource(src)))
	if program == nil {
		t.Fatal(diags.Format())
	}
	var queries []loop.Query
	for _, f := range program.Facts() {
		q := loop.Query{Fact: f, Args: []string{f.Name}}
		looptest.Source(t, src, q)
		queries = append(queries, q)
	}
	looptest.Writer(t, src, src, []any{"n"}, 7, queries...)
}

// Whatever is where the memory should be and is not one is an error, and nothing replaces it.
func TestLocalStoreDamaged(t *testing.T) {
	key := loop.Key{Policy: "p", Session: "s"}
	for _, content := range []string{
		"", "{", "[]", "null", "{}", "\x00", `{"v": 2}`, `{"v": 1, "total": "x"}`, `{"v": 1, "total": 1.5}`, `{"v": 1, "total": -1}`, `{"v": 1, "turn": 1}`,
		`{"v": 1, "since": "yesterday"}`, `{"v": 1, "said": []}`, `{"v": 1, "said": {"r": {}}}`, `{"v": 1, "said": {"r": [1]}}`, `{"v": 1, "of": {"p": -1}}`,
		strings.Repeat("x", 5<<20),
	} {
		dir := t.TempDir()
		s := loop.LocalStore(dir)
		if err := s.Save(t.Context(), loop.Write{Entries: []loop.Entry{{Key: key, Memory: rules.Memory{Total: 1}}}}); err != nil {
			t.Fatal(err)
		}
		for _, name := range entries(t, filepath.Join(dir, "entries")) {
			if err := os.WriteFile(filepath.Join(dir, "entries", name), []byte(content+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got, err := s.Load(t.Context(), key)
		if err == nil || !strings.HasSuffix(err.Error(), "run `ralph reset p --session s` to begin again with nothing counted") {
			t.Errorf("%.30q returns %+v, error %v", content, got, err)
		}
		if err := s.Save(t.Context(), loop.Write{Entries: []loop.Entry{{Key: key}}}); err == nil {
			t.Errorf("%.30q is replaced", content)
		}
	}
}

// Keys that look alike when they are joined are different keys.
func TestLocalStoreKeys(t *testing.T) {
	s := loop.LocalStore(t.TempDir())
	keys := []loop.Key{
		{Session: "a\x00b", Agent: "c"}, {Session: "a", Agent: "b\x00c"}, {Session: "a\x00b\x00c"}, {Root: "r", Policy: "p", Project: true},
		{Host: "project", Session: "r", Agent: "p"}, {Session: "\xff"}, {Session: "\ufffd"},
	}
	for i, k := range keys {
		if err := s.Save(t.Context(), loop.Write{Entries: []loop.Entry{{Key: k, Memory: rules.Memory{Total: i}}}}); err != nil {
			t.Errorf("%+v: %v", k, err)
		}
	}
}

// A record reads back as it was written, in the documented form.
func TestRecordForm(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": 1, "name": "x"}`})
	l := p.named("policy.yaml", `ralph: 1
facts:
  state: {json: state.json, schema: {properties: {n: {type: integer}}}}
progress: state.n
limits: {repeats: 3}
rules:
  - name: hurry
    when: said("DONE")
    unless_repeated: {times: 2, per: session}
    note: hurry
  - name: go
    when: state.n < 3
    continue: go on
    notice: n is ${state.n}
    log: going on
    then: [{set: state.n = state.n + 1}]
finally:
  - prune: {glob: "*.tmp", older: 1h}
`, nil)
	ev := p.turn("t1")
	ev.Host, ev.LastAssistantMessage = "claude-code", "DONE"
	p.run(l, ev)
	if err := os.Chtimes(p.path("state.json"), p.now, p.now); err != nil {
		t.Fatal(err)
	}
	p.now = p.now.Add(90_000_000_000)
	p.run(l, ev)
	var back loop.Record
	decode(t, []byte(p.lines[1]), &back)
	again, err := json.Marshal(back)
	if err != nil || string(again) != p.lines[1] {
		t.Errorf("it reads back as\n%s\nwant\n%s", again, p.lines[1])
	}
	golden(t, "testdata/record.json", stable(t, p.lines[1], p.dir))
}

// stuck is a recorder that waits for its context to end.
type stuck struct{}

func (stuck) Record(ctx context.Context, _ *loop.Record) error {
	<-ctx.Done()
	return ctx.Err()
}

// A recorder that hangs delays the answer and does not keep it.
func TestRecorderThatHangs(t *testing.T) {
	p, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte("ralph: 1\nrules: [{name: a, continue: Go on.}]\n"), loop.Config())
	if p == nil {
		t.Fatal(diags.Format())
	}
	l, err := loop.New(p, loop.WithRecorder(stuck{}))
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.Run(t.Context(), host.Event{})
	if err != nil || !d.Continue() || !strings.Contains(strings.Join(d.Notices, "\n"), "a recorder does not have the decision: ") {
		t.Errorf("error %v, %q, notices %q", err, said(d), d.Notices)
	}
}

// A fact that the program passes has its value by name. Without one it is missing, and
// the user sees that.
func TestInput(t *testing.T) {
	const policy = "ralph: 1\nfacts: {failing: {input: {type: integer}}}\nrules: [{name: go, when: failing > 0, continue: '${failing} fail'}]\n"
	for want, opts := range map[string][]loop.Option{
		`continue: 2 fail`: {loop.WithValues(map[string]any{"failing": 2})},
		`stop:  [failing: is not provided by the program]`:                                                                          nil,
		`stop fact: the rule go is undecided: failing is invalid: is "two", expected integer [failing: is "two", expected integer]`: {loop.WithValues(map[string]any{"failing": "two"})},
	} {
		d := alone(t, policy, opts...).Preview(t.Context(), host.Event{})
		got := strings.TrimSpace(fmt.Sprintf("%s %s", d.Verdict.Action, d.Verdict.Cause)) + ": " + d.Verdict.Reason
		for _, p := range d.Verdict.Problems {
			got += " [" + p.Text + "]"
		}
		if got != want {
			t.Errorf("it says %s\nwant %s", got, want)
		}
	}
}

// What the options of an evaluation say is not given by value.
func TestValuesOfOptions(t *testing.T) {
	p, diags := rules.LoadBytes(t.Context(), "p.yaml", []byte("ralph: 1\nrules: []\n"), loop.Config())
	if p == nil {
		t.Fatal(diags.Format())
	}
	for name, want := range map[string]string{"now": "loop.WithClock", "loop.total": "loop.WithStore"} {
		if _, err := loop.New(p, loop.WithValues(map[string]any{name: 1})); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
