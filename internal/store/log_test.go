package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Following the log returns the latest decisions, then all that come, each once, including those that were torn while
// they were written and those around a rotation.
func TestFollowLog(t *testing.T) {
	s := Open(t.TempDir())
	log := filepath.Join(s.Dir(), logName)
	add := func(n int) {
		t.Helper()
		if err := s.AppendLog(fmt.Appendf(nil, `{"n":%d}`, n)); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 5 {
		add(n)
	}
	if err := os.Rename(log, filepath.Join(s.Dir(), logRotated)); err != nil {
		t.Fatal(err)
	}
	add(5)
	// A line that is just being written.
	f, err := os.OpenFile(log, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(`{"n":`); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	steps := map[string]func(){
		`{"n":5}`: func() { f.WriteString("6}\n") },
		`{"n":6}`: func() { add(7) },
		`{"n":7}`: func() {
			if err := os.Rename(log, filepath.Join(s.Dir(), logRotated)); err != nil {
				t.Error(err)
			}
			f.WriteString("{\"n\":8}\nnot JSON\n") // by a process that has the old file open
			add(9)
		},
		`{"n":9}`: cancel,
	}
	err = s.FollowLog(ctx, func(line []byte) bool { return !strings.Contains(string(line), "4") }, 3, func(line []byte) {
		got = append(got, string(line))
		if step := steps[string(line)]; step != nil {
			step()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	want := []string{`{"n":2}`, `{"n":3}`, `{"n":5}`, `{"n":6}`, `{"n":7}`, `{"n":8}`, `{"n":9}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A process that opened the log before it was rotated, and is slow, loses nothing: its line is shown although later ones
// were.
func TestFollowLogOfSlowWriter(t *testing.T) {
	s := Open(t.TempDir())
	if err := s.AppendLog([]byte(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	slow, err := os.OpenFile(s.logPath(0), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var got []string
	steps := map[string]func(){
		`{"n":1}`: func() {
			if err := errors.Join(os.Rename(s.logPath(0), s.logPath(1)), s.AppendLog([]byte(`{"n":2}`))); err != nil {
				t.Error(err)
			}
		},
		`{"n":2}`: func() { slow.WriteString("{\"n\":3}\n") },
		`{"n":3}`: cancel,
	}
	err = s.FollowLog(ctx, nil, 0, func(line []byte) {
		got = append(got, string(line))
		if step := steps[string(line)]; step != nil {
			step()
		}
	})
	if diff := cmp.Diff([]string{`{"n":1}`, `{"n":2}`, `{"n":3}`}, got); !errors.Is(err, context.Canceled) || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// A log that does not exist yet is waited for.
func TestFollowLogFromNothing(t *testing.T) {
	s := Open(t.TempDir())
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error)
	go func() { done <- s.FollowLog(ctx, nil, 10, func([]byte) { cancel() }) }()
	if err := s.AppendLog([]byte(`{"n":1}`)); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := Open("").FollowLog(t.Context(), nil, 0, nil); !errors.As(err, new(*Error)) {
		t.Error(err)
	}
}
