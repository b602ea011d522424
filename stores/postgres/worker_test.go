//go:build unix

package postgres_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/stores/postgres"
)

// workload is what a process of its own does, this test binary again. For a time it makes as many decisions as it can; without
// one it decides the events that it reads, a line SESSION ID each, and answers each with a line.
type workload struct {
	URL, Scope string
	Limit      int // of continuations
	Goroutines int
	For        time.Duration
	Sessions   []string      // of the goroutines, with For
	Lock       time.Duration // only lock a memory, with this deadline
	Run        string        // only run an agent in this project, which works until a line comes
}

// workVariable has the workload of a process, as JSON.
const workVariable = "RALPH_TEST_WORK"

// decided is the answer to an event.
type decided struct {
	Session, ID string
	Continued   bool
	Reason      string
	Failed      bool
}

// rate is what a workload for a time came to.
type rate struct {
	Decisions, Failed int
	P50, P99          time.Duration
}

// work is the main function of the process.
func work(in io.Reader, out io.Writer) (status int) {
	var w workload
	err := json.Unmarshal([]byte(os.Getenv(workVariable)), &w)
	if err == nil {
		err = w.run(context.Background(), in, out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

func (w workload) run(ctx context.Context, in io.Reader, out io.Writer) error {
	pool, err := pgxpool.New(ctx, w.URL+"&pool_max_conns=16")
	if err != nil {
		return err
	}
	defer pool.Close()
	s, err := postgres.Open(ctx, pool)
	if err != nil {
		return err
	}
	if w.Lock > 0 {
		ctx, cancel := context.WithTimeout(ctx, w.Lock)
		defer cancel()
		_, _, err := s.Lock(ctx, loop.Key{Session: "locked"})
		fmt.Fprintln(out, "ready")
		<-ctx.Done()
		return err
	}
	if w.Run != "" {
		return w.agent(ctx, s, bufio.NewScanner(in), out)
	}
	l, err := newLoop(s, w.Scope, w.Limit)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	fmt.Fprintln(out, "ready")
	lines.Scan() // the word to begin
	if w.For > 0 {
		return json.NewEncoder(out).Encode(w.rate(ctx, l))
	}
	events := make(chan [2]string)
	var all sync.WaitGroup
	var mu sync.Mutex
	for range w.Goroutines {
		all.Go(func() {
			for e := range events {
				d, err := l.Run(ctx, host.Event{SessionID: e[0], ID: e[1]})
				line, _ := json.Marshal(decided{e[0], e[1], d.Verdict.Action == rules.Continue, d.Verdict.Reason, err != nil})
				mu.Lock()
				_, _ = fmt.Fprintf(out, "%s\n", line)
				mu.Unlock()
			}
		})
	}
	for lines.Scan() {
		session, id, _ := strings.Cut(lines.Text(), " ")
		events <- [2]string{session, id}
	}
	close(events)
	all.Wait()
	return nil
}

// rate decides for a time.
func (w workload) rate(ctx context.Context, l *loop.Loop) rate {
	took := make([][]time.Duration, w.Goroutines)
	failed := make([]int, w.Goroutines)
	var all sync.WaitGroup
	end := time.Now().Add(w.For)
	for i := range w.Goroutines {
		all.Go(func() {
			for time.Now().Before(end) {
				start := time.Now()
				if d, _ := l.Run(ctx, host.Event{SessionID: w.Sessions[i%len(w.Sessions)]}); d.Verdict.Action == rules.Continue {
					took[i] = append(took[i], time.Since(start))
				} else {
					failed[i]++
				}
			}
		})
	}
	all.Wait()
	var r rate
	for _, n := range failed {
		r.Failed += n
	}
	sorted := slices.Sorted(slices.Values(slices.Concat(took...)))
	if r.Decisions = len(sorted); r.Decisions > 0 {
		r.P50, r.P99 = sorted[len(sorted)/2], sorted[len(sorted)*99/100]
	}
	return r
}

// newLoop returns a loop that continues up to a limit.
func newLoop(s *postgres.Store, scope string, limit int, opts ...loop.Option) (*loop.Loop, error) {
	policies := fstest.MapFS{"p.yaml": {Data: fmt.Appendf(nil, "ralph: 1\nlimits: {continuations: %d}\nrules: [{name: on, continue: go on}]\n", limit)}}
	opts = append(opts, loop.WithStore(s), loop.WithScope(scope))
	l, diags := loop.Load(context.Background(), policies, "p.yaml", opts...)
	return l, diags.Err()
}

// process is a process with a workload.
type process struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

// begin starts a process. It waits for the first line.
func (w workload) begin(tb testing.TB) *process {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	text, err := json.Marshal(w)
	if err != nil {
		tb.Fatal(err)
	}
	p := &process{cmd: exec.Command(self)}
	p.cmd.Env, p.cmd.Stderr = append(os.Environ(), workVariable+"="+string(text)), os.Stderr
	in, err := p.cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		tb.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
	})
	p.in, p.out = in, bufio.NewScanner(out)
	if !p.out.Scan() {
		tb.Fatal("the process does not start")
	}
	return p
}

// send sends it the word to begin, and events, in the background. It stops if the process is gone.
func (p *process) send(lines ...string) {
	go func() {
		defer p.in.Close()
		_, _ = io.WriteString(p.in, strings.Join(append([]string{"go"}, lines...), "\n")+"\n")
	}()
}

// read reads up to n answers, fewer if it ends.
func (p *process) read(tb testing.TB, n int) (all []decided) {
	tb.Helper()
	for len(all) < n && p.out.Scan() {
		var d decided
		if err := json.Unmarshal(p.out.Bytes(), &d); err != nil {
			break // it was killed within a line
		}
		all = append(all, d)
	}
	return all
}
