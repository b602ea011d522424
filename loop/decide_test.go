package loop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// load makes a loop of the rest of a policy file.
func load(t testing.TB, src string, opts ...loop.Option) *loop.Loop {
	t.Helper()
	return named(t, "policy", src, opts...)
}

func named(t testing.TB, name, src string, opts ...loop.Option) *loop.Loop {
	t.Helper()
	fsys := fstest.MapFS{name + ".yaml": {Data: []byte("ralph: 1\n" + src)}}
	env := loop.WithEnv(func(name string) (string, bool) {
		v := map[string]string{"HOME": os.Getenv("HOME")}[name]
		return v, v != ""
	})
	l, err := loop.Load(fsys, name+".yaml", append([]loop.Option{env}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func decide(t testing.TB, l *loop.Loop, ev loop.Event) loop.Decision {
	t.Helper()
	if ev.Session == "" {
		ev.Session = "s"
	}
	d, err := l.Decide(t.Context(), ev)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// project makes a directory with files.
func project(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	old := time.Now().Add(-time.Minute) // a file that was just written would be read again
	for name, content := range files {
		path := filepath.Join(dir, name)
		write(t, path, content)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func write(t testing.TB, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func content(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const always = `
limits: {continuations: 2, total: 5}
rules:
  - {name: waiting, when: prompt == "wait", stop: it waits}
  - {name: go, continue: go on}
`

// A prompt begins in the way that the sender can tell; limits.continuations counts within it.
func TestPrompts(t *testing.T) {
	wait := map[string]any{"prompt": "wait"}
	for _, c := range []struct {
		name   string
		events []loop.Event
		want   string // outcomes
	}{
		{"the sender says nothing about prompts", []loop.Event{{}, {}, {}, {}}, "continued continued limit limit"},
		{"the ID of the prompt", []loop.Event{{PromptID: "a"}, {PromptID: "a"}, {PromptID: "a"}, {PromptID: "b"}}, "continued continued limit continued"},
		{"the text of the prompt", []loop.Event{{PromptID: strings.Repeat("a", 1e5)}, {}, {PromptID: strings.Repeat("a", 1e5)}, {PromptID: "b"}}, "continued continued limit continued"},
		{"the first stop of a prompt", []loop.Event{{NewPrompt: true}, {}, {}, {NewPrompt: true}}, "continued continued limit continued"},
		{"a stop that a rule made", []loop.Event{{AfterStop: true}, {AfterStop: true}, {AfterStop: true, Names: wait}, {AfterStop: true}}, "continued continued stopped continued"},
		{"a limit is no such stop", []loop.Event{{AfterStop: true}, {AfterStop: true}, {AfterStop: true}, {AfterStop: true}}, "continued continued limit limit"},
		{"a stop of a rule, where the sender sends more", []loop.Event{{}, {}, {Names: wait}, {}}, "continued continued stopped limit"},
		{"the total of the session", []loop.Event{{PromptID: "a"}, {PromptID: "b"}, {PromptID: "c"}, {PromptID: "d"}, {PromptID: "e"}, {PromptID: "f"}}, "continued continued continued continued continued limit"},
		{"another session", []loop.Event{{}, {}, {}, {Session: "t"}}, "continued continued limit continued"},
		{"a turn that failed", []loop.Event{{}, {Failed: "rate limit"}, {}, {}}, "continued failed continued limit"},
		{"an event that the policy does not take", []loop.Event{{Name: "SubagentStop"}, {Name: "Other"}}, "idle idle"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := load(t, always)
			var got []string
			for _, ev := range c.events {
				got = append(got, string(decide(t, l, ev).Outcome))
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("the outcomes (-want +got):\n%s", diff)
			}
		})
	}
}

// Policies and subagents have counts of their own, and share the total of the session.
func TestSharedTotal(t *testing.T) {
	s := loop.Map()
	const src = "events: [Stop, SubagentStop]\nlimits: {continuations: 2, total: 4}\nrules:\n  - {name: go, continue: go on}\n"
	a, b := named(t, "a", src, loop.WithStore(s)), named(t, "b", src, loop.WithStore(s))
	agent := loop.Event{Name: "SubagentStop", Names: map[string]any{"agent_id": "x"}}
	for i, c := range []struct {
		l    *loop.Loop
		ev   loop.Event
		want string
	}{
		{a, loop.Event{}, ""}, {b, loop.Event{}, ""}, {a, loop.Event{}, ""}, {a, loop.Event{}, "limits.continuations"}, {a, agent, ""}, {b, loop.Event{}, "limits.total"},
	} {
		if d := decide(t, c.l, c.ev); d.Continue() != (c.want == "") || c.want != "" && d.Rule != c.want {
			t.Errorf("decision %d is %s by %s, want %q", i, d.Outcome, d.Rule, c.want)
		}
	}
}

// Tenants have counts of their own, whatever their names are.
func TestScopes(t *testing.T) {
	s := loop.Map()
	for _, scope := range []string{"", "a", "a/session", "session", "@a"} {
		l := load(t, "limits: {continuations: 1}\nrules:\n  - {name: go, continue: go on}\n", loop.WithStore(s), loop.WithScope(scope))
		for _, session := range []string{"s", "session/s", "@a/session/s"} {
			if d := decide(t, l, loop.Event{Session: session}); !d.Continue() {
				t.Errorf("%q in scope %q shares counts: %+v", session, scope, d)
			}
		}
	}
}

// A host without the flag gets it from the counts; what the host says counts more.
func TestStopHookActive(t *testing.T) {
	const src = "rules:\n  - {name: once, when: not stop_hook_active, continue: go on}\n"
	said := func(v bool) map[string]any { return map[string]any{"stop_hook_active": v} }
	l := load(t, src)
	for i, c := range []struct {
		ev   loop.Event
		want bool
	}{{loop.Event{}, true}, {loop.Event{}, false}, {loop.Event{NewPrompt: true}, true}, {loop.Event{Names: said(false)}, true}, {loop.Event{Names: said(true)}, false}, {loop.Event{Run: true}, true}} {
		if d := decide(t, l, c.ev); d.Continue() != c.want {
			t.Errorf("decision %d is %s", i, d.Outcome)
		}
	}
}

// Exactly as many decisions continue as the limit says, whatever number is made at once.
func TestConcurrentDecisions(t *testing.T) {
	for name, s := range map[string]loop.Store{"Map": loop.Map(), "Dir": loop.Dir(filepath.Join(t.TempDir(), "store"))} {
		t.Run(name, func(t *testing.T) {
			l := load(t, "limits: {continuations: 50}\nrules:\n  - {name: go, continue: go on}\n", loop.WithStore(s))
			var continued atomic.Int32
			var wg sync.WaitGroup
			for range 64 {
				wg.Go(func() {
					if d, err := l.Decide(t.Context(), loop.Event{Session: "s"}); err != nil {
						t.Error(err)
					} else if d.Continue() {
						continued.Add(1)
					}
				})
			}
			wg.Wait()
			if n := continued.Load(); n != 50 {
				t.Errorf("%d decisions continue, want 50", n)
			}
		})
	}
}

// The delivery that was decided last gets the same answer, ten times, and nothing is counted or changed again.
func TestDeliveries(t *testing.T) {
	dir := project(t, map[string]string{"state.json": `{"n": 0}`})
	l := load(t, `
facts: {state: {json: state.json}}
rules:
  - {name: go, continue: "go on, ${state.n}", notice: told, log: logged, then: [{set: state.n = state.n + 1}]}
`, loop.WithRoot(dir))
	first := decide(t, l, loop.Event{ID: "1"})
	for range 10 {
		if diff := cmp.Diff(first, decide(t, l, loop.Event{ID: "1"})); diff != "" {
			t.Fatalf("the answer of the same delivery (-first +again):\n%s", diff)
		}
	}
	if got := content(t, filepath.Join(dir, "state.json")); got != `{"n": 1}` {
		t.Errorf("the state is %s, want one change", got)
	}
	if d := decide(t, l, loop.Event{ID: "1"}); d.Reason != "go on, 1" {
		t.Errorf("the eleventh repetition is %q, want a new decision", d.Reason)
	}
	if d := decide(t, l, loop.Event{ID: "2"}); d.Reason != "go on, 2" {
		t.Errorf("another delivery is %q", d.Reason)
	}
	if err := l.Stop(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	if d := decide(t, l, loop.Event{ID: "2"}); d.Outcome != loop.Off {
		t.Errorf("a delivery after a person's stop is %s", d.Outcome)
	}
}

// A person switches all off by a variable or a file, or stops policies of a project. Each reason is recorded once a session.
func TestOff(t *testing.T) {
	dir := project(t, nil)
	off, env := filepath.Join(dir, ".ralph", "off"), map[string]string{}
	var reasons []string
	l := load(t, "rules:\n  - {name: go, continue: go on}\n", loop.WithRoot(dir), loop.WithEnv(func(n string) (string, bool) { v, ok := env[n]; return v, ok }),
		loop.WithRecorder(func(_ context.Context, r loop.Record) error {
			if r.Outcome == loop.Off {
				reasons = append(reasons, r.Reason)
			}
			return nil
		}))
	ctx := t.Context()
	for _, c := range []struct {
		name string
		do   func() error
		off  bool
	}{
		{"nothing", func() error { return nil }, false},
		{"the variable", func() error { env["RALPH_OFF"] = "1"; return nil }, true},
		{"the variable, no", func() error { env["RALPH_OFF"] = "0"; return nil }, false},
		{"the file", func() error { write(t, off, ""); return nil }, true},
		{"no file", func() error { return os.Remove(off) }, false},
		{"a stop", func() error { return l.Stop(ctx, "policy") }, true},
		{"a stop that is undone", func() error { return l.Undo(ctx, "policy") }, false},
		{"a stop of another policy", func() error { return l.Stop(ctx, "other") }, false},
		{"a stop of all", func() error { return l.Stop(ctx, "") }, true},
		{"all undone", func() error { return l.Undo(ctx, "") }, false},
	} {
		if err := c.do(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if d := decide(t, l, loop.Event{}); d.Continue() == c.off || c.off && (d.Outcome != loop.Off || d.Notice != "") {
				t.Errorf("%s: %+v", c.name, d)
			}
		}
	}
	if diff := cmp.Diff([]string{"RALPH_OFF is set", off + " exists", "a person stopped it"}, reasons); diff != "" {
		t.Errorf("the reasons that are recorded (-want +got):\n%s", diff)
	}
}

// failing is a store that fails.
type failing struct {
	loop.Store
	err error
}

func (f failing) Update(context.Context, string, func([]byte) ([]byte, error)) error { return f.err }

// What cannot be counted is not continued. Only damage says what to remove.
func TestCountsThatCannotBeKept(t *testing.T) {
	document := func(content string) func(t *testing.T) loop.Store {
		return func(t *testing.T) loop.Store {
			s := loop.Map()
			put(t, s, "session/s", content)
			return s
		}
	}
	for _, c := range []struct {
		name     string
		open     func(t *testing.T) loop.Store
		says     string
		removing bool
	}{
		{"no JSON", document("{"), "damaged", true},
		{"another document", document(`{"a": 1}`), "damaged", true},
		{"less than nothing", document(`{"version": 1, "total": -7, "policies": {}}`), "damaged", true},
		{"counts less than nothing", document(`{"version": 1, "policies": {"policy": {"memory": {"continuations": -5}}}}`), "damaged", true},
		{"a newer version", document(`{"version": 2}`), "newer version", true},
		{"a damaged file", func(t *testing.T) loop.Store {
			s, file := stored(t, "session/s")
			write(t, file, "\x00")
			return s
		}, ".json", true},
		{"a damaged stop", func(t *testing.T) loop.Store {
			s := loop.Map()
			put(t, s, "project/", "[")
			return s
		}, "remove project/", true},
		{"a damaged stop in a file", func(t *testing.T) loop.Store {
			s, _ := stored(t, "project/")
			return s
		}, ".json", true},
		{"no permission", func(*testing.T) loop.Store { return failing{loop.Map(), os.ErrPermission} }, "permission", false},
		{"no place", func(t *testing.T) loop.Store {
			file := filepath.Join(t.TempDir(), "file")
			write(t, file, "")
			return loop.Dir(filepath.Join(file, "store"))
		}, "not a directory", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := decide(t, load(t, always, loop.WithStore(c.open(t))), loop.Event{})
			if d.Outcome != rules.Failed || !strings.Contains(d.Notice, c.says) || strings.Contains(d.Notice, "remove") != c.removing {
				t.Errorf("the decision is %s: %s", d.Outcome, d.Notice)
			}
			want := loop.Fault{Kind: "store", Again: true}
			if c.removing {
				want = loop.Fault{Kind: "damaged"}
			}
			if f := fault(t, d.Err); f.Kind != want.Kind || f.Again != want.Again {
				t.Errorf("the fault is %+v, want %+v", f, want)
			}
		})
	}
}

// A decision that does not get its session in time stops, and says so.
func TestDeadline(t *testing.T) {
	s := loop.Map()
	l := load(t, always, loop.WithStore(s), loop.WithDeadline(time.Millisecond))
	err := s.Update(t.Context(), "session/s", func(old []byte) ([]byte, error) {
		if d := decide(t, l, loop.Event{}); d.Outcome != rules.Failed || !strings.Contains(d.Notice, "within 1ms") {
			t.Errorf("the decision is %s: %s", d.Outcome, d.Notice)
		}
		return old, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slow := load(t, "facts: {v: {exec: [x], timeout: 2m}}\nrules:\n  - {name: go, when: v.code == 0, continue: go}\n")
	if slow.Deadline() != 2*time.Minute+5*time.Second || load(t, always).Deadline() != 25*time.Second {
		t.Errorf("the deadlines are %v and %v", slow.Deadline(), load(t, always).Deadline())
	}
}

// fault returns the Fault that an error wraps.
func fault(t *testing.T, err error) loop.Fault {
	t.Helper()
	f := new(loop.Fault)
	if !errors.As(err, &f) {
		t.Errorf("%v is no Fault", err)
		return loop.Fault{}
	}
	return *f
}

func TestMisuse(t *testing.T) {
	l := load(t, "facts: {v: {value: x}}\nrules:\n  - {name: go, when: v == 1, continue: go}\n")
	for what, err := range map[string]error{
		"a value": func() error { _, err := l.Decide(t.Context(), loop.Event{Session: "s"}); return err }(),
		"Explain": func() error { _, err := l.Explain(t.Context(), loop.Event{Session: "s"}); return err }(),
		"Load":    func() error { _, err := loop.Load(nil, "p.yaml"); return err }(),
		"New":     func() error { _, err := loop.New(nil); return err }(),
		"allow":   func() error { _, err := loop.New(l.Policy(), loop.WithAllow("al")); return err }(),
		"Start":   l.Start(t.Context(), "x"),
	} {
		if f := fault(t, err); f.Kind != "program" || f.Again {
			t.Errorf("%s: the fault is %+v", what, f)
		}
	}
}

// Texts of files and agents move no cursor and hide nothing.
func TestTextsAreSafe(t *testing.T) {
	dir := project(t, map[string]string{"a.txt": "x\x1b[2Jy\u202ez"})
	l := load(t, `
facts: {a: {text: a.txt}}
rules: [{name: go, continue: "${a}", notice: "${a}", log: "${a}"}]
`, loop.WithRoot(dir))
	d := decide(t, l, loop.Event{})
	if s := fmt.Sprint(d.Reason, d.Notice, d.Log); strings.ContainsAny(s, "\x1b\u202e") || strings.Count(s, "x") != 6 {
		t.Errorf("the texts are %q", s)
	}
}

// Every method works with every store, and with the default one, for any session.
func TestEveryMethod(t *testing.T) {
	for name, opts := range map[string][]loop.Option{
		"default": nil, "Map": {loop.WithStore(loop.Map())}, "Dir": {loop.WithStore(loop.Dir(filepath.Join(t.TempDir(), "s")))}, "scope": {loop.WithScope("tenant/1")},
	} {
		t.Run(name, func(t *testing.T) {
			dir := project(t, nil)
			l := load(t, "facts: {state: {json: state.json}}\nstart: [{set: state.text = text}]\nrules:\n  - {name: go, continue: go}\n",
				append(opts, loop.WithRoot(dir))...)
			ctx := t.Context()
			if err := errors.Join(l.Stop(ctx, "x"), l.Undo(ctx, "x"), l.Start(ctx, "hello")); err != nil {
				t.Error(err)
			}
			if stops, err := l.Stops(ctx); err != nil || len(stops) != 0 {
				t.Errorf("Stops: %v, %v", stops, err)
			}
			if v, err := l.Explain(ctx, loop.Event{}); err != nil || v.Outcome != rules.Continued || v.Trace == nil {
				t.Errorf("Explain: %+v, %v", v, err)
			}
			if d, err := l.Decide(ctx, loop.Event{}); err != nil || !d.Continue() {
				t.Errorf("Decide without a session: %+v, %v", d, err)
			}
			ctx, cancel := context.WithCancel(ctx)
			cancel()
			_, stops := l.Stops(ctx)
			_, off := l.Off(ctx)
			_, held := l.Held(ctx, "x")
			_, explained := l.Explain(ctx, loop.Event{})
			decided, _ := l.Decide(ctx, loop.Event{})
			for what, err := range map[string]error{
				"Stop": l.Stop(ctx, "x"), "Undo": l.Undo(ctx, "x"), "Start": l.Start(ctx, "hello"), "Stops": stops, "Off": off,
				"Held": held, "Hold": l.Hold(ctx, "x", "r", func() error { t.Error("held"); return nil }), "Explain": explained, "Decide": decided.Err,
				"Refuse": l.Refuse(ctx, loop.Event{}, os.ErrNotExist).Err,
			} {
				if f := fault(t, err); f.Kind != "time" || !f.Again || !errors.Is(err, context.Canceled) {
					t.Errorf("%s with a context that has ended: %+v", what, f)
				}
			}
		})
	}
}
