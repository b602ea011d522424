//go:build unix

package run_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/run"
)

// TestRunner is no test: it is the process that TestKilledRuns kills.
func TestRunner(t *testing.T) {
	dir := os.Getenv("RALPH_TEST_RUN_DIR")
	if dir == "" {
		t.Skip("it is started by TestKilledRuns")
	}
	max, err := strconv.Atoi(os.Getenv("RALPH_TEST_RUN_MAX"))
	if err != nil {
		t.Fatal(err)
	}
	opts := []run.Option{
		run.WithDir(dir), run.WithStore(loop.LocalStore(os.Getenv("RALPH_TEST_RUN_STATE")), ""), run.WithLimits(run.Limits{Iterations: max}),
		sh(`echo "$1" >>prompts; sleep 300 & setsid sleep 300 & echo done`),
	}
	if id := os.Getenv("RALPH_TEST_RUN_ID"); id != "" {
		opts = append(opts, run.Resume(id))
	}
	r, err := run.New(load(t, endless), run.Generic(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	for ev := range r.Run(t.Context()) {
		if ev.Kind == run.RunStart { // it is kept now
			fmt.Println("run", r.ID())
		}
		fmt.Println(inWords(ev), ev.Why)
	}
}

// A run that is repeatedly killed at any moment counts each start once, loses nothing but the iteration in progress,
// leaves no process over, and is not under way. RALPH_STORM=full kills 200 times in 1,000 iterations.
func TestKilledRuns(t *testing.T) {
	iterations, kills := 20, 5
	if os.Getenv("RALPH_STORM") == "full" {
		iterations, kills = 1000, 200
	}
	dir, state := project(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	id := ""
	for last, killed := "", 0; !strings.HasPrefix(last, "run_end"); {
		cmd := exec.Command(self, "-test.run=^TestRunner$")
		cmd.Env = append(os.Environ(), "RALPH_TEST_RUN_DIR="+dir, "RALPH_TEST_RUN_STATE="+state, "RALPH_TEST_RUN_ID="+id, "RALPH_TEST_RUN_MAX="+strconv.Itoa(iterations))
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		// It is killed at one of its next lines, or a moment later.
		at, n := rand.IntN(5*iterations/kills), 0
		var said []string
		for line := range linesOf(out) {
			if line == "PASS" {
				break
			}
			said, last = append(said, line), line
			if word, ok := strings.CutPrefix(line, "run "); ok {
				id = word
			}
			if n++; n > at && killed < kills && id != "" {
				killed++
				cmd.Process.Kill()
			}
		}
		cmd.Wait()
		t.Log(strings.Join(said, " / "))
		if cmd.ProcessState.ExitCode() > 0 {
			t.Fatalf("the run cannot be resumed: %q", said)
		}
		live, err := run.Live(t.Context(), loop.LocalStore(state), "", dir, "policy.yaml")
		for range 10_000 { // a child between fork and exec has the lock for a moment longer
			if live == "" || err != nil {
				break
			}
			runtime.Gosched()
			live, err = run.Live(t.Context(), loop.LocalStore(state), "", dir, "policy.yaml")
		}
		if live != "" || err != nil {
			t.Fatalf("its process has ended, and under way is %q (%v)", live, err)
		}
	}

	log, err := os.ReadFile(filepath.Join(dir, run.Dir, id, "run.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	ended, lost, seq := map[int]int{}, 0, 0
	for line := range strings.Lines(string(log)) {
		var ev run.Event
		if err := json.Unmarshal([]byte(line), &ev); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if seq++; ev.Seq != seq {
			t.Fatalf("event %d has the number %d", seq, ev.Seq)
		}
		if ev.Kind == run.IterationEnd {
			ended[ev.Iteration]++
			if ev.Outcome == run.Lost {
				lost++
			}
		}
	}
	for i := 1; i <= iterations; i++ {
		if ended[i] != 1 {
			t.Errorf("iteration %d ended %d times", i, ended[i])
		}
	}
	prompts, _ := os.ReadFile(filepath.Join(dir, "prompts"))
	if n := strings.Count(string(prompts), "\n"); len(ended) != iterations || n < iterations-lost || n > iterations {
		t.Errorf("%d iterations ended, %d of them lost, and the agent was started %d times", len(ended), lost, n)
	}
	if ps, err := exec.Command("sh", "-c", "cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c '^RALPH_RUN="+id+"$'").Output(); err == nil {
		t.Errorf("%s processes are left over", strings.TrimSpace(string(ps)))
	}
}

// If an agent replaces an output file, ralph does not write to the replacement: a pipe would block the run, and a link
// leads elsewhere.
func TestOutputIsItsOwnFile(t *testing.T) {
	dir, state := project(t)
	r, err := run.New(load(t, policy), run.Generic(), run.WithDir(dir), run.WithStore(loop.LocalStore(state), ""),
		sh("echo keep >kept; cd .ralph/runs/*/; test -e 0002.out || { mkfifo 0002.out; ln -s ../../../kept 0003.out; }; echo hi"))
	if err != nil {
		t.Fatal(err)
	}
	if events, _ := all(t, t.Context(), r); events[len(events)-1].Ended != run.Stopped {
		t.Errorf("it ends with %+v", events[len(events)-1])
	}
	for name, want := range map[string]string{filepath.Join(run.Dir, r.ID(), "0002.out"): "hi\n", "kept": "keep\n"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s has %q (%v), want %q", name, got, err, want)
		}
	}
}
