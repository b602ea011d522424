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
// loses at most the one under way, and no process of the agent's group is left. The agent commits to a git work tree, which stays sound.
// RALPH_STORM=full kills 50 times.
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
	work := filepath.Join(dir, "work")
	gitIn(t, dir, "init", "-q", "-b", "main", work)
	gitIn(t, work, "config", "user.name", "agent")
	gitIn(t, work, "config", "user.email", "agent@example.com")
	gitIn(t, work, "config", "commit.gpgsign", "false")
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
	prompts, err := os.ReadFile(filepath.Join(work, "prompts"))
	if err != nil {
		t.Fatal(err)
	}
	gitIn(t, work, "fsck", "--strict")
	started, committed := ascending(t, string(prompts)), ascending(t, gitIn(t, work, "log", "--reverse", "--format=%s"))
	if started > most || started < most-lost || committed > started || committed < most-lost {
		t.Errorf("%d were started of %d, %d committed, and %d lost", started, most, committed, lost)
	}
	t.Logf("%d kills: of %d iterations %d began, %d committed, %d are lost", kills, most, started, committed, lost)
}

// ascending counts the lines of a text, each of which is a larger number than the one before.
func ascending(t *testing.T, text string) (count int) {
	last := -1
	for line := range strings.Lines(text) {
		n, err := strconv.Atoi(strings.TrimSpace(line))
		if err != nil || n <= last {
			t.Errorf("after iteration %d comes %q", last, line)
		}
		count, last = count+1, n
	}
	return count
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %q: %v", args, err)
	}
	return string(out)
}

// committer is an agent that appends its prompt to a file, and commits that. The lock of a git that was killed is in the way of the next one.
const committer = `exec 9>../fifo
cat >>prompts
find .git -name '*.lock' -delete
git add prompts && git commit -q -m "$(tail -n 1 prompts)"
sleep 300 & echo up; echo down`

// drive is the process that is killed.
func drive(t *testing.T, dir string, most int) {
	b := onBench(t, filepath.Join(dir, "work"), loop.Dir(filepath.Join(dir, "store")), "limits: {total: 10000}\nrules: [{name: next, continue: '${run.iteration}'}]", committer)
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
