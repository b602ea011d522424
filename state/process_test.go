package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// The test binary is its own child: with this variable set it does the job
// that it names instead of testing.
const childVariable = "STATE_TEST_CHILD"

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
	"increment":     func(args []string) error { return increment(args[0], args[1]) },
	"rewrite":       func(args []string) error { return rewriteForever(args[0]) },
	"log":           func(args []string) error { return logLines(args[0], args[1]) },
	"fill the disk": func(args []string) error { return fillDisk(args[0]) },
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
	root, err := OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	store := OpenStore(storeDir)

	name, err := root.Target("state.json")
	if err != nil {
		return err
	}
	doc := root.Read(ctx, File{Path: "state.json", Format: JSON})
	unlock, err := store.Lock(ctx, []string{name})
	if err != nil {
		return err
	}
	defer unlock()
	for {
		if doc.Status != OK {
			return errors.New(doc.Problem)
		}
		n, err := doc.Document.Value.(map[string]any)["n"].(json.Number).Int64()
		if err != nil {
			return err
		}
		err = root.Apply(ctx, []Change{{Path: "state.json", Format: JSON, Version: doc.Version, Sets: []Set{set(int(n)+1, "n")}}})
		if err == nil {
			break
		}
		if !errors.Is(err, ErrChanged) {
			return err
		}
		doc = root.Read(ctx, File{Path: "state.json", Format: JSON})
	}
	unlock()

	unlock, err = store.Lock(ctx, []string{MemoryLock("loop")})
	if err != nil {
		return err
	}
	defer unlock()
	m, version, err := store.LoadMemory("loop")
	if err != nil {
		return err
	}
	m.Total++
	return store.SaveMemory("loop", m, version)
}

// Of 64 processes at once each adds exactly one.
func TestProcessesIncrement(t *testing.T) {
	const processes = 64
	p := newProject(t, map[string]string{"state.json": "{\"n\": 0}\n"})
	storeDir := t.TempDir()
	var running []*exec.Cmd
	var output []*strings.Builder
	for range processes {
		cmd, out := child("increment", p.Dir(), storeDir), new(strings.Builder)
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
	if got, want := p.content("state.json"), fmt.Sprintf("{\"n\": %d}\n", processes); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if m, _, err := OpenStore(storeDir).LoadMemory("loop"); err != nil || m.Total != processes {
		t.Errorf("the memory counts %d, %v", m.Total, err)
	}
	if files := p.files(); len(files) != 1 {
		t.Errorf("left behind: %v", files)
	}
}

// padding makes writing take a while.
var padding = strings.Repeat("x", 1<<20)

func rewriteForever(dir string) error {
	root, err := OpenRoot(dir)
	if err != nil {
		return err
	}
	for n := 0; ; n++ {
		doc := root.Read(context.Background(), File{Path: "state.md", Format: FrontMatter})
		err := root.Apply(context.Background(), []Change{{Path: "state.md", Format: FrontMatter, Version: doc.Version, Sets: []Set{set(n, "n")}}})
		if err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// Whenever a process is killed, the file is whole: the old one or the new one.
func TestProcessKilled(t *testing.T) {
	p := newProject(t, map[string]string{"state.md": "---\nn: -1\n---\n" + padding})
	for round := range 12 {
		cmd := child("rewrite", p.Dir())
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		io.ReadFull(out, make([]byte, 2)) // it has written once
		time.Sleep(time.Duration(round) * 700 * time.Microsecond)
		cmd.Process.Kill()
		cmd.Wait()

		doc := p.read("state.md", FrontMatter)
		if doc.Status != OK || doc.Body != padding {
			t.Fatalf("after the kill: %v %s, body of %d bytes", doc.Status, doc.Problem, len(doc.Body))
		}
		if n, ok := doc.Document.Value.(map[string]any)["n"].(int); !ok || n < 0 {
			t.Fatalf("after the kill: %v", doc.Document.Value)
		}
	}
}

// Nobody who reads beside a writer sees half a file.
func TestProcessReadsWhole(t *testing.T) {
	p := newProject(t, map[string]string{"state.md": "---\nn: 0\n---\n" + padding})
	cmd := child("rewrite", p.Dir())
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	for range 100 {
		if doc := p.read("state.md", FrontMatter); doc.Status != OK || doc.Body != padding {
			t.Fatalf("%v %s, body of %d bytes", doc.Status, doc.Problem, len(doc.Body))
		}
	}
}

// linesEach is how many lines every process logs.
const linesEach = 8

func logLines(dir, name string) error {
	store := OpenStore(dir)
	for i := range linesEach {
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
	lines, err := OpenStore(dir).ReadLog(nil, 0)
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
	if _, err := os.Stat(OpenStore(dir).path(logRotated)); err != nil {
		t.Errorf("the log was not rotated: %v", err)
	}
}
