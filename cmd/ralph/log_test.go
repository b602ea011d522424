package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-sdk/ralph/internal/project"
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
	must(os.MkdirAll(b.own, 0o700))
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
		must((&project.Home{Log: log}).Record(t.Context(), loop.Record{Project: b.dir, Policy: "p", Reason: reason}))
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

// The log has one line a decision, whatever the texts are and however many write. One that is too large is rotated, and a torn line is left out.
func TestRecord(t *testing.T) {
	h := project.Home{Log: filepath.Join(t.TempDir(), "decisions.jsonl")}
	if err := os.WriteFile(h.Log, []byte(strings.Repeat("x", 8<<20)+"\n"+`{"policy": "torn`), 0o600); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if err := h.Record(t.Context(), loop.Record{Project: "p", Policy: "<a>\u2028\r\n"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	old, err := os.Stat(h.Log + ".1")
	now, err2 := os.Stat(h.Log)
	if err != nil || err2 != nil || old.Size() < 8<<20 || now.Size() == 0 || now.Mode().Perm() != 0o600 {
		t.Errorf("the log is not rotated: %+v, %v, %+v, %v", old, err, now, err2)
	}
	if all, err := h.Decisions(project.Project{Root: "p"}); err != nil || len(all) != 160 || all[159].Policy != "<a>\u2028\r\n" {
		t.Errorf("the log has %d decisions, %v", len(all), err)
	}
}
