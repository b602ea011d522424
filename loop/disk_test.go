package loop_test

import (
	"context"
	"errors"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// alone makes a loop of a program with only these options.
func alone(t testing.TB, policy string, opts ...loop.Option) *loop.Loop {
	t.Helper()
	program, diags := rules.Load(t.Context(), fstest.MapFS{"p.yaml": {Data: []byte(policy)}}, "p.yaml", loop.Config())
	if program == nil {
		t.Fatal(diags.Format())
	}
	l, err := loop.New(program, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

const diskPolicy = `
ralph: 1
facts:
  s: {json: state.json, schema: {properties: {n: {type: integer}}}}
  docs: {glob: "*.json"}
  ran: {exec: [sh, -c, "true"]}
  at: {git: .}
  list: {tasks: claude}
rules:
  - name: count
    when: missing(s)
    continue: >-
      ${missing(docs)} ${missing(ran)} ${missing(at)} ${missing(list)} ${exists("state.json")} ${isdir(".")} ${anyfile("*")}
      ${which("sh")}[${project}][${transcript.last}] ${loop.continuations} of ${loop.total}
  - name: real
    continue: n is ${s.n}, ${exists("state.json")}
    then: [{set: s.n = s.n + 1}]
`

// A loop without a root reads no disk, whatever the event names: files are missing, which
// is not reported. Its memory lasts as long as the loop, and other loops do not share it.
func TestNoDisk(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": 1}`, "session.jsonl": agent("words") + "\n", ".ralph/off": ""})
	t.Setenv("RALPH_STATE_DIR", p.store)
	t.Chdir(p.dir)
	ev := host.Event{SessionID: "s", Cwd: p.dir, TranscriptPath: p.path("session.jsonl")}
	l := alone(t, diskPolicy, trusted())
	var got []string
	for range 2 {
		d := p.run(l, ev)
		got = append(got, said(d))
		if len(d.Notices) > 0 || !d.Kept || d.Root != "" {
			t.Errorf("reported %q, applied %v, root %q", d.Notices, d.Kept, d.Root)
		}
	}
	got = append(got, said(p.run(alone(t, diskPolicy), host.Event{})))
	const none = "true true true true false false false [][] "
	if diff := cmp.Diff([]string{none + "0 of 0", none + "1 of 1", none + "0 of 0"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if names := entries(t, p.store); len(names) > 0 || p.read("state.json") != `{"n": 1}` {
		t.Errorf("written: %q, the file has %s", names, p.read("state.json"))
	}
}

// WithRoot adds files, but neither store nor log.
func TestRootWithoutStore(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": 1}`})
	t.Setenv("RALPH_STATE_DIR", p.store)
	l := alone(t, diskPolicy, loop.WithRoot(p.dir))
	if d := p.run(l, host.Event{}); said(d) != "n is 1, true" || d.Root != p.dir {
		t.Errorf("it says %q, root %q: %v", said(d), d.Root, d.Err)
	}
	if names := entries(t, p.store); len(names) > 0 || p.read("state.json") != `{"n": 2}` {
		t.Errorf("written: %q, the file has %s", names, p.read("state.json"))
	}
}

// Many goroutines share the memory in the process: each event is counted once.
func TestMemoryInProcess(t *testing.T) {
	p := newProject(t, map[string]string{"state.json": `{"n": 0}`})
	l := alone(t, counterPolicy, loop.WithRoot(p.dir))
	reasons := make(chan string)
	const goroutines, each = 8, 4
	for i := range goroutines {
		go func() {
			for range each {
				// Two sessions change one file.
				d, _ := l.Run(context.Background(), host.Event{SessionID: string(rune('a' + i%2))})
				reasons <- said(d)
			}
		}()
	}
	seen := map[string]bool{}
	for range goroutines * each {
		seen[strings.Split(<-reasons, ",")[0]] = true
	}
	if len(seen) != goroutines*each || p.read("state.json") != `{"n": 32}` {
		t.Errorf("%d different counts, the file has %s", len(seen), p.read("state.json"))
	}
}

// A decision holds nothing open: one that is never applied leaks nothing.
func TestDecisionsHoldNoFiles(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("there is no /proc")
	}
	open := func() int {
		files, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
	p := newProject(t, map[string]string{"state.json": `{"n": 1}`})
	l := p.loop(counterPolicy)
	before := open()
	kept := make([]*loop.Decision, 2000)
	for i := range kept {
		if kept[i] = l.Preview(t.Context(), p.stop()); !kept[i].Continue() {
			t.Fatal(kept[i].Err)
		}
	}
	if after := open(); after > before {
		t.Errorf("%d files are open, %d were", after, before)
	}
	if d, err := l.Apply(t.Context(), kept[0]); err != nil || p.read("state.json") != `{"n": 2}` {
		t.Errorf("then it says %q, error %v, file %s", said(d), err, p.read("state.json"))
	}
}

// slow is a table whose Gather or Write lasts until its time is up.
type slow struct {
	table
	gathers, writes bool
}

func (s *slow) Gather(ctx context.Context, q loop.Query) rules.Value {
	if s.gathers {
		<-ctx.Done()
	}
	return s.table.Gather(ctx, q)
}

func (s *slow) Write(ctx context.Context, effects []rules.Effect) error {
	if s.writes {
		<-ctx.Done()
		return ctx.Err()
	}
	return s.table.Write(ctx, effects)
}

// The deadline bounds Decide and Apply alike, and the agent may stop if it passes.
func TestDeadlineOfHalves(t *testing.T) {
	for _, c := range []struct {
		name            string
		gathers, writes bool
	}{{"Decide", true, false}, {"Apply", false, true}} {
		t.Run(c.name, func(t *testing.T) {
			p := newProject(t, nil)
			synctest.Test(t, func(t *testing.T) {
				s := &slow{table{name: "table", rows: map[string]int{"a": 1, "b": 1}}, c.gathers, c.writes}
				l := p.named("policy.yaml", tablePolicy, []loop.Source{s}, loop.WithDeadline(time.Minute))
				d := l.Preview(context.Background(), p.stop())
				if c.writes {
					d, _ = l.Apply(context.Background(), d)
				}
				if d.Continue() || d.Err == nil || c.gathers && !errors.Is(d.Err, context.DeadlineExceeded) {
					t.Errorf("it says %q, error %v", said(d), d.Err)
				}
			})
		})
	}
}

// A late hook has no goroutines once its sources have returned: the bubble ends only when
// every goroutine has.
func TestLateHookEnds(t *testing.T) {
	p := newProject(t, nil)
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		hangs := source{"hangs", func(context.Context, loop.Query) rules.Value {
			asked.Add(1)
			time.Sleep(time.Hour) // whatever its context says
			return rules.Value{V: 1}
		}}
		l := p.named("p.yaml", `
ralph: 1
facts: {a: {hangs: x}, b: {hangs: y}, c: {hangs: z}}
rules: [{name: go, when: a == 2 or b == 2 or c == 2, continue: on}]
finally: [{prune: {glob: "*", older: 1s}}]
`, []loop.Source{hangs})
		start := time.Now()
		out := decoded(t, l.Hook(context.Background(), nil, p.input(nil)))
		if out.Decision != "" || !strings.Contains(out.SystemMessage, "no decision within 25s") || time.Since(start) != 25*time.Second {
			t.Errorf("after %s it says %+v", time.Since(start), out)
		}
		time.Sleep(2 * time.Hour)
		if n := asked.Load(); n != 1 {
			t.Errorf("after the end, the source was asked %d more times", n-1)
		}
	})
}
