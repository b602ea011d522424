package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ralph-sdk/ralph/loop"
)

// log -f waits for the first decision, and follows the name of the log when it is rotated, twice too. A line in two pieces is one.
func TestFollow(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	own := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	getenv := func(name string) string { return map[string]string{"RALPH_STATE_DIR": own}[name] }
	a := &app{stdin: strings.NewReader(""), stdout: w, stderr: io.Discard, getenv: getenv}
	ended := make(chan int)
	go func() { ended <- a.run(ctx, []string{"log", "-f"}) }()
	log, lines := filepath.Join(own, "decisions.jsonl"), bufio.NewScanner(r)
	follows := func(reason string) {
		t.Helper()
		if !lines.Scan() || !strings.HasSuffix(lines.Text(), reason) {
			t.Fatalf("log -f printed %q, want %s", lines.Text(), reason)
		}
	}
	keep := func(reason string) {
		t.Helper()
		if err := loop.Log(log)(t.Context(), loop.Record{Project: dir, Policy: "p", Reason: reason}); err != nil {
			t.Fatal(err)
		}
	}
	rotate := func() {
		t.Helper()
		if err := os.Rename(log, log+".1"); err != nil {
			t.Fatal(err)
		}
	}
	keep("first")
	follows("first")
	keep("before the rotation")
	rotate()
	keep("after it")
	follows("before the rotation")
	follows("after it")
	rotate()
	keep("in between")
	rotate()
	follows("in between")
	keep("last")
	follows("last")
	line, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	add := func(piece []byte) {
		t.Helper()
		f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
		if err == nil {
			_, err = f.Write(piece)
			f.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	add(line[:10])
	add(bytes.Replace(line[10:], []byte("last"), []byte("torn"), 1))
	follows("torn")
	cancel()
	if status := <-ended; status != exitOK {
		t.Errorf("the exit status is %d", status)
	}
}
