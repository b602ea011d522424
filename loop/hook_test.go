package loop_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
	"github.com/ralph-sdk/ralph/rules"
)

// source is a fact source from a function.
type source struct {
	name   string
	gather func(context.Context, loop.Query) rules.Value
}

func (s source) Kind() rules.SourceKind { return rules.SourceKind{Name: s.name, Doc: "A test's."} }

func (s source) Gather(ctx context.Context, q loop.Query) rules.Value { return s.gather(ctx, q) }

// asking is a policy that continues once its source was gathered.
func asking(name string) string {
	return "ralph: 1\nfacts: {it: {" + name + ": x}}\nrules: [{name: go, when: it == 1, continue: on}]"
}

// Several policies answer one hook: each has its own memory, any of them can continue,
// and one that fails stops only itself.
func TestHookOfSeveral(t *testing.T) {
	p := newProject(t, map[string]string{"n.json": `{"n": 1}`})
	panicking := source{"boom", func(context.Context, loop.Query) rules.Value { panic("boom") }}
	broken, err := loop.Broken("broken", errors.New("no such policy"), loop.Local(), loop.WithState(p.store), loop.WithEnv(func(string) string { return "" }))
	if err != nil {
		t.Fatal(err)
	}
	loops := []*loop.Loop{
		p.named("stops.yaml", "ralph: 1\nrules: [{name: s, stop: enough, notice: same, log: stopping}]", nil),
		p.named("first.yaml", "ralph: 1\nprefix: one\nrules: [{name: go, continue: 'streak ${loop.continuations}', notice: same, log: going}]", nil),
		broken,
		p.named("panics.yaml", asking("boom"), []loop.Source{panicking}),
		p.named("second.yaml", "ralph: 1\nlimits: {continuations: 1}\nrules: [{name: go, continue: 'its streak ${loop.continuations}'}]", nil),
	}
	first := loops[0].Hook(t.Context(), nil, p.input(map[string]any{"prompt_id": "a"}), loops[1:]...)
	got := decoded(t, first)
	if want := "[first.yaml]\nstreak 0\n\n[second.yaml]\nits streak 0"; got.Decision != "block" || got.Reason != want {
		t.Errorf("%s %q", got.Decision, got.Reason)
	}
	want := "same\n[ralph] broken: no such policy\n[ralph] it: the source boom panicked: boom"
	if diff := cmp.Diff(want, got.SystemMessage); diff != "" {
		t.Errorf("notices (-want +got):\n%s", diff)
	}
	for _, line := range []string{"[ralph] stopping\n[one] going\n", "[ralph] broken: no such policy\n"} {
		if !strings.Contains(string(first.Stderr), line) {
			t.Errorf("no %q in stderr: %s", line, first.Stderr)
		}
	}
	got = decoded(t, loops[0].Hook(t.Context(), nil, p.input(map[string]any{"prompt_id": "a"}), loops[1:]...))
	if want := "[first.yaml]\nstreak 1"; got.Reason != want {
		t.Errorf("the second time %q, want %q", got.Reason, want)
	}
}

// A loop that a hook has twice would count the event twice: it decides nothing.
func TestHookOfTheSameLoop(t *testing.T) {
	l := load(t, "ralph: 1\nrules: [{name: go, continue: on}]", loop.WithName("mine"))
	input := []byte(`{"hook_event_name": "Stop", "session_id": "s"}`)
	got := decoded(t, l.Hook(t.Context(), nil, input, l))
	if diff := cmp.Diff(answer{SystemMessage: "[ralph] the loop mine decides the event twice: pass each loop once"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if got := decoded(t, l.Hook(t.Context(), nil, input)); got.Decision != "block" {
		t.Errorf("alone, it answers %+v", got)
	}
}

// If one policy answers, its reason is the whole reason.
func TestHookOfOne(t *testing.T) {
	p := newProject(t, nil)
	got := decoded(t, p.loop("ralph: 1\nrules: [{name: go, continue: on}]").Hook(t.Context(), nil, p.input(nil)))
	if diff := cmp.Diff(answer{Decision: "block", Reason: "on"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A source that hangs, even after its context is done, does not hold the hook beyond the
// deadline. The policy before it has its effect, and a late result changes nothing.
func TestDeadline(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": 1}`})
	var lines looptest.Records
	release, returned := make(chan struct{}), make(chan struct{})
	var began atomic.Bool // on a busy machine the time is up before
	hanging := source{"hang", func(context.Context, loop.Query) rules.Value {
		began.Store(true)
		<-release
		close(returned)
		return rules.Value{V: 1}
	}}
	quick := loop.WithDeadline(50 * time.Millisecond)
	log := loop.WithRecorder(&lines)
	loops := []*loop.Loop{
		p.named("first.yaml", "ralph: 1\nrules: [{name: go, continue: on}]", nil, quick, log),
		p.named("hangs.yaml", strings.Replace(asking("hang"), "facts: {", "facts: {state: {json: state.json}, ", 1)+
			"\n", []loop.Source{hanging}, quick, log),
		p.named("counter.yaml", counterPolicy, nil, quick, log),
	}
	got := decoded(t, loops[0].Hook(t.Context(), nil, p.input(nil), loops[1:]...))
	if want := "[first.yaml]\non"; got.Reason != want {
		t.Errorf("reason %q, want %q", got.Reason, want)
	}
	for _, name := range []string{"hangs.yaml", "counter.yaml"} {
		if want := "[ralph] " + name + ": no decision within 50ms, the agent may stop"; !strings.Contains(got.SystemMessage, want) {
			t.Errorf("no %q in %q", want, got.SystemMessage)
		}
	}
	if n := len(lines.All()); n != 3 {
		t.Errorf("%d records of decisions, want one for each policy", n)
	}
	close(release)
	if began.Load() {
		<-returned
	}
	// Whatever the late policy does now, the next decision finds no trace of it.
	d := p.run(p.named("hangs.yaml", "ralph: 1\nrules: [{name: go, continue: 'streak ${loop.continuations}'}]", nil), p.stop())
	if said(d) != "streak 0" || p.read("state.json") != `{"n": 1}` {
		t.Errorf("%q, file %s", said(d), p.read("state.json"))
	}
	if n := len(lines.All()); n != 3 {
		t.Errorf("%d records of decisions after the late one came back", n)
	}
}

// Whatever a part of the world does, Hook answers, and the answer lets the agent stop.
func TestHookNeverPanics(t *testing.T) {
	goOn := "ralph: 1\nrules: [{name: go, continue: on}]"
	for _, c := range []struct {
		name string
		loop func(p *project) *loop.Loop
	}{
		{"clock", func(p *project) *loop.Loop {
			p.clock = func() time.Time { panic("boom") }
			return p.loop(goOn)
		}},
		{"environment", func(p *project) *loop.Loop {
			p.getenv = func(string) string { panic("boom") }
			return p.loop(goOn)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			out := c.loop(p).Hook(t.Context(), nil, p.input(nil))
			got := decoded(t, out)
			if got.Decision != "" || !strings.Contains(got.SystemMessage, "internal error: boom") || !strings.Contains(string(out.Stderr), "internal error: boom") {
				t.Errorf("stdout %s, stderr %s", out.Stdout, out.Stderr)
			}
		})
	}
	t.Run("host", func(t *testing.T) {
		p := newProject(t, nil)
		if got := decoded(t, p.loop(goOn).Hook(t.Context(), &host.Host{}, []byte("{"))); got.Decision != "" || got.SystemMessage == "" {
			t.Errorf("%+v", got)
		}
	})
}

// Input that is not an event of a project is reported only to the user: some hosts show
// every line of stderr as an error of the hook.
func TestHookOfNoEvent(t *testing.T) {
	p := newProject(t, nil)
	l := p.loop("ralph: 1\nrules: [{name: go, continue: on}]")
	for _, c := range []struct {
		stdin  string
		notice string
		stderr bool
	}{
		{"", "it is empty", false},
		{"null", "got null", false},
		{`{}`, "has no cwd", false},
		{`{"cwd": "/no/such/folder"}`, "does not exist", false},
		{"garbage", "it is not JSON", true},
		{`{"cwd"`, "ends in the middle", true},
		{`{} {}`, "unexpected data after the JSON value", true},
	} {
		out := l.Hook(t.Context(), nil, []byte(c.stdin))
		got := decoded(t, out)
		if got.Decision != "" || !strings.Contains(got.SystemMessage, c.notice) || (len(out.Stderr) > 0) != c.stderr {
			t.Errorf("%q: stdout %s, stderr %s", c.stdin, out.Stdout, out.Stderr)
		}
	}
}

// Whether loops are switched off is decided before anything else is read, even the
// policy's facts.
func TestOff(t *testing.T) {
	for _, c := range []struct {
		name, env string
		file      bool
		off       bool
	}{
		{"variable", "1", false, true},
		{"any text", "please", false, true},
		{"empty", "", false, false},
		{"zero", "0", false, false},
		{"false", " False ", false, false},
		{"file", "", true, true},
		{"file against a variable that says no", "0", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			p.env["RALPH_OFF"] = c.env
			if c.file {
				p.write(".ralph/off", "")
			}
			asked := 0
			d := p.run(p.named("p.yaml", asking("ask"), []loop.Source{counting{&asked}}), p.stop())
			if off := d.Verdict.Cause.Untried(); off != c.off || off != (asked == 0) || off != (len(p.lines) == 0) {
				t.Errorf("cause %q, asked %d times, log %q", d.Verdict.Cause, asked, p.lines)
			}
		})
	}
}

// An input that cannot be decoded is reported, but not where loops are switched off in a
// project that is known without it, by the variable or the file.
func TestOffBeforeTheInput(t *testing.T) {
	for _, c := range []struct {
		name   string
		env    string
		root   bool // by option, else by CLAUDE_PROJECT_DIR
		file   bool
		silent bool
	}{
		{name: "on"}, {name: "the variable", env: "1", silent: true}, {name: "the file of the session's project", file: true, silent: true},
		{name: "the file of the root", file: true, root: true, silent: true}, {name: "on, with a root", root: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			p.env["RALPH_OFF"] = c.env
			if c.file {
				p.write(".ralph/off", "")
			}
			var opts []loop.Option
			if c.root {
				opts = append(opts, loop.WithRoot(p.dir))
			} else {
				p.env["CLAUDE_PROJECT_DIR"] = p.dir
			}
			out := p.loop("ralph: 1\nrules: [{name: go, continue: on}]", opts...).Hook(t.Context(), nil, []byte("garbage"))
			if silent := len(out.Stdout)+len(out.Stderr) == 0; silent != c.silent {
				t.Errorf("stdout %s, stderr %s", out.Stdout, out.Stderr)
			}
		})
	}
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(".ralph/off", 0o755); err != nil {
		t.Fatal(err)
	}
	if out := alone(t, "ralph: 1\nrules: []").Hook(t.Context(), nil, []byte("garbage")); len(out.Stdout)+len(out.Stderr) == 0 {
		t.Error("the folder of the process switches off what has no project")
	}
}

// An event that the policy does not list gathers, writes and logs nothing.
func TestEventNotListed(t *testing.T) {
	p := newProject(t, nil)
	asked := 0
	l := p.named("p.yaml", asking("ask"), []loop.Source{counting{&asked}})
	for _, name := range []string{host.SubagentStop, host.StopFailure, host.UserPromptSubmit, "SessionEnd"} {
		ev := p.stop()
		ev.Name = name
		d := p.run(l, ev)
		if d.Continue() || asked > 0 || d.Verdict.Cause != rules.NotListed || len(d.Notices)+len(d.Log) > 0 || len(p.lines) > 0 || len(entries(t, p.store)) > 0 {
			t.Errorf("%s: aside %q, asked %d, notices %q, log %q", name, d.Verdict.Cause, asked, d.Notices, p.lines)
		}
	}
}

// A Loop may be used by many goroutines at once; each event is counted once.
func TestConcurrentUse(t *testing.T) {
	const goroutines, each = 8, 8
	p := newProject(t, map[string]string{"state.json": `{"n": 0}`})
	l := p.loop(counterPolicy)
	var wg sync.WaitGroup
	reasons := make(chan string, goroutines*each)
	for range goroutines {
		wg.Go(func() {
			for range each {
				reasons <- decoded(t, l.Hook(t.Context(), nil, p.input(nil))).Reason
			}
		})
	}
	wg.Wait()
	close(reasons)
	seen := map[string]bool{}
	for r := range reasons {
		if seen[r] {
			t.Errorf("%q was said twice", r)
		}
		seen[r] = true
	}
	for i := range goroutines * each {
		if want := fmt.Sprintf("n is %d, streak %d", i, i); !seen[want] {
			t.Errorf("nobody said %q", want)
		}
	}
	if want := fmt.Sprintf(`{"n": %d}`, goroutines*each); p.read("state.json") != want {
		t.Errorf("file %s, want %s", p.read("state.json"), want)
	}
}

// A broken policy is reported at every event, and in the log.
func TestBroken(t *testing.T) {
	p := newProject(t, nil)
	l, err := loop.Broken("mine", errors.New("it is broken\nat line 3"), loop.Local(), loop.WithState(p.store),
		loop.WithEnv(p.getenv), loop.WithRecorder(recorder(p.record)))
	if err != nil {
		t.Fatal(err)
	}
	out := l.Hook(t.Context(), nil, p.input(nil))
	if got := decoded(t, out); got.Decision != "" || got.SystemMessage != "[ralph] mine: it is broken" {
		t.Errorf("%+v", got)
	}
	if want := "[ralph] mine: it is broken\n[ralph] at line 3\n"; string(out.Stderr) != want {
		t.Errorf("stderr %q, want %q", out.Stderr, want)
	}
	if r := p.records(); len(r) != 1 || r[0].Reason != "it is broken\nat line 3" || r[0].Policy != "mine" || r[0].Root != p.dir {
		t.Errorf("log %+v", r)
	}
	p.env["RALPH_OFF"] = "1"
	if out := l.Hook(t.Context(), nil, p.input(nil)); len(out.Stdout)+len(out.Stderr) > 0 {
		t.Errorf("switched off: stdout %s, stderr %s", out.Stdout, out.Stderr)
	}
	if _, err := loop.Broken("mine", nil); err == nil {
		t.Error("a broken policy without a reason")
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := loop.New(nil); err == nil {
		t.Error("no program")
	}
	program, _ := rules.Load(t.Context(), os.DirFS(newProject(t, map[string]string{"p.yaml": "ralph: 1\nrules: []"}).dir), "p.yaml", loop.Config())
	for name, o := range map[string]loop.Option{
		"no deadline": loop.WithDeadline(0),
		"no name":     loop.WithValues(map[string]any{"": 1}),
	} {
		if l, err := loop.New(program, o); err == nil || l != nil {
			t.Errorf("%s: loop %v, error %v", name, l, err)
		}
	}
}
