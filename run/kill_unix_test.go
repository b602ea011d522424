//go:build unix

package run

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// TestKilled kills a run at random moments, each time with SIGKILL, and resumes it: it starts each iteration once and --max of them in all,
// loses at most the one under way, and no process of the agent's group is left. RALPH_STORM=full kills 50 times.
func TestKilled(t *testing.T) {
	dir, most := os.Getenv("RALPH_TEST_KILL"), 12
	kills := 5
	if os.Getenv("RALPH_STORM") == "full" {
		most, kills = 120, 50
	}
	if dir != "" {
		drive(t, dir, most)
		return
	}
	dir = t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	fifo, err := os.OpenFile(filepath.Join(dir, "fifo"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer fifo.Close()
	store := loop.Dir(filepath.Join(dir, "store"))
	lost := 0
	for killed := 0; ; {
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilled$")
		cmd.Env = append(os.Environ(), "RALPH_TEST_KILL="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil || cmd.Start() != nil {
			t.Fatal(err)
		}
		at, n := 2+rand.IntN(5*most/kills), 0
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if n++; n >= at && killed < kills {
				killed++
				_ = cmd.Process.Kill()
				break
			}
		}
		_ = cmd.Wait()
		if cmd.ProcessState.ExitCode() > 0 {
			t.Fatalf("the run cannot be resumed: %s", lines.Text())
		}
		if _, err := io.Copy(io.Discard, fifo); err != nil { // ends when no process is left that can write
			t.Fatal(err)
		}
		s, err := Load(t.Context(), store, "r1")
		if err != nil {
			t.Fatal(err)
		}
		if s.Phase == Iterating {
			lost++
		}
		if s.End == nil {
			continue
		}
		if s.Iteration != most || s.End.Outcome != rules.Limit {
			t.Errorf("%d iterations, %+v", s.Iteration, s.End)
		}
		break
	}
	prompts, err := os.ReadFile(filepath.Join(dir, "prompts"))
	if err != nil {
		t.Fatal(err)
	}
	started, last := 0, -1
	for line := range strings.Lines(string(prompts)) {
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil || n <= last {
			t.Errorf("after iteration %d comes %q", last, line)
		}
		started, last = started+1, n
	}
	if started > most || started < most-lost {
		t.Errorf("%d were started of %d, and %d lost", started, most, lost)
	}
	t.Logf("%d kills, %d iterations lost", kills, lost)
}

// drive is the process that is killed.
func drive(t *testing.T, dir string, most int) {
	b := onBench(t, dir, loop.Dir(filepath.Join(dir, "store")), "limits: {total: 10000}\nrules: [{name: next, continue: '${run.iteration}'}]",
		`exec 9>fifo; cat >>prompts; sleep 300 & echo up; echo down`)
	b.Output = os.Stdout
	b.plan.Limits.Max, b.plan.Losses = most, 1000
	report := b.Report
	b.Report = func(in Input, s State) {
		report(in, s)
		fmt.Println(b.said[len(b.said)-1])
	}
	if _, err := Load(t.Context(), b.Store, "r1"); err != nil {
		b.run(t.Context())
	} else if _, err := b.Resume(t.Context(), "r1", Limits{}); err != nil {
		t.Fatal(err)
	}
}
