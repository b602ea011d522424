package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// signalled is an output that tells when a text has been written so many times.
type signalled struct {
	mu   sync.Mutex
	all  strings.Builder
	text string
	seen chan int
}

func (s *signalled) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := strings.Count(s.all.String(), s.text)
	s.all.Write(b)
	if n := strings.Count(s.all.String(), s.text); n > before {
		s.seen <- n
	}
	return len(b), nil
}

// With --watch the tests run again when a file changes, and the exit status is
// that of the last run.
func TestWatch(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		// At once, as editors do: half a file would be one more change.
		temp := filepath.Join(t.TempDir(), name)
		err := os.WriteFile(temp, []byte(text), 0o644)
		if err == nil {
			err = os.Rename(temp, filepath.Join(dir, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	write("p.yaml", "ralph: 1\nrules:\n  - name: a\n    stop: x\n")
	write("p_test.yaml", "tests:\n  - name: it passes\n    expect: {rule: b}\n")
	out := &signalled{text: "waiting for changes", seen: make(chan int, 10)}
	a := &app{stdin: strings.NewReader(""), stdout: out, stderr: out, getenv: func(string) string { return "" }}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan int)
	go func() { done <- a.run(ctx, []string{"test", "--watch", dir}) }()
	<-out.seen
	write("p_test.yaml", "tests:\n  - name: it passes now\n    expect: {rule: a}\n")
	<-out.seen
	cancel()
	if status := <-done; status != exitOK {
		t.Errorf("the exit status is %d: %s", status, out.all.String())
	}
	if got := out.all.String(); !strings.Contains(got, "the policy has no rule \"b\"") || !strings.Contains(got, "ok    ") {
		t.Errorf("the first run should fail and the second pass:\n%s", got)
	}
}
