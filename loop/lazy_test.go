package loop_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
)

// gathered lists the facts of a decision in the order in which they were gathered.
func gathered(d *loop.Decision) (names []string) {
	for _, f := range d.Verdict.Trace.Facts {
		names = append(names, f.Name)
	}
	return names
}

// A fact that no evaluated operand names is never gathered: not by rules after the one
// that decides, not by operands that "and" and "or" skip, not by lets and texts that
// nothing uses.
func TestUntouchedFacts(t *testing.T) {
	const head = `
ralph: 1
facts:
  a: {text: a.txt}
  b: {text: b.txt}
  c: {text: "${b}.txt"}
  boom: {ask: never}
let:
  both: a + b
  unread: boom + b
rules:
`
	for _, c := range []struct {
		name, rules string
		want        []string
	}{
		{"no rule", "  []", nil},
		{"the first decides", "  - {name: r, when: a == 'x', stop: s}\n  - {name: q, when: b == 'x', stop: '${boom}'}", []string{"a"}},
		{"and", "  - {name: r, when: a == 'no' and boom == 'x', stop: s}", []string{"a"}},
		{"or", "  - {name: r, when: a == 'x' or boom == 'x', stop: s}", []string{"a"}},
		{"choice", "  - {name: r, when: \"a == 'x' ? b == 'y' : boom == 'x'\", stop: s}", []string{"a", "b"}},
		{"a let", "  - {name: r, when: both == 'xy', stop: s}", []string{"a", "b"}},
		{"a path", "  - {name: r, when: c == 'x', stop: s}", []string{"b", "c"}},
		{"asking", "  - {name: r, when: missing(c), stop: s}", []string{"b", "c"}},
		{"the text of a rule that holds", "  - {name: r, stop: '${a}'}", []string{"a"}},
		{"the text of one that does not", "  - {name: r, when: a == 'no', stop: '${boom}'}", []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"a.txt": "x", "b.txt": "y"})
			asked := 0
			d := p.run(p.named("p.yaml", head+c.rules, []loop.Source{counting{&asked}}), p.stop())
			if diff := cmp.Diff(c.want, gathered(d)); diff != "" {
				t.Errorf("gathered (-want +got):\n%s", diff)
			}
			if asked > 0 {
				t.Error("the source that nobody names was asked")
			}
		})
	}
}

// A model is asked only when every condition before it holds, and once.
func TestSourcesAreAskedOnce(t *testing.T) {
	p := newProject(t, nil)
	asked := 0
	d := p.run(p.named("p.yaml", `
ralph: 1
facts: {it: {ask: x}}
let: {again: it}
rules:
  - {name: a, when: it == "nothing", stop: a}
  - {name: b, when: again == "nothing" or it == "answer 2", stop: b}
  - {name: c, continue: "${it} ${again}"}
`, []loop.Source{counting{&asked}}), p.stop())
	if said(d) != "answer 1 answer 1" || asked != 1 {
		t.Errorf("%q, asked %d times", said(d), asked)
	}
}

// The session file is opened only if a rule reads the agent's words, and not if the hook
// input is enough to decide.
func TestTranscriptIsLeftAlone(t *testing.T) {
	for _, c := range []struct {
		name, when, last string
		read             bool
	}{
		{"not asked for", "true", "", false},
		{"in the last message", `said("DONE")`, "DONE", false},
		{"not in it", `said("DONE")`, "still at it", true},
		{"no last message", `said("DONE")`, "", true},
		{"empty text", `not mentions("")`, "done", false},
		{"tools", `transcript.tools == []`, "DONE", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			ev := p.stop()
			ev.TranscriptPath, ev.LastAssistantMessage = p.path("no-such-file.jsonl"), c.last
			d := p.run(p.loop("ralph: 1\nrules: [{name: r, when: '"+c.when+"', stop: s}]"), ev)
			read := false
			for _, w := range d.Verdict.Trace.Warnings {
				read = read || strings.HasPrefix(w, "transcript ")
			}
			if read != c.read {
				t.Errorf("read %v, want %v; warnings %q", read, c.read, d.Verdict.Trace.Warnings)
			}
		})
	}
}

// A file that is being written is read once it is whole.
func TestYoungFile(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": `})
	p.now = p.now.Add(time.Second - 2*time.Hour) // when the file was written
	time.AfterFunc(30*time.Millisecond, func() {
		path := p.path("whole.json")
		if os.WriteFile(path, []byte(`{"n": 2}`), 0o644) == nil {
			os.Rename(path, p.path("state.json"))
		}
	})
	d := p.run(p.loop(`
ralph: 1
facts:
  state: {json: state.json, schema: {properties: {n: {type: integer, default: 0}}}}
rules:
  - {name: go, when: ok(state), continue: "n is ${state.n}"}
`), p.stop())
	if said(d) != "n is 2" {
		t.Errorf("%q, %v", said(d), d.Err)
	}
}

// What a hostile project has instead of a state never holds the agent, is reported, and
// stays as it is.
func TestHostileFiles(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	const policy = `
ralph: 1
facts:
  state: {json: state.json, inline: true, schema: {properties: {n: {type: integer, default: 0}}}}
rules:
  - name: go
    when: n < 5
    continue: on
    then: [{set: state.n = n + 1}]
`
	for _, c := range []struct {
		name  string
		make  func(path string) error
		quiet bool
		told  string
	}{
		{"absent", func(string) error { return nil }, true, ""},
		{"empty", content(""), false, "is not valid JSON"},
		{"binary", content("\x00\xff\xfe{}"), false, "is not valid JSON"},
		{"a list", content("[1]"), false, ""},
		{"two documents", content("{} {}"), false, ""},
		{"deep", content(strings.Repeat(`{"a":`, 100_000) + "1" + strings.Repeat("}", 100_000)), false, ""},
		{"huge", content(`{"a": "` + strings.Repeat("x", 9<<20) + `"}`), false, "is too big"},
		{"a wrong type", content(`{"n": "many"}`), false, "n"},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o755) }, false, "is a directory"},
		{"a link to itself", func(path string) error { return os.Symlink("state.json", path) }, false, "a link in a cycle"},
		{"a link to nothing", func(path string) error { return os.Symlink("nothing", path) }, true, ""},
		{"a link out of the project", func(path string) error { return os.Symlink(os.TempDir(), path) }, false, "leads outside"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			if err := c.make(p.path("state.json")); err != nil {
				t.Skip(err)
			}
			before := fmt.Sprint(os.ReadFile(p.path("state.json")))
			d := p.run(p.loop(policy), p.stop())
			if d.Continue() || c.quiet != (len(d.Notices) == 0) || !strings.Contains(strings.Join(d.Notices, "\n"), c.told) {
				t.Errorf("%q, notices %q", said(d), d.Notices)
			}
			if after := fmt.Sprint(os.ReadFile(p.path("state.json"))); after != before {
				t.Errorf("it was %.80s and is %.80s", before, after)
			}
			for _, name := range entries(t, filepath.Join(p.store, "entries")) { // of what the session saw
				if b, err := os.ReadFile(filepath.Join(p.store, "entries", name)); err != nil || bytes.Contains(b, []byte(`"total"`)) {
					t.Errorf("something was counted: %s, %v", b, err)
				}
			}
		})
	}
}

func content(s string) func(string) error {
	return func(path string) error { return os.WriteFile(path, []byte(s), 0o644) }
}
