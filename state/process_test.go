package state

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
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
	"rewrite":       func(args []string) error { return rewrite(args[0]) },
	"fill the disk": func(args []string) error { return fillDisk(args[0]) },
}

func child(job string, args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), childVariable+"="+job)
	return cmd
}

// padding makes writing take a while.
var padding = strings.Repeat("x", 1<<20)

func rewrite(dir string) error {
	root, err := OpenRoot(dir)
	if err != nil {
		return err
	}
	for n := range 1000 {
		doc := root.Read(context.Background(), File{Path: "state.md", Format: FrontMatter})
		err := root.Apply(context.Background(), []Change{{Path: "state.md", Format: FrontMatter, Version: doc.Version, Sets: []Set{set(n, "n")}}})
		if err != nil {
			return err
		}
	}
	return nil
}

// Whenever a process is killed, the file is whole: the old one or the new one.
func TestProcessKilled(t *testing.T) {
	temp := func(p project, size int) bool {
		names, err := filepath.Glob(filepath.Join(p.Dir(), tempPrefix+"*"+tempSuffix))
		if err != nil || len(names) == 0 {
			return false
		}
		info, err := os.Stat(names[0])
		return err == nil && info.Size() >= int64(size)
	}
	moments := map[string]func(p project, before os.FileInfo) bool{
		"the new bytes begin":     func(p project, _ os.FileInfo) bool { return temp(p, 0) },
		"the new bytes are there": func(p project, _ os.FileInfo) bool { return temp(p, len(padding)) },
		"the file changes": func(p project, before os.FileInfo) bool {
			now, err := os.Stat(p.path("state.md"))
			return err != nil || !os.SameFile(before, now) || now.Size() != before.Size()
		},
	}
	for name, reached := range moments {
		t.Run(name, func(t *testing.T) {
			for range 6 {
				p := newProject(t, map[string]string{"state.md": "---\nn: -1\n---\n" + padding})
				before, err := os.Stat(p.path("state.md"))
				if err != nil {
					t.Fatal(err)
				}
				cmd := child("rewrite", p.Dir())
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				ended := make(chan error, 1)
				go func() { ended <- cmd.Wait() }()
				for !reached(p, before) {
					select {
					case err := <-ended:
						t.Fatalf("it ended by itself: %v", err)
					default:
					}
				}
				cmd.Process.Kill()
				<-ended

				doc := p.read("state.md", FrontMatter)
				if doc.Status != OK || doc.Body != padding {
					t.Fatalf("after the kill: %v %s, body of %d bytes", doc.Status, doc.Problem, len(doc.Body))
				}
				if n, ok := doc.Document.Value.(map[string]any)["n"].(int); !ok || n < -1 {
					t.Fatalf("after the kill: %v", doc.Document.Value)
				}
			}
		})
	}
}

// A reader beside a writer never sees half a file.
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
