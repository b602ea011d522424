package loop_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"testing"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
)

// manyPolicy uses what a decision may hold on to: a fact, a text, counts and progress.
const manyPolicy = `
ralph: 1
facts: {state: {json: state.json, schema: {properties: {n: {type: integer}}}}}
progress: state.n
limits: {continuations: 10000, total: 100000, repeats: 10000}
rules:
  - name: once
    unless_repeated: {times: 3, per: session}
    notice: hello
  - name: go
    when: ok(state) and state.n > 0 and not said("DONE")
    continue: ${state.n} and ${loop.total}
`

// used is what a process holds: bytes of live heap, goroutines and open files, where
// the system reports them.
func used(t *testing.T) (heap uint64, goroutines, files int) {
	t.Helper()
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		files = len(open)
	}
	return m.HeapAlloc, runtime.NumGoroutine(), files
}

// A process that decides for a long time does not grow.
func TestManyDecisions(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("it takes long")
	}
	l := alone(t, manyPolicy, loop.WithValues(map[string]any{"state": map[string]any{"n": 1}}))
	decide := func(n int) {
		for i := range n {
			ev := host.Event{SessionID: fmt.Sprint(i % 100), Turn: fmt.Sprint(i / 1000), LastAssistantMessage: "still at it"}
			if d, err := l.Run(t.Context(), ev); err != nil || !d.Continue() {
				t.Fatalf("event %d: it says %q: %s, error %v", i, said(d), d.Verdict.Reason, err)
			}
		}
	}
	decide(5_000)
	heap, goroutines, files := used(t)
	decide(100_000)
	heapAfter, goroutinesAfter, filesAfter := used(t)
	if heapAfter > heap+1<<20 {
		t.Errorf("the heap grew from %d to %d bytes", heap, heapAfter)
	}
	if goroutinesAfter > goroutines || filesAfter > files {
		t.Errorf("%d goroutines and %d files, there were %d and %d", goroutinesAfter, filesAfter, goroutines, files)
	}
}

// Sessions that come and go do not stay for ever in a store in the process.
func TestManySessions(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("it takes long")
	}
	s := loop.InMemory()
	l := alone(t, "ralph: 1\nrules: [{name: go, continue: '${loop.total}'}]", loop.WithStore(s))
	run := func(session int) string {
		d, err := l.Run(t.Context(), host.Event{SessionID: fmt.Sprint(session)})
		if err != nil {
			t.Fatal(err)
		}
		return said(d)
	}
	const kept = 100_000
	for i := range kept {
		run(i)
	}
	run(0) // now the latest
	run(kept)
	for _, c := range []struct {
		session int
		want    string
	}{{0, "2"}, {kept - 1, "1"}, {kept, "1"}, {1, "0"}} {
		if got := run(c.session); got != c.want {
			t.Errorf("session %d: %q, want %q", c.session, got, c.want)
		}
	}
}

// thousand runs 1,000 loops at once: three times each decides, and once all have
// decided each applies. So many goroutines do this.
func thousand(t *testing.T, goroutines int, opts func(i int) []loop.Option) {
	t.Helper()
	program := alone(t, "ralph: 1\nfacts: {f: {text: f.txt}}\nrules: [{name: go, when: f != '', continue: '${f} ${loop.total}'}]").Program()
	var loops [1000]*loop.Loop
	var decisions [len(loops)]*loop.Decision
	all := func(do func(i int)) {
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				for i := g; i < len(loops); i += goroutines {
					do(i)
				}
			})
		}
		wg.Wait()
	}
	for i := range loops {
		var err error
		if loops[i], err = loop.New(program, opts(i)...); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 {
		all(func(i int) { decisions[i] = loops[i].Preview(t.Context(), host.Event{SessionID: fmt.Sprint(i)}) })
		all(func(i int) {
			d, err := loops[i].Apply(t.Context(), decisions[i])
			if want := fmt.Sprint(i, " ", n); err != nil || said(d) != want {
				t.Errorf("it says %q, want %q; error %v", said(d), want, err)
			}
		})
	}
}

// A thousand loops at once share a program and a store, and nothing else.
func TestManyLoops(t *testing.T) {
	s := loop.InMemory()
	thousand(t, 1000, func(i int) []loop.Option {
		return []loop.Option{loop.WithStore(s), loop.WithValues(map[string]any{"f": fmt.Sprint(i)})}
	})
}

// A thousand loops that have decided hold no files: a shell that allows few runs them.
func TestManyLoopsOnDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("how many files may be open is set in another way here")
	}
	if dir := os.Getenv("MANY_LOOPS"); dir != "" {
		thousand(t, 8, func(i int) []loop.Option {
			root := fmt.Sprintf("%s/%d", dir, i)
			if os.Mkdir(root, 0o755) != nil || os.WriteFile(root+"/f.txt", fmt.Append(nil, i), 0o644) != nil {
				t.Errorf("no project %d", i)
			}
			return []loop.Option{loop.WithRoot(root), loop.WithState(fmt.Sprintf("%s/state", dir))}
		})
		return
	}
	if testing.Short() {
		t.Skip("it takes long")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "sh", "-c", `ulimit -n 256 && exec "$0" -test.run '^TestManyLoopsOnDisk$' -test.timeout 3m`, self)
	cmd.Env = append(os.Environ(), "MANY_LOOPS="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%.3000s", err, out)
	}
}
