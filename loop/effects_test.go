package loop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Effects on files are made together with the count, all or none.
func TestEffectsOnFiles(t *testing.T) {
	for _, c := range []struct {
		name, facts, then string
		files, want       map[string]string
		outcome           rules.Outcome
	}{
		{
			"several fields of one file", "state: {json: s.json}", "{set: state.n = state.n + 1}, {set: state.b = true}",
			map[string]string{"s.json": `{"n": 1}`}, map[string]string{"s.json": `{"n": 2, "b": true}`}, rules.Continued,
		},
		{
			"front matter and a text", "m: {frontmatter: m.md}\n  x: {text: x.txt}", "{set: m.n = 2}, {set: x = \"new\"}",
			map[string]string{"m.md": "---\nn: 1 # keep\n---\nbody\n", "x.txt": "old"}, map[string]string{"m.md": "---\nn: 2 # keep\n---\nbody\n", "x.txt": "new\n"}, rules.Continued,
		},
		{
			"a file with a default is made, with the default", "state: {json: d/s.json, default: {a: 1}}", "{set: state.n = 2}",
			nil, map[string]string{"d/s.json": "{\n  \"a\": 1,\n  \"n\": 2\n}\n"}, rules.Continued,
		},
		{
			"one that cannot be changed", "a: {json: a.json}\n  b: {json: .vscode/b.json}", "{set: a.n = 2}, {set: b.n = 2}",
			map[string]string{"a.json": "{}", ".vscode/b.json": "{}"}, map[string]string{"a.json": "{}", ".vscode/b.json": "{}"}, rules.Failed,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := project(t, c.files)
			l := load(t, fmt.Sprintf("facts:\n  %s\nrules:\n  - {name: go, continue: go, then: [%s]}\n", c.facts, c.then), loop.WithRoot(dir))
			d := decide(t, l, loop.Event{})
			got := map[string]string{}
			for name := range c.want {
				got[name] = content(t, filepath.Join(dir, name))
			}
			if diff := cmp.Diff(c.want, got); d.Outcome != c.outcome || diff != "" {
				t.Errorf("%s (%s); files (-want +got):\n%s", d.Outcome, d.Reason, diff)
			}
		})
	}
}

// A file that changes while it is decided on is decided on again, three times at most.
func TestFilesThatChange(t *testing.T) {
	for changes, want := range map[int]rules.Outcome{0: rules.Continued, 3: rules.Continued, 4: rules.Failed} {
		dir := project(t, map[string]string{"s.json": `{"n": 0}`})
		state, evaluations := filepath.Join(dir, "s.json"), 0
		l := load(t, `
facts: {state: {json: s.json}, other: {own: x}}
rules:
  - {name: go, when: state.n >= 0 and ok(other), continue: "${state.n}", then: [{set: state.n = state.n + 100}]}
`, loop.WithRoot(dir), loop.WithSource("own", func(context.Context, loop.Event, rules.Query) (any, error) {
			if evaluations++; evaluations <= changes {
				write(t, state, fmt.Sprintf(`{"n": %d}`, evaluations))
			}
			return 1, nil
		}))
		d := decide(t, l, loop.Event{ID: "e1"})
		wantState := fmt.Sprintf(`{"n": %d}`, changes+100)
		if want == rules.Failed {
			wantState = `{"n": 4}`
		}
		if got := content(t, state); d.Outcome != want || got != wantState || evaluations != min(changes, 3)+1 {
			t.Errorf("after %d changes and %d evaluations: %s (%s), %s", changes, evaluations, d.Outcome, d.Reason, got)
		}
		if d := decide(t, l, loop.Event{ID: "e1"}); d.Outcome != rules.Continued { // what another try can help is not kept
			t.Errorf("the delivery that comes again after %d changes is %s (%s)", changes, d.Outcome, d.Reason)
		}
	}
}

// Programs, own effects and prune come after the verdict is saved, and change nothing about it.
func TestEffectsAfterTheVerdict(t *testing.T) {
	mine := errors.New("mine")
	dir := project(t, map[string]string{"old/a.log": "", "old/b.txt": ""})
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(filepath.Join(dir, "old/a.log"), long, long); err != nil {
		t.Fatal(err)
	}
	s := loop.Map()
	l := load(t, `
rules:
  - {name: go, continue: go on, then: [{prune: {glob: "old/*.log", older: 1m}}, {run: [touch, ran]}, {tell: "n is ${loop.continuations}"}, {fall: x}]}
`, loop.WithRoot(dir), loop.WithStore(s), loop.WithAllow("run"),
		loop.WithEffect("tell", func(ctx context.Context, ev loop.Event, text string) error {
			if b, err := s.Load(ctx, "session/s"); text != "n is 0" || ev.Session != "s" || err != nil || b == nil {
				t.Errorf("the effect gets %q, and the counts are %q, %v", text, b, err)
			}
			return mine
		}),
		loop.WithEffect("fall", func(context.Context, loop.Event, string) error { panic("oh") }))
	d := decide(t, l, loop.Event{})
	if !d.Continue() || !errors.Is(d.Err, mine) || len(d.Log) != 2 || !strings.Contains(d.Log[1], "panicked: oh") {
		t.Errorf("the decision is %+v", d)
	}
	if _, err := os.Stat(filepath.Join(dir, "old/a.log")); err == nil {
		t.Error("prune left a file")
	}
	content(t, filepath.Join(dir, "old/b.txt"))
	content(t, filepath.Join(dir, "ran"))
}

// Start makes the files of a loop, and never replaces one.
func TestStart(t *testing.T) {
	dir := project(t, nil)
	l := load(t, `
facts: {state: {json: s.json}, m: {frontmatter: m.md}}
start:
  - set: 'state = {"n": 0}'
  - set: m = {}
  - set: m.active = true
  - set: m.body = text
rules: [{name: go, when: state.n == 0, continue: "${m.body}"}]
`, loop.WithRoot(dir))
	if err := l.Start(t.Context(), "the task"); err != nil {
		t.Fatal(err)
	}
	if d := decide(t, l, loop.Event{}); !strings.Contains(d.Reason, "the task") {
		t.Errorf("the decision is %+v", d)
	}
	before := content(t, filepath.Join(dir, "m.md"))
	os.Remove(filepath.Join(dir, "s.json"))
	if err := l.Start(t.Context(), "another"); err == nil || !strings.Contains(err.Error(), "m.md exists") {
		t.Errorf("over a file, Start returns %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "s.json")); err == nil || content(t, filepath.Join(dir, "m.md")) != before {
		t.Error("Start made one of two files, or changed one")
	}
	if err := load(t, "description: For a plugin.\nrules: [{name: go, continue: go}]\n", loop.WithRoot(dir)).Start(t.Context(), "a task"); err == nil || !strings.Contains(err.Error(), "has no start: what it is for, such as a plugin, begins its loop; it says: For a plugin.") {
		t.Errorf("without a start, Start returns %v", err)
	}
}

// Explain says what Decide would do, and leaves no trace.
func TestExplain(t *testing.T) {
	dir := project(t, map[string]string{"s.json": `{"n": 0}`})
	s := loop.Map()
	l := load(t, "limits: {continuations: 1}\nfacts: {state: {json: s.json}}\nrules:\n  - {name: go, when: state.n < 9, continue: go, then: [{set: state.n = state.n + 1}]}\n", loop.WithRoot(dir), loop.WithStore(s))
	explain := func(want rules.Outcome) {
		t.Helper()
		v, err := l.Explain(t.Context(), loop.Event{Session: "s"})
		if err != nil || v.Outcome != want || v.Trace == nil || len(v.Trace.Rules) != 1 || v.Trace.Facts[0].Path != "s.json" {
			t.Errorf("Explain: %+v, %v; want %s", v, err, want)
		}
	}
	explain(rules.Continued)
	if keys, err := s.Keys(t.Context(), ""); err != nil || len(keys) > 0 || content(t, filepath.Join(dir, "s.json")) != `{"n": 0}` {
		t.Errorf("after Explain there are the documents %q, %v", keys, err)
	}
	decide(t, l, loop.Event{})
	explain(rules.Limit)
}
