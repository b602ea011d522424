package main

import (
	"bufio"
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
	b := newBench(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	a := &app{stdin: strings.NewReader(""), stdout: w, stderr: io.Discard, getenv: os.Getenv}
	ended := make(chan int)
	go func() { ended <- a.run(ctx, []string{"log", "-f"}) }()
	log, printed := filepath.Join(b.own, "decisions.jsonl"), bufio.NewScanner(r)
	follows := func(reasons ...string) {
		t.Helper()
		for _, reason := range reasons {
			if !printed.Scan() || !strings.HasSuffix(printed.Text(), reason) {
				t.Fatalf("log -f printed %q, want %s", printed.Text(), reason)
			}
		}
	}
	keep := func(reason string) {
		t.Helper()
		must(loop.Log(log)(t.Context(), loop.Record{Project: b.dir, Policy: "p", Reason: reason}))
	}
	keep("first")
	follows("first")
	keep("before the rotation")
	must(os.Rename(log, log+".1"))
	keep("after it")
	follows("before the rotation", "after it")
	must(os.Rename(log, log+".1"))
	keep("in between")
	must(os.Rename(log, log+".1"))
	follows("in between")
	keep("last")
	follows("last")
	line, err := os.ReadFile(log)
	must(err)
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	must(err)
	defer f.Close()
	for _, piece := range strings.SplitAfter(strings.Replace(string(line), "last", "torn", 1), "p") {
		_, err := f.WriteString(piece)
		must(err)
	}
	follows("torn")
	cancel()
	if status := <-ended; status != exitOK {
		t.Errorf("the exit status is %d", status)
	}
}
