package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/state"
)

// The test binary is its own child: with this variable set it does the job
// that it names instead of testing.
const childVariable = "STORE_TEST_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childVariable); job != "" {
		if err := childJobs[job](os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

var childJobs = map[string]func(args []string) error{
	"increment": func(args []string) error { return increment(args[0], args[1]) },
	"log":       func(args []string) error { return logLines(args[0], args[1], linesEach) },
	"log-much":  func(args []string) error { return logLines(args[0], args[1], 5*linesEach) },
}

func child(job string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childVariable+"="+job)
	return cmd
}

// increment adds one to the counter of a state file, and to the one of a
// memory, as a hook does: first without the lock, then again under it.
func increment(dir, storeDir string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	root, err := state.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	store := Open(storeDir)

	name, err := root.Target("state.json")
	if err != nil {
		return err
	}
	doc := root.Read(ctx, state.File{Path: "state.json", Format: state.JSON})
	unlock, err := store.Lock(ctx, []string{name})
	if err != nil {
		return err
	}
	defer unlock()
	for {
		if doc.Status != state.OK {
			return errors.New(doc.Problem)
		}
		n, err := doc.Document.Value.(map[string]any)["n"].(json.Number).Int64()
		if err != nil {
			return err
		}
		err = root.Apply(ctx, []state.Change{{Path: "state.json", Format: state.JSON, Version: doc.Version, Sets: []state.Set{{Path: []any{"n"}, Value: int(n) + 1}}}})
		if err == nil {
			break
		}
		if !errors.Is(err, state.ErrChanged) {
			return err
		}
		doc = root.Read(ctx, state.File{Path: "state.json", Format: state.JSON})
	}
	unlock()

	unlock, err = store.Lock(ctx, []string{MemoryLock(MemoryKey{Root: "loop"})})
	if err != nil {
		return err
	}
	defer unlock()
	line, version, err := store.LoadMemory(MemoryKey{Root: "loop"})
	if err != nil {
		return err
	}
	return store.SaveMemory(MemoryKey{Root: "loop"}, append(line, '+'), version)
}

// Of 64 concurrent processes, each adds exactly one.
func TestProcessesIncrement(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector sees nothing between processes, and 64 that it slows down hold a lock for too long")
	}
	const processes = 64
	dir, storeDir := t.TempDir(), t.TempDir()
	file := filepath.Join(dir, "state.json")
	if err := os.WriteFile(file, []byte("{\"n\": 0}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var running []*exec.Cmd
	var output []*strings.Builder
	for range processes {
		cmd, out := child("increment", dir, storeDir), new(strings.Builder)
		cmd.Stderr = out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running, output = append(running, cmd), append(output, out)
	}
	for i, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Errorf("process %d gave up: %v: %s", i, err, output[i])
		}
	}
	if got, err := os.ReadFile(file); string(got) != fmt.Sprintf("{\"n\": %d}\n", processes) {
		t.Errorf("got %q, %v; want %d", got, err, processes)
	}
	if line, _, err := Open(storeDir).LoadMemory(MemoryKey{Root: "loop"}); err != nil || len(line) != processes {
		t.Errorf("the memory counts %d, %v", len(line), err)
	}
	if entries, err := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// padding makes writing take a while.
var padding = strings.Repeat("x", 1<<20)

// linesEach is how many lines every process logs.
const linesEach = 8

func logLines(dir, name string, lines int) error {
	store := Open(dir)
	for i := range lines {
		line := fmt.Sprintf(`{"by":%q,"i":%d,"pad":%q}`, name, i, padding[:200<<10])
		if err := store.AppendLog([]byte(line)); err != nil {
			return err
		}
	}
	return nil
}

// Several processes write one log, which is rotated meanwhile, and no line is
// torn or lost.
func TestProcessesLog(t *testing.T) {
	const processes = 6 // 9.4 MiB in all: one rotation
	dir := t.TempDir()
	var running []*exec.Cmd
	for i := range processes {
		cmd := child("log", dir, fmt.Sprint(i))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	lines, err := Open(dir).ReadLog(nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, line := range lines {
		var record struct {
			By string
			I  int
		}
		if err := json.Unmarshal(line, &record); err != nil {
			t.Error(err)
		}
		seen[fmt.Sprint(record.By, " ", record.I)] = true
	}
	if len(lines) != processes*linesEach || len(seen) != processes*linesEach {
		t.Errorf("%d lines, %d different ones, want %d", len(lines), len(seen), processes*linesEach)
	}
	if _, err := os.Stat(Open(dir).path(logRotated)); err != nil {
		t.Errorf("the log was not rotated: %v", err)
	}
}

// While several processes write and rotate the log again and again, who follows it gets each line once, and those of each process
// in their order.
func TestProcessesFollowLog(t *testing.T) {
	const processes = 6 // 47 MiB in all: five rotations
	s := Open(t.TempDir())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var running []*exec.Cmd
	for i := range processes {
		cmd := child("log-much", s.Dir(), fmt.Sprint(i))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		running = append(running, cmd)
	}
	next, left := map[string]int{}, processes*5*linesEach
	err := s.FollowLog(ctx, nil, 0, func(line []byte) {
		var record struct {
			By string
			I  int
		}
		if err := json.Unmarshal(line, &record); err != nil || record.I != next[record.By] {
			t.Errorf("line %d of %s, want %d; %v", record.I, record.By, next[record.By], err)
		}
		next[record.By]++
		if left--; left == 0 {
			cancel()
		}
	})
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if left != 0 {
		t.Errorf("%d lines were not shown: %v", left, err)
	}
	if !exists(s.logPath(4)) {
		t.Error("the log was not rotated as often as it should be")
	}
}
