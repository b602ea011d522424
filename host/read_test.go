package host_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/host"
)

// What cannot be read is an error that names the path once and keeps its cause.
func TestReadErrors(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.jsonl")
	readable := file(t, agent("a"))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		path  string
		cause error
	}{
		{"no path", t.Context(), "", fs.ErrNotExist},
		{"no file", t.Context(), missing, fs.ErrNotExist},
		{"a folder", t.Context(), dir, host.ErrNotRegular},
		{"a zero byte in the path", t.Context(), "a\x00b", nil},
		{"too late", cancelled, readable, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := host.ReadSession(c.ctx, c.path, host.SessionOptions{})
			var readError *host.ReadError
			if !errors.As(err, &readError) || s != nil {
				t.Fatalf("%v, %v", s, err)
			}
			if readError.Path != c.path || c.cause != nil && !errors.Is(err, c.cause) {
				t.Errorf("%#v", readError)
			}
			if c.path != "" && strings.Count(err.Error(), c.path) != 1 {
				t.Errorf("%q should name the path once", err)
			}
		})
	}
}

// The largest files cost what their last turn costs.
func TestReadCostsTheTurn(t *testing.T) {
	turn := user("go") + strings.Repeat(agent("step"), 100) + agent("DONE")
	bytesRead := func(size int64) int64 {
		path := filepath.Join(t.TempDir(), "session.jsonl")
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(user("first") + agent("old")); err != nil {
			t.Fatal(err)
		}
		if err := f.Truncate(size); err != nil { // sparse, where the file system supports it
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("\n"+turn), size); err != nil {
			t.Fatal(err)
		}
		s := read(t, path, host.SessionOptions{})
		if own := s.Own(); len(own) != 101 || own[100] != "DONE" {
			t.Fatalf("%d texts", len(own))
		}
		return s.Bytes()
	}
	small, large := bytesRead(1<<20), bytesRead(500<<20)
	if small != large || small > 128<<10 {
		t.Errorf("1 MB costs %d bytes, 500 MB cost %d", small, large)
	}
}

func TestReadLargeRecords(t *testing.T) {
	huge := strings.Repeat("lorem ipsum ", 250_000)
	for _, c := range []struct {
		name  string
		lines []string
		want  []string
	}{
		{"an answer", []string{user("go"), agent(huge + "DONE")}, []string{huge + "DONE"}},
		{"an answer, then another", []string{user("go"), agent(huge), agent("a")}, []string{huge, "a"}},
		{"a prompt", []string{agent("DONE"), user(huge), agent("a")}, []string{"a"}},
		{"a prompt at the end", []string{agent("DONE"), user(huge)}, nil},
		{"a tool's result", []string{user("go"), agent("a"), result(huge), agent("b")}, []string{"a", "b"}},
		{"a record of the host", []string{user("go"), agent("a"), line(m{"type": "system", "content": huge})}, []string{"a"}},
		{"half a record at the end", []string{agent("a"), `{"type":"user","message":{"content":"` + huge}, []string{"a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, read(t, file(t, c.lines...), host.SessionOptions{}).Own()); diff != "" {
				t.Errorf("(-want +got):\n%.500s", diff)
			}
		})
	}
}

// If the budget is spent before the turn's beginning is found, what was read is still of the turn, and a record that
// was only partly read does not count.
func TestReadWithinTheBudget(t *testing.T) {
	step := agent("step")
	path := file(t, user("go"), agent("DONE"), strings.Repeat(step, 1000))
	budget := int64(len(step)*10 + len(step)/2)
	s := read(t, path, host.SessionOptions{MaxBytes: budget, SearchBytes: -1})
	if n := len(s.Own()); n != 10 || !s.Cut() {
		t.Errorf("%d texts, Cut %v; want 10 and true", n, s.Cut())
	}
	if n := len(s.Turns(100)); n != 10 {
		t.Errorf("%d turns beyond the budget", n)
	}
	if s.Bytes() > budget+64 {
		t.Errorf("%d bytes read with a budget of %d", s.Bytes(), budget)
	}
	// The end of a line is no line, were it the marker.
	plain := file(t, strings.Repeat("not yet DONE\n", 10))
	s = read(t, plain, host.SessionOptions{MaxBytes: int64(len("DONE\n"))})
	if own := s.Own(); own != nil || !s.Cut() {
		t.Errorf("%q, Cut %v of a plain text", own, s.Cut())
	}
	// To read on beyond the turn spends the budget, but cuts no turn.
	early := file(t, strings.Repeat(step, 1000), user("go"), step)
	s = read(t, early, host.SessionOptions{MaxBytes: budget})
	if n := len(s.Turns(100)); n != 10 || s.Cut() {
		t.Errorf("%d turns, Cut %v; want 10 and false", n, s.Cut())
	}
	if s := read(t, path, host.SessionOptions{}); s.Cut() || len(s.Own()) != 1001 {
		t.Errorf("%d texts, Cut %v with the usual budget", len(s.Own()), s.Cut())
	}
}

// Every way in which records can fall on the borders of blocks.
func TestReadAcrossBlocks(t *testing.T) {
	for _, pad := range []int{0, 1, 2, 63, 64, 65} {
		var lines, want []string
		lines = append(lines, agent("old"), user("go"))
		for i := range 40 {
			text := fmt.Sprint(i, strings.Repeat("x", 8<<10-100+pad+i%7))
			lines, want = append(lines, agent(text)), append(want, text)
		}
		if diff := cmp.Diff(want, read(t, file(t, lines...), host.SessionOptions{}).Own()); diff != "" {
			t.Errorf("pad %d (-want +got):\n%.500s", pad, diff)
		}
	}
}

// The host writes while the file is read; later questions are answered from the file as it was.
func TestTurnsOfAGrowingFile(t *testing.T) {
	path := file(t, user("one"), agent("1"), user("two"), strings.Repeat(agent("2"), 3), user("three"), agent("3"))
	s := read(t, path, host.SessionOptions{})
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(user("four") + agent("4")); err != nil {
		t.Fatal(err)
	}
	turns := s.Turns(100)
	if len(turns) != 8 || turns[0].Text != "one" || turns[7].Text != "3" {
		t.Errorf("%+v", turns)
	}
}

// A file that was removed or replaced does not affect what was read before.
func TestTurnsOfALostFile(t *testing.T) {
	for name, lose := range map[string]func(string) error{
		"removed":  os.Remove,
		"replaced": func(path string) error { return os.WriteFile(path, []byte(user("other")), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, strings.Repeat(agent("old"), 5000), user("go"), agent("a"))
			s := read(t, path, host.SessionOptions{})
			if err := lose(path); err != nil {
				t.Fatal(err)
			}
			want := []host.Turn{{Role: "user", Text: "go"}, {Role: "assistant", Text: "a"}}
			if diff := cmp.Diff(want, s.Turns(100)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A session answers several at once, also where it has to read on.
func TestSessionIsSafeForConcurrentUse(t *testing.T) {
	s := read(t, file(t, strings.Repeat(user("one")+agent("1"), 2000), user("go"), agent("a", tool("Bash"))), host.SessionOptions{})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			if n := len(s.Turns(100 * (i + 1))); n != 100*(i+1) {
				t.Errorf("%d turns of %d", n, 100*(i+1))
			}
			if len(s.Own()) != 1 || len(s.Tools()) != 1 || s.Last() != "a" || len(host.Words(s, "b")) != 2 || s.Cut() || s.Bytes() == 0 {
				t.Error("the current turn changed")
			}
		})
	}
	wg.Wait()
}

// opened counts how often a file is open, and read.
type opened struct {
	*os.File
	open, reads *int
}

func (o opened) Close() error { *o.open--; return o.File.Close() }

func (o opened) ReadAt(p []byte, off int64) (int, error) { *o.reads++; return o.File.ReadAt(p, off) }

// Files come from Open, and are closed.
func TestReadThroughOpen(t *testing.T) {
	path := file(t, strings.Repeat(user("one")+agent("1"), 10), user("go"), agent("a"))
	open, reads := 0, 0
	o := host.SessionOptions{Open: func(name string) (host.File, error) {
		if name != "session" {
			return nil, fs.ErrPermission
		}
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		open++
		return opened{f, &open, &reads}, nil
	}}
	s := read(t, "session", o)
	if diff := cmp.Diff([]string{"a"}, s.Own()); diff != "" {
		t.Error(diff)
	}
	if n := len(s.Turns(5)); n != 5 {
		t.Errorf("%d turns", n)
	}
	if open != 0 {
		t.Errorf("%d files left open", open)
	}
	// Blocks double, so that the largest turn takes a handful of reads: one for the head, eight for the budget. Each
	// further MiB takes one, and so does the record on the border, which is read again.
	path, reads = file(t, strings.Repeat(agent(strings.Repeat("x", 1<<20)), 10)), 0
	if read(t, "session", o); reads > 13 {
		t.Errorf("%d reads", reads)
	}
	if _, err := host.ReadSession(t.Context(), "other", o); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("error %v", err)
	}
}
