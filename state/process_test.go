package state

import (
	"context"
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
	"rewrite":       func(args []string) error { return rewriteForever(args[0]) },
	"fill the disk": func(args []string) error { return fillDisk(args[0]) },
}

func child(job string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childVariable+"="+job)
	return cmd
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
