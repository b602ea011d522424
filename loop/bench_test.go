package loop_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/vm"

	"github.com/ralph-sdk/ralph/examples"
	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// speckitLoop is the shipped policy speckit, on a project with work left.
func speckitLoop(b *testing.B, p *project) *loop.Loop {
	b.Helper()
	program, diags := rules.Load(b.Context(), examples.FS, "speckit/speckit.yaml", loop.Config())
	if program == nil {
		b.Fatal(diags.Format())
	}
	p.write(".specify/.current-feature", "demo\n")
	p.write(".specify/specs/demo/.speckit-state.json", `{"phase": "execution", "taskIndex": 2, "totalTasks": 10, "globalIteration": 3}`)
	l, err := loop.New(program, loop.Local(), loop.WithState(p.store), loop.WithEnv(func(string) string { return "" }))
	if err != nil {
		b.Fatal(err)
	}
	return l
}

// A complete answer without the process: input, facts, rules, memory, log, output. Each
// is a separate turn, so that the streak never reaches its limit.
func BenchmarkHook(b *testing.B) {
	p := newProject(b, nil)
	l := speckitLoop(b, p)
	input := p.input(map[string]any{"stop_hook_active": false})
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		if n++; n%4000 == 0 { // below the bound of a session
			p.store = b.TempDir()
			l = speckitLoop(b, p)
		}
		if out := l.Hook(b.Context(), nil, input); len(out.Stdout) == 0 {
			b.Fatal("no answer")
		}
	}
}

// Decide and Apply with one fact: given by value with the memory in the process, and
// read from a file with the memory on disk. The first must be at least 5 times as fast.
func BenchmarkApply(b *testing.B) {
	const policy = `
ralph: 1
facts: {state: {json: state.json, schema: {properties: {n: {type: integer}}}}}
rules:
  - name: done
    when: state.n == 0
    stop: done
  - name: go
    when: state.n < 10
    continue: ${state.n} of 10
`
	p := newProject(b, map[string]string{"state.json": `{"n": 4}`})
	for _, c := range []struct {
		name string
		opts func(b *testing.B) []loop.Option
	}{
		{"memory", func(*testing.B) []loop.Option {
			return []loop.Option{loop.WithValues(map[string]any{"state": map[string]any{"n": 4}})}
		}},
		{"disk", func(b *testing.B) []loop.Option {
			return []loop.Option{loop.WithRoot(p.dir), loop.WithState(b.TempDir())}
		}},
		{"disk without log", func(b *testing.B) []loop.Option {
			return []loop.Option{loop.WithRoot(p.dir), loop.WithStore(loop.LocalStore(b.TempDir()))}
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			l := alone(b, policy, append(c.opts(b), loop.WithEnv(func(string) string { return "" }))...)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				ev := host.Event{SessionID: strconv.Itoa(n / 400)} // below the limits
				n++
				if d, err := l.Run(b.Context(), ev); err != nil || !d.Continue() {
					b.Fatal(d.Verdict.Reason, err)
				}
			}
		})
	}
}

// Run with the memory in the process, without a Recorder, of a policy of eight rules. On
// one core (-cpu 1) it must take at most 20 µs.
func BenchmarkRun(b *testing.B) {
	const policy = `
ralph: 1
facts:
  build: {input: {properties: {left: {type: integer}, broken: {type: array, items: {type: string}}, phase: {type: string}}}}
  attempts: {input: {type: integer}}
rules:
  - name: none
    when: build.phase == "none"
    stop: nothing to build
  - name: broken
    when: len(build.broken) > 3
    continue: Repair ${join(build.broken, ", ")}.
  - name: waiting
    when: build.phase in ["waiting", "paused"]
    stop: it waits
  - name: tired
    when: attempts >= 10
    stop: too many attempts
  - name: said
    when: last_assistant_message contains "I am stuck"
    stop: a person takes over
  - name: done
    when: build.left == 0 and len(build.broken) == 0
    stop: done
  - name: again
    when: stop_hook_active and build.phase == "again"
    continue: Once more.
  - name: left
    when: build.left > 0
    continue: ${build.left} targets are left.
`
	l := alone(b, policy, loop.WithEnv(func(string) string { return "" }),
		loop.WithValues(map[string]any{"build": map[string]any{"left": 2, "broken": []string{"lint"}, "phase": "build"}, "attempts": 3}))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		ev := host.Event{SessionID: strconv.Itoa(n / 400), LastAssistantMessage: "Two are left."} // below the limits
		n++
		if d, err := l.Run(b.Context(), ev); err != nil || !d.Continue() {
			b.Fatal(d.Verdict.Reason, err)
		}
	}
}

// talk is what the loop of an agent passes to each decision: two numbers, and a list that grows.
type talk struct {
	Turn     int       `json:"turn"`
	Most     int       `json:"most"`
	Messages []message `json:"messages"`
}

type message struct {
	Role    string         `json:"role"`
	Content string         `json:"content"`
	Tools   []string       `json:"tools"`
	At      time.Time      `json:"at"`
	Meta    map[string]any `json:"meta"`
}

func talkOf(messages int) *talk {
	t := &talk{Turn: 3, Most: 10}
	for i := range messages {
		t.Messages = append(t.Messages, message{
			Role: "assistant", Content: fmt.Sprint("message ", i), Tools: []string{"read", "write"},
			At: time.Unix(int64(i), 0).UTC(), Meta: map[string]any{"tokens": i},
		})
	}
	return t
}

// One decision that reads two integers, in each of the ways to make it. They are made in
// turn, so that changes in the machine's speed affect all of them; the metrics are ratios
// of medians to Eval of a map of the two integers, which takes us microseconds. What no
// rule reads costs nothing: 100 messages must cost at most twice as much.
func BenchmarkGoValues(b *testing.B) {
	const (
		head   = "ralph: 1\nfacts:\n  talk: {input: {properties: {turn: {type: integer}, most: {type: integer}, messages: {type: array, items: {properties: {role: {type: string}}}}}}}\nrules:\n"
		enough = head + "  - {name: enough, when: talk.turn >= talk.most, stop: enough}\n"
		policy = enough + "  - {name: go, when: talk.turn < talk.most, continue: go on}\n"
		counts = enough + "  - {name: go, when: len(talk.messages) > 0, continue: go on}\n"
	)
	eval := func(policy string, v any) func() bool {
		p, diags := rules.LoadBytes(b.Context(), "p.yaml", []byte(policy), rules.Config{})
		if p == nil {
			b.Fatal(diags.Format())
		}
		return func() bool {
			return p.Eval(b.Context(), rules.Values(map[string]any{"talk": v}), rules.Options{}).Action == rules.Continue
		}
	}
	session := 0
	run := func(opts ...loop.Option) func() bool {
		l := alone(b, policy, append(opts, loop.WithEnv(func(string) string { return "" }))...)
		values := map[string]any{"talk": talkOf(100)}
		return func() bool {
			session++
			d, err := l.Run(b.Context(), host.Event{SessionID: strconv.Itoa(session / 50), Values: values}) // below the limits
			return err == nil && d.Continue()
		}
	}
	code, err := expr.Compile("!(turn >= most) && turn < most", expr.Env(map[string]any{"turn": 0, "most": 0}))
	if err != nil {
		b.Fatal(err)
	}
	var machine vm.VM
	t, long := talkOf(0), talkOf(100)
	ways := []struct {
		name string
		do   func() bool
	}{
		{"map", eval(policy, map[string]any{"turn": 3, "most": 10})},
		{"hand", func() bool { return t.Turn < t.Most }},
		{"expr", func() bool {
			v, err := machine.Run(code, map[string]any{"turn": t.Turn, "most": t.Most})
			return err == nil && v == true
		}},
		{"struct", eval(policy, t)},
		{"messages-100", eval(policy, long)},
		{"count-100", eval(counts, long)},
		{"run", run()},
		{"run-recorded", run(loop.WithRecorder(records{}))},
	}
	times := make([][]float64, len(ways))
	for b.Loop() {
		for i, w := range ways {
			const calls = 25 // short, so that a busy machine interrupts few
			begin := time.Now()
			for range calls {
				if !w.do() {
					b.Fatal(w.name, " is another decision")
				}
			}
			times[i] = append(times[i], float64(time.Since(begin).Nanoseconds())/calls)
		}
	}
	for i, w := range ways {
		slices.Sort(times[i])
		median := times[i][len(times[i])/2]
		if i == 0 {
			b.ReportMetric(0, "ns/op") // all together: it would say nothing
			b.ReportMetric(median/1000, "us")
			continue
		}
		b.ReportMetric(median/times[0][len(times[0])/2], "x-"+w.name)
	}
}

// records is a Recorder that keeps nothing.
type records struct{}

func (records) Record(context.Context, *loop.Record) error { return nil }

func BenchmarkDecide(b *testing.B) {
	p := newProject(b, nil)
	l := speckitLoop(b, p)
	ev := p.stop()
	b.ReportAllocs()
	for b.Loop() {
		d := l.Preview(b.Context(), ev)
		if !d.Continue() {
			b.Fatal(d.Err)
		}
	}
}

// sessionFile writes a session file of a size of which only the end is real.
func sessionFile(t testing.TB, size int64) string {
	t.Helper()
	var tail strings.Builder
	tail.WriteString("\n" + `{"type":"user","message":{"role":"user","content":"go"}}` + "\n")
	for range 100 {
		tail.WriteString(`{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` +
			strings.Repeat("working on it ", 100) + `"}]}}` + "\n")
	}
	path := filepath.Join(t.TempDir(), "session.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte(tail.String()), size-int64(tail.Len())); err != nil {
		t.Fatal(err)
	}
	return path
}

// A session file of 500 MB costs what one of 1 MB does: both figures must be alike.
func BenchmarkDecideTranscript(b *testing.B) {
	for _, c := range []struct {
		name string
		size int64
	}{{"1MB", 1 << 20}, {"500MB", 500 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			p := newProject(b, nil)
			l := speckitLoop(b, p)
			ev := p.stop()
			ev.Host, ev.TranscriptPath = host.ClaudeCode, sessionFile(b, c.size)
			b.ReportAllocs()
			for b.Loop() {
				d := l.Preview(b.Context(), ev)
				if !d.Continue() {
					b.Fatal(d.Err)
				}
			}
		})
	}
}

// The same in a test: the words come from the end of the file, and reading it takes no
// more memory for what precedes them.
func TestTranscriptSize(t *testing.T) {
	policy := `
ralph: 1
rules:
  - name: working
    when: mentions("working on it")
    continue: on
`
	var allocated []float64
	for _, size := range []int64{1 << 20, 500 << 20} {
		p := newProject(t, nil)
		l := p.loop(policy)
		ev := p.stop()
		ev.Host, ev.TranscriptPath = host.ClaudeCode, sessionFile(t, size)
		allocated = append(allocated, testing.AllocsPerRun(5, func() {
			d := l.Preview(t.Context(), ev)
			if !d.Continue() {
				t.Errorf("%d bytes: %q, warnings %q", size, said(d), d.Verdict.Trace.Warnings)
			}
		}))
	}
	if small, large := allocated[0], allocated[1]; large > small*1.1+10 {
		t.Errorf("%.0f allocations for 1 MB, %.0f for 500 MB", small, large)
	}
}
