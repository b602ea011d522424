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

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// counterPolicy counts in a file of the project.
const counterPolicy = `
ralph: 1
facts:
  state:
    json: state.json
    inline: true
    schema: {properties: {n: {type: integer, default: 0}, max: {type: integer, default: 1000}}}
rules:
  - name: enough
    when: n >= state.max
    stop: enough
  - name: go
    when: ok(state)
    continue: n is ${n}, streak ${loop.continuations}
    notice: counted
    log: counting
    then:
      - set: state.n = n + 1
`

// The file is changed before the agent continues, and only that value of it.
func TestApply(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": "{\r\n  \"keep\": 1.0, \"n\": 4\r\n}\r\n"})
	d := p.run(p.loop(counterPolicy), p.stop())
	if want := "n is 4, streak 0"; said(d) != want || !d.Kept {
		t.Errorf("%q, applied %v", said(d), d.Kept)
	}
	if diff := cmp.Diff("{\r\n  \"keep\": 1.0, \"n\": 5\r\n}\r\n", p.read("state.json")); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"[ralph] counting"}, d.Log); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"counted"}, d.Notices); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
}

// Decide changes nothing, neither in the project nor in ralph's own directory.
func TestDecideChangesNothing(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": 4}`})
	l := p.loop(counterPolicy)
	for range 3 {
		d := l.Preview(t.Context(), p.stop())
		if want := "n is 4, streak 0"; said(d) != want {
			t.Errorf("%q, want %q", said(d), want)
		}
	}
	if p.read("state.json") != `{"n": 4}` || len(entries(t, p.store)) > 0 || len(p.lines) > 0 {
		t.Errorf("file %s, store %q, log %q", p.read("state.json"), entries(t, p.store), p.lines)
	}
}

// A change between Decide and Apply leads to a new decision.
func TestApplyDecidesAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *project, l *loop.Loop)
		want   string
		file   string
	}{
		{"nothing", func(*project, *loop.Loop) {}, "n is 1, streak 0", `{"n": 2}`},
		{"the file", func(p *project, _ *loop.Loop) { p.write("state.json", `{"n": 7}`) }, "n is 7, streak 0", `{"n": 8}`},
		{"the file, and now a stop holds", func(p *project, _ *loop.Loop) { p.write("state.json", `{"n": 7, "max": 7}`) }, "stop enough", `{"n": 7, "max": 7}`},
		{"the file is gone", func(p *project, _ *loop.Loop) { os.Remove(p.path("state.json")) }, "stop", ""},
		{"the memory", func(p *project, l *loop.Loop) { p.run(l, p.stop()) }, "n is 2, streak 1", `{"n": 3}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"state.json": `{"n": 1}`})
			l := p.loop(counterPolicy)
			d := l.Preview(t.Context(), p.stop())
			c.change(p, l)
			d, err := l.Apply(t.Context(), d)
			if err != nil || said(d) != c.want {
				t.Errorf("%q, error %v, want %q", said(d), err, c.want)
			}
			if b, _ := os.ReadFile(p.path("state.json")); string(b) != c.file {
				t.Errorf("file %s, want %s", b, c.file)
			}
		})
	}
}

// busyPolicy names a variable after its file. While that variable is read, the tests
// change the file without taking a lock.
const busyPolicy = `
ralph: 1
facts:
  state: {json: state.json, schema: {properties: {n: {type: integer, default: 0}}}}
  asked: {ask: "once"}
rules:
  - name: go
    when: state.n < 100 and asked == "answer 1" and env.TICK == ""
    unless_repeated: {times: 1, per: prompt}
    continue: n is ${state.n}, streak ${loop.continuations}
    then: [{set: state.n = state.n + 1}]
`

// counting is a source that counts how often it is gathered.
type counting struct{ asked *int }

func (counting) Kind() rules.SourceKind {
	return rules.SourceKind{Name: "ask", Doc: "Counts.", Once: true}
}

func (c counting) Gather(context.Context, loop.Query) rules.Value {
	*c.asked++
	return rules.Value{V: fmt.Sprintf("answer %d", *c.asked)}
}

// A writer that takes no lock may come in while the locks are held. The decision is
// then made again on what the file has now, but on the memory as it was found: this
// event has not been counted yet. A source that is asked once is not asked twice.
func TestApplyAgainstOtherWriters(t *testing.T) {
	for _, c := range []struct {
		name   string
		writes int // so many evaluations see the file changed right after
		want   string
		file   string
	}{
		{"one", 1, "n is 11, streak 0", `{"n":12}`},
		{"some", 4, "n is 14, streak 0", `{"n":15}`},
		{"until the time is up", 1 << 30, "stop", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"state.json": `{"n":10}`})
			ticks, asked := 0, 0
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			p.getenv = func(name string) string {
				if name == "TICK" {
					if ticks++; ticks <= c.writes {
						p.write("state.json", fmt.Sprintf(`{"n":%d}`, 10+ticks%80))
					}
					if ticks == 8 {
						cancel()
					}
				}
				return ""
			}
			l := p.named("policy.yaml", busyPolicy, []loop.Source{counting{&asked}})
			d, _ := l.Run(ctx, p.turn("a")) // the error is in d
			if said(d) != c.want {
				t.Errorf("%q, want %q, after %d evaluations: %v", said(d), c.want, ticks, d.Err)
			}
			if asked != 1 {
				t.Errorf("the source was asked %d times", asked)
			}
			if c.file == "" {
				if d.Err == nil || len(d.Notices) != 1 || !strings.Contains(d.Notices[0], "changed since it was read, again and again") || !errors.Is(d.Err, loop.ErrConflict) || !errors.Is(d.Err, context.Canceled) {
					t.Errorf("error %v, notices %q", d.Err, d.Notices)
				}
				// What did not happen was not counted, so the rule is not skipped.
				c.writes, ticks, asked = 0, 1, 0
				p.write("state.json", `{"n":20}`)
				if d := p.run(p.named("policy.yaml", busyPolicy, []loop.Source{counting{&asked}}), p.turn("a")); said(d) != "n is 20, streak 0" {
					t.Errorf("afterwards %q", said(d))
				}
				return
			}
			if p.read("state.json") != c.file {
				t.Errorf("file %s, want %s", p.read("state.json"), c.file)
			}
			if d := p.run(l, p.turn("a")); said(d) != "stop" {
				t.Errorf("the second time %q, although the rule was in a verdict of this turn", said(d))
			}
		})
	}
}

// Effects on one file are one change, in order. What becomes of the file comes last,
// and of two wishes the one that loses nothing counts.
func TestEffects(t *testing.T) {
	for _, c := range []struct {
		name, then string
		file       string // "" if it is gone
		archived   string
	}{
		{"two values", "[{set: s.a = 2}, {set: s.b = 3}]", `{"a":2,"b":3}`, ""},
		{"the same value twice", "[{set: s.a = 2}, {set: s.a = 4}]", `{"a":4,"b":1}`, ""},
		{"delete", "[{delete: s}]", "", ""},
		{"set, then archive", "[{set: s.a = 2}, {archive: s}]", "", `{"a":2,"b":1}`},
		{"delete and archive", "[{delete: s}, {archive: s}]", "", `{"a":1,"b":1}`},
		{"archive twice", "[{archive: s}, {archive: s}]", "", `{"a":1,"b":1}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, map[string]string{"s.json": `{"a":1,"b":1}`})
			d := p.run(p.loop("ralph: 1\nfacts:\n  s: {json: s.json, schema: {properties: {a: {type: integer}, b: {type: integer}}}}\n"+
				"rules:\n  - name: end\n    when: ok(s)\n    stop: the end\n    then: "+c.then), p.stop())
			if d.Err != nil {
				t.Fatal(d.Err)
			}
			if b, _ := os.ReadFile(p.path("s.json")); string(b) != c.file {
				t.Errorf("file %q, want %q", b, c.file)
			}
			archived, _ := os.ReadFile(p.path(".ralph/archive/20261120T120000Z/s.json"))
			if string(archived) != c.archived {
				t.Errorf("archive %q, want %q", archived, c.archived)
			}
			for _, e := range d.Record(false).Effects {
				want := ""
				if e.Kind == rules.ArchiveEffect {
					want = ".ralph/archive/20261120T120000Z/s.json"
				}
				if e.To != want {
					t.Errorf("the record says that %s moved the file to %q, want %q", e.Kind, e.To, want)
				}
			}
		})
	}
}

// A field is added together with its object if the schema has a default for the object.
// Without one there is no place for it, which the trace shows.
func TestSetInADefault(t *testing.T) {
	const policy = "ralph: 1\nfacts:\n  s: {json: s.json, schema: {properties: {o: {default: {y: 1}, properties: {x: {type: integer}, y: {type: integer}}}, bare: {properties: {x: {type: integer}}}}}}\n" +
		"rules:\n  - name: go\n    when: s.o.y == 1\n    continue: on\n    then: [{set: s.o.x = 7}, {set: s.bare.x = 7}]"
	for before, after := range map[string]string{`{"a":1}`: `{"a":1,"o":{"x":7,"y":1}}`, `{"o":null}`: `{"o":{"x":7,"y":1}}`, `{"o":{"y":1}}`: `{"o":{"y":1,"x":7}}`} {
		p := newProject(t, map[string]string{"s.json": before})
		d := p.run(p.loop(policy), p.stop())
		if warnings := strings.Join(d.Verdict.Trace.Warnings, "\n"); said(d) != "on" || p.read("s.json") != after || !strings.Contains(warnings, `there is no object at "/bare"`) {
			t.Errorf("%s: it says %q, the file is %s, error %v, warnings %s", before, said(d), p.read("s.json"), d.Err, warnings)
		}
	}
}

// Effects that cannot be made end the loop with a notice: the agent stops, the texts of
// the rules are not shown, nothing is counted, and the file is unchanged.
func TestEffectsFail(t *testing.T) {
	files := map[string]string{
		"a value that cannot be written there": `{"n": {}}`,
		"a document that is none":              `[1]`,
	}
	for name, content := range files {
		t.Run(name, func(t *testing.T) {
			p := newProject(t, map[string]string{"state.json": content})
			l := p.loop(`
ralph: 1
facts: {state: {json: state.json}}
rules:
  - name: go
    continue: on
    log: said
    notice: told
    then: [{set: state.n.m.k = 1}, {delete: state}, {set: state.n.m = 2}]
`)
			for i := range 2 {
				d := p.run(l, p.turn("a"))
				if d.Continue() || i == 0 && len(d.Notices) == 0 || strings.Contains(fmt.Sprint(d.Notices, d.Log), "told") {
					t.Errorf("%q: notices %q, log %q", said(d), d.Notices, d.Log)
				}
			}
			if p.read("state.json") != content {
				t.Errorf("file %s", p.read("state.json"))
			}
			if d := p.run(p.loop("ralph: 1\nrules: [{name: go, continue: 'streak ${loop.continuations} of ${loop.total}'}]"), p.turn("a")); said(d) != "streak 0 of 0" {
				t.Errorf("afterwards %q", said(d))
			}
		})
	}
}

// A continue is given only after its count is on disk.
func TestNoCountNoContinue(t *testing.T) {
	p := newProject(t, nil)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.store = filepath.Join(file, "below")
	l := p.loop("ralph: 1\nprefix: mine\nrules: [{name: go, continue: on}]")
	d := p.run(l, p.stop())
	if d.Continue() || d.Err == nil {
		t.Fatalf("%q, error %v", said(d), d.Err)
	}
	if len(d.Notices) != 2 || !strings.Contains(d.Notices[1], "the decision is not in the log") || !strings.HasPrefix(d.Notices[0], "[mine] policy.yaml: it is not known how often the loop was continued, and whether it is stopped or paused") || len(d.Log) != 1 {
		t.Errorf("notices %q, log %q", d.Notices, d.Log)
	}
}

// Whatever is at the path of a memory and cannot be read lets the agent stop, at every event, and stays there. The notice
// has the command that moves it away. Only a missing file is zero.
func TestDamagedMemory(t *testing.T) {
	for _, content := range []string{"", "{torn", `{"v":2}` + "\n", `{"v":1,"total":-1}` + "\n", "\x00\n"} {
		p := newProject(t, map[string]string{"step.txt": "1"})
		l := p.loop(streakPolicy)
		p.run(l, p.turn("a"))
		var files []string
		for _, name := range entries(t, p.store) {
			if strings.HasPrefix(name, "entries/") {
				files = append(files, filepath.Join(p.store, name))
			}
		}
		if len(files) != 2 { // of the loop, and of the session
			t.Fatalf("the memory is in %q", files)
		}
		for _, file := range files {
			whole, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			write := func(content string) {
				if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(content)
			for _, ev := range []host.Event{p.turn("a"), p.turn("b"), {Name: host.UserPromptSubmit, SessionID: "s", Cwd: p.dir}} {
				d := p.run(l, ev)
				if d.Continue() || d.Err != nil && (d.Verdict.Cause != rules.FaultMemory || len(d.Notices) != 1 || !strings.Contains(d.Notices[0], "--session s`")) {
					t.Errorf("%.20q: %q, %s, notices %q", content, said(d), d.Verdict.Cause, d.Notices)
				}
				if left, err := os.ReadFile(file); err != nil || string(left) != content {
					t.Errorf("%.20q became %q, %v", content, left, err)
				}
			}
			write(string(whole))
		}
		if d := p.run(l, p.turn("a")); said(d) != "1 of 1, 1 the same" || len(d.Notices) != 0 {
			t.Errorf("once it is whole: %q, notices %q", said(d), d.Notices)
		}
	}
}

// A decision can be applied once, and not after it was closed.
func TestApplyOnce(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": 1}`})
	l := p.loop(counterPolicy)
	d := l.Preview(t.Context(), p.stop())
	if _, err := l.Apply(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	if d, err := l.Apply(t.Context(), d); err == nil || d.Continue() {
		t.Errorf("the second time: %q, error %v", said(d), err)
	}
	if want := `{"n": 2}`; p.read("state.json") != want {
		t.Errorf("file %s, want %s", p.read("state.json"), want)
	}
}

// When the time is up, nothing is changed any more.
func TestApplyInTime(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": 1}`})
	l := p.loop(counterPolicy)
	ctx, cancel := context.WithCancel(t.Context())
	d := l.Preview(ctx, p.stop())
	cancel()
	if d, err := l.Apply(ctx, d); !errors.Is(err, context.Canceled) || d.Continue() {
		t.Errorf("%q, error %v", said(d), err)
	}
	if d := l.Preview(ctx, p.stop()); !errors.Is(d.Err, context.Canceled) || d.Continue() {
		t.Errorf("decided after the end: %q, error %v", said(d), d.Err)
	}
	if p.read("state.json") != `{"n": 1}` || len(entries(t, filepath.Join(p.store, "entries"))) > 0 {
		t.Errorf("file %s, store %q", p.read("state.json"), entries(t, p.store))
	}
}

// What follows a verdict is best effort: prunes and log lines of finally.
func TestFinally(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": 1}`, "old.tmp": "", "new.tmp": ""})
	at := p.now.Add(-2 * time.Hour)
	if err := os.Chtimes(p.path("old.tmp"), at, at); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(p.path("new.tmp"), p.now, p.now); err != nil {
		t.Fatal(err)
	}
	d := p.run(p.loop(counterPolicy+`
finally:
  - when: ok(state)
    prune: {glob: "*.tmp", older: 1h}
  - log: n was ${n}
`), p.stop())
	if _, err := os.Stat(p.path("old.tmp")); !os.IsNotExist(err) {
		t.Error("the old file is still there")
	}
	if _, err := os.Stat(p.path("new.tmp")); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"[ralph] counting", "[ralph] n was 1"}, d.Log); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}
}

// On a prompt nothing is decided and nothing is changed; notes go to the agent and
// notices to the user.
func TestPrompt(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": 1}`})
	l := p.loop(`
ralph: 1
events: [Stop, UserPromptSubmit]
facts: {state: {json: state.json, schema: {properties: {n: {type: integer}}}}}
rules:
  - name: note
    when: state.n == 1
    note: there is a loop
    notice: a word to the person
    then: [{set: state.n = 2}]
  - name: quiet
    log: to stderr
    then: [{delete: state}]
  - name: no
    stop: never here
  - name: go
    continue: never here
`)
	claude, _ := host.Lookup(host.ClaudeCode)
	out := l.Hook(t.Context(), claude, p.input(map[string]any{"hook_event_name": "UserPromptSubmit", "prompt": "go", "prompt_id": "1"}))
	got := decoded(t, out)
	if got.Decision != "" || got.Specific.Context != "there is a loop" || got.SystemMessage != "a word to the person" || string(out.Stderr) != "[ralph] to stderr\n" {
		t.Errorf("stdout %s, stderr %s", out.Stdout, out.Stderr)
	}
	if p.read("state.json") != `{"n": 1}` {
		t.Errorf("file %s", p.read("state.json"))
	}
}
