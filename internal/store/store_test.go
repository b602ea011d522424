package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gofrs/flock"
	"github.com/google/go-cmp/cmp"
)

func TestDefaultDir(t *testing.T) {
	abs := func(path string) string { // an absolute path on this system
		full, err := filepath.Abs(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		return full
	}
	home := abs("/home/ann")
	tests := []struct {
		name, goos string
		env        map[string]string
		want       string // "" for an error
	}{
		{"named", "linux", map[string]string{"RALPH_STATE_DIR": abs("/x"), "XDG_STATE_HOME": abs("/y"), "HOME": home}, abs("/x")},
		{"named by a relative path", "linux", map[string]string{"RALPH_STATE_DIR": "x", "HOME": home}, filepath.Join(home, ".local", "state", "ralph")},
		{"named by a relative path, no home", "linux", map[string]string{"RALPH_STATE_DIR": "x"}, ""},
		{"linux", "linux", map[string]string{"HOME": home}, filepath.Join(home, ".local", "state", "ralph")},
		{"linux, XDG", "linux", map[string]string{"HOME": home, "XDG_STATE_HOME": abs("/y")}, filepath.Join(abs("/y"), "ralph")},
		{"linux, relative XDG", "linux", map[string]string{"HOME": home, "XDG_STATE_HOME": "y"}, filepath.Join(home, ".local", "state", "ralph")},
		{"linux, no home", "linux", nil, ""},
		{"macOS", "darwin", map[string]string{"HOME": home, "XDG_STATE_HOME": abs("/y")}, filepath.Join(home, "Library", "Application Support", "ralph")},
		{"macOS, no home", "darwin", nil, ""},
		{"Windows", "windows", map[string]string{"LocalAppData": home}, filepath.Join(home, "ralph")},
		{"Windows, nothing", "windows", map[string]string{"HOME": home}, ""},
	}
	for _, test := range tests {
		got, err := defaultDir(test.goos, func(name string) string { return test.env[name] })
		if got != test.want || (err == nil) != (test.want != "") {
			t.Errorf("%s: %q, %v; want %q", test.name, got, err, test.want)
		}
	}
}

// Without a directory, or in one that cannot be made, nothing is remembered, and saving reports that.
func TestStoreWithoutDirectory(t *testing.T) {
	s := Open("")
	if line, version, err := s.LoadMemory(MemoryKey{Root: "k"}); version != "" || err != nil || len(line) != 0 {
		t.Errorf("LoadMemory = %q, %q, %v", line, version, err)
	}
	if lines, err := s.ReadLog(nil, 0); lines != nil || err != nil {
		t.Errorf("ReadLog = %v, %v", lines, err)
	}
	if err := s.Clean(time.Now(), 0); err != nil {
		t.Errorf("Clean = %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{"": "set RALPH_STATE_DIR", filepath.Join(file, "ralph"): ""} {
		s := Open(dir)
		_, lockErr := s.Lock(t.Context(), []string{"x"})
		for name, err := range map[string]error{"Lock": lockErr, "SaveMemory": s.SaveMemory(MemoryKey{Root: "k"}, []byte("{}"), ""), "AppendLog": s.AppendLog([]byte("{}"))} {
			if !errors.As(err, new(*Error)) || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %s = %v; want an *Error", dir, name, err)
			}
		}
	}
}

// Reading makes nothing; what is written only its user can read.
func TestStoreIsPrivate(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "a", "ralph"))
	s.LoadMemory(MemoryKey{Root: "k"})
	s.ReadLog(nil, 0)
	s.Clean(time.Now(), 0)
	if _, err := os.Stat(s.Dir()); !os.IsNotExist(err) {
		t.Errorf("the directory was made for nothing: %v", err)
	}
	if err := s.SaveMemory(MemoryKey{Root: "k"}, []byte("{}"), ""); err != nil {
		t.Fatal(err)
	}
	if err := s.AppendLog([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	filepath.WalkDir(s.Dir(), func(path string, d os.DirEntry, _ error) error {
		info, err := d.Info()
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
		return nil
	})
}

// A directory that others can write to, or that is inside the project, approves nothing and keeps nothing.
func TestRefused(t *testing.T) {
	base := t.TempDir()
	at := func(name string) string { return filepath.Join(base, filepath.FromSlash(name)) }
	for _, dir := range []string{"p/own/deep", "out/own", "shared"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"in": at("p/own"), "p/out": at("out"), "project": at("p")} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Skip("no links here:", err)
		}
	}
	if err := os.Chmod(at("shared"), 0o703); err != nil {
		t.Fatal(err)
	}
	unix := runtime.GOOS != "windows"
	for _, c := range []struct {
		dir, root string
		refused   bool
	}{
		{"out/own", "p", false}, {"out/none/yet", "p", false}, {"out/own", "", false}, {"p2/own", "p", false},
		{"p/own", "p", true}, {"p/own/deep", "p", true}, {"p/none/yet", "p", true}, {"p", "p", true}, {"p/own", "project", true},
		{"in", "p", true}, {"in/none/yet", "p", true}, {"project/own", "p", true}, {"p/out/own", "p", true}, {"p", "p/own", false},
		{"shared", "p", unix}, {"shared", "", unix},
	} {
		s := Open(at(c.dir))
		root := c.root
		if root != "" {
			root = at(root)
		}
		if err := s.Refused(root); (err != nil) != c.refused {
			t.Errorf("%s for the project %s: %v", c.dir, c.root, err)
		}
		if c.refused && (s.Approve(Approval{Root: root, Policy: "p"}) == nil || s.Trusts(root)) {
			t.Errorf("%s approves for the project %s", c.dir, c.root)
		}
	}
	if s := Open(at("shared")); unix && s.SaveMemory(MemoryKey{Root: "k"}, []byte("{}"), "") == nil {
		t.Error("a directory of others keeps a memory")
	}
	if files, err := os.ReadDir(at("shared")); err != nil || len(files) > 0 {
		t.Errorf("it was written to: %v, %v", files, err)
	}
}

func TestMemory(t *testing.T) {
	s := Open(t.TempDir())
	if line, version, err := s.LoadMemory(MemoryKey{Root: "k"}); err != nil || version != "" || len(line) > 0 {
		t.Fatalf("absent: %q, %q, %v", line, version, err)
	}
	if err := s.SaveMemory(MemoryKey{Root: "k"}, []byte("first"), ""); err != nil {
		t.Fatal(err)
	}
	line, version, err := s.LoadMemory(MemoryKey{Root: "k"})
	if err != nil || string(line) != "first" {
		t.Errorf("%q, %v", line, err)
	}
	if line, _, _ := s.LoadMemory(MemoryKey{Root: "another/key\x00" + strings.Repeat("x", 1000)}); len(line) > 0 {
		t.Error("two keys share a memory")
	}

	for _, stale := range []string{"", "x"} {
		err := s.SaveMemory(MemoryKey{Root: "k"}, []byte("stale"), stale)
		if !errors.Is(err, ErrChanged) {
			t.Errorf("SaveMemory with version %q = %v; want ErrChanged", stale, err)
		}
	}
	if err := s.SaveMemory(MemoryKey{Root: "k"}, []byte("second"), version); err != nil {
		t.Fatal(err)
	}
	if line, _, _ := s.LoadMemory(MemoryKey{Root: "k"}); string(line) != "second" {
		t.Errorf("got %q", line)
	}
	if entries, _ := os.ReadDir(s.path(memoryDir)); len(entries) != 1 {
		t.Errorf("left behind: %v", entries)
	}
}

// Whatever is at the path of a memory and has no whole line is an error, for Load as for Save, and stays until it is
// reset. Then there is none.
func TestMemoryDamaged(t *testing.T) {
	key := MemoryKey{Root: "/p", Policy: "policy", Session: "s", Rest: "host"}
	for content, want := range map[string]string{
		"": "it is empty", "{": "damaged", "\x00": "damaged", "{}\n\x00\x00": "damaged", "{}\nnot a line": "damaged",
		strings.Repeat(" ", maxMemorySize+1): "it is larger than 4194304 bytes",
	} {
		s := Open(t.TempDir())
		if err := s.SaveMemory(key, []byte("before"), ""); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.memoryPath(key), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		_, version, err := s.LoadMemory(key)
		if saved := s.SaveMemory(key, []byte("after"), version); err == nil || saved == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, %v; want %q", content, err, saved, want)
		}
		moved, err := s.ResetMemories(t.Context(), time.Now(), "/p", "policy", "", nil)
		if err != nil || len(moved) != 1 {
			t.Fatalf("%.20q is reset to %q, %v", content, moved, err)
		}
		if kept, err := os.ReadFile(moved[0]); err != nil || string(kept) != content {
			t.Errorf("%.20q is kept as %.20q, %v", content, kept, err)
		}
		if _, version, err := s.LoadMemory(key); err != nil || version != "" {
			t.Errorf("after %.20q: version %q, %v", content, version, err)
		}
	}
}

// A reset moves the memories that it names, and what their sessions count for all policies.
func TestResetMemories(t *testing.T) {
	keys := map[string]MemoryKey{
		"a1": {Root: "/p", Policy: "a", Session: "1", Rest: "h"}, "a2": {Root: "/p", Policy: "a", Session: "2", Rest: "h"},
		"b1": {Root: "/p", Policy: "b", Session: "1", Rest: "h"}, "a": {Root: "/p", Policy: "a", Rest: "project"},
		"other": {Root: "/q", Policy: "a", Session: "1", Rest: "h"}, "all1": {Session: "1", Rest: "h"}, "all2": {Session: "2", Rest: "h"}, "all3": {Session: "3", Rest: "h"},
		"all-": {Root: "/p", Session: "-", Rest: "h"}, "a-": {Root: "/p", Policy: "a", Session: "-", Rest: "h"}, "q-": {Root: "/q", Session: "-", Rest: "h"},
	}
	for _, c := range []struct {
		policy, session string
		sessions        []string
		want            string
	}{
		{"", "", nil, "a a- a1 a2 all- all1 all2 b1"}, {"b", "", nil, "all1 b1"}, {"b", "", []string{"3"}, "all1 all3 b1"},
		{"", "1", nil, "a1 all1 b1"}, {"a", "2", nil, "a2 all2"}, {"", "3", []string{"3"}, "all3"}, {"a", "-", nil, "a- all-"}, {"c", "9", nil, ""},
	} {
		s := Open(t.TempDir())
		for _, key := range keys {
			if err := s.SaveMemory(key, []byte("{}"), ""); err != nil {
				t.Fatal(err)
			}
		}
		moved, err := s.ResetMemories(t.Context(), time.Now(), "/p", c.policy, c.session, c.sessions)
		var gone []string
		for name, key := range keys {
			if _, version, _ := s.LoadMemory(key); version == "" {
				gone = append(gone, name)
			}
		}
		slices.Sort(gone)
		if got := strings.Join(gone, " "); err != nil || got != c.want || len(moved) != len(gone) {
			t.Errorf("policy %q, session %q: %s, %d moved, %v; want %s", c.policy, c.session, got, len(moved), err, c.want)
		}
		if err := s.Clean(time.Now().Add(1000*time.Hour), 720*time.Hour); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(s.path(resetDir)); len(left) > 0 {
			t.Errorf("%d files are kept longer than memories", len(left))
		}
	}
}

// Load returns what was saved last, whatever its length, and whatever precedes or, torn by a full disk, follows it.
func TestMemoryLatest(t *testing.T) {
	s := Open(t.TempDir())
	path := s.memoryPath(MemoryKey{Root: "k"})
	version := ""
	for i, length := range []int{0, 100, usualMemory - 1, usualMemory, usualMemory + 1, 3, 2 * usualMemory, maxMemoryHistory, 1, 1, 2 * usualMemory, 7} {
		want := fmt.Sprintf("%d:%s", i, strings.Repeat("x", length))
		if err := s.SaveMemory(MemoryKey{Root: "k"}, []byte(want), version); err != nil {
			t.Fatal(err)
		}
		var got []byte
		for _, torn := range []string{"", `{"total": 9`, `{"progress":"` + strings.Repeat(" ", usualMemory)} {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			f.WriteString(torn)
			f.Close()
			if got, version, err = s.LoadMemory(MemoryKey{Root: "k"}); err != nil || string(got) != want {
				t.Errorf("%d bytes with %.20q behind them: %.20q, %d bytes, %v", length, torn, got, len(got), err)
			}
		}
	}
}

// Goroutines of one process exclude each other too, whatever the order of the names, and with duplicate names.
func TestLock(t *testing.T) {
	s := Open(t.TempDir())
	var wg sync.WaitGroup
	count := 0
	for i := range 20 {
		names := []string{"a", "b", "a"}
		if i%2 == 0 {
			names = []string{"b", "a"}
		}
		wg.Go(func() {
			unlock, err := s.Lock(t.Context(), names)
			if err != nil {
				t.Error(err)
				return
			}
			count++ // the race detector watches
			unlock()
			unlock()
		})
	}
	wg.Wait()
	if count != 20 {
		t.Errorf("counted %d", count)
	}
}

func TestLockGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // its clock stands still but for those who wait
		s := Open(t.TempDir())
		unlock, err := s.Lock(t.Context(), []string{"b"})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Lock(ctx, []string{"a", "b"}); !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, new(*Error)) {
			t.Errorf("error %v", err)
		}
		// The one that was to be had is free again.
		for _, name := range []string{"a", "b"} {
			if name == "b" {
				unlock()
			}
			again, err := s.Lock(t.Context(), []string{name})
			if err != nil {
				t.Fatal(err)
			}
			again()
		}
	})
}

// A lock is waited for while others take it in turn. It is an error once one of them has held it for 4 seconds.
func TestLockHeldElsewhere(t *testing.T) {
	for _, test := range []struct {
		name   string
		others int // that take the lock one after another
		want   time.Duration
	}{
		{"one that is held", 0, 4 * time.Second},
		{"one that is held after others were", 10, 19 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := Open(t.TempDir())
				unlock, err := s.Lock(t.Context(), []string{"b"})
				if err != nil {
					t.Fatal(err)
				}
				defer unlock()
				go func() {
					for range test.others {
						time.Sleep(1500 * time.Millisecond)
						now := time.Now() // what taking it leaves behind
						if err := os.Chtimes(s.path(lockDir, fileName("b", lockSuffix)), now, now); err != nil {
							t.Error(err)
						}
					}
				}()
				ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
				defer cancel()
				began := time.Now() // of the clock of the bubble, which is exact
				_, err = s.Lock(ctx, []string{"a", "b"})
				if !errors.As(err, new(*Error)) || !strings.Contains(err.Error(), "another process has held it for 4s") {
					t.Errorf("error %v", err)
				}
				if waited := time.Since(began); waited < test.want || waited > test.want+time.Second {
					t.Errorf("it waited %s, want %s", waited, test.want)
				}
			})
		})
	}
}

// Another that takes the lock leaves its time in the file.
func TestLockShowsItsHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	var times []time.Time
	for range 2 {
		l, err := tryLockFile(path)
		if err != nil || l == nil {
			t.Fatal(l, err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		times = append(times, info.ModTime())
		l.Unlock()
	}
	if times[0].Equal(times[1]) {
		t.Errorf("both took it at %s", times[0])
	}
}

// A lock on a file that was removed or replaced excludes no other process.
func TestLockOnRemovedFile(t *testing.T) {
	if !openFilesGo {
		t.Skip("open files cannot be removed here")
	}
	path := filepath.Join(t.TempDir(), "x.lock")
	l := flock.New(path)
	defer l.Unlock()
	if ok, err := l.TryLock(); !ok || err != nil {
		t.Fatal(ok, err)
	}
	check := func(want bool) {
		t.Helper()
		if got, err := guards(l, path); got != want || err != nil {
			t.Errorf("guards = %v, %v; want %v", got, err, want)
		}
	}
	check(true)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	check(false)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check(false)
}

// While locks are taken and cleaned away at once, they still exclude.
func TestLockDuringClean(t *testing.T) {
	s := Open(t.TempDir())
	if err := s.ensure("lock", lockDir); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var cleaner, workers sync.WaitGroup
	for range 2 {
		cleaner.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					removeLock(s.path(lockDir, fileName("x", lockSuffix)), time.Time{})
				}
			}
		})
	}
	var inside, count atomic.Int32
	for range 4 {
		workers.Go(func() {
			for range 100 {
				unlock, err := s.Lock(t.Context(), []string{"x"})
				if err != nil {
					t.Error(err)
					return
				}
				if inside.Add(1) != 1 {
					t.Error("two hold one lock")
				}
				runtime.Gosched()
				count.Add(1)
				inside.Add(-1)
				unlock()
			}
		})
	}
	workers.Wait()
	close(done)
	cleaner.Wait()
	if count.Load() != 400 {
		t.Errorf("counted %d", count.Load())
	}
}

func TestClean(t *testing.T) {
	const older = 30 * 24 * time.Hour
	s := Open(t.TempDir())
	now := time.Now()
	put := func(age time.Duration, names ...string) {
		t.Helper()
		path := s.path(names...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, now.Add(-age), now.Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	put(older+time.Hour, memoryDir, "old.json")
	put(older+time.Hour, memoryDir, "busy.json")
	put(older-time.Hour, memoryDir, "new.json")
	put(2*time.Hour, memoryDir, "new-1.tmp")
	put(time.Second, memoryDir, "new-2.tmp")
	put(older+time.Hour, lockDir, "old.lock")
	put(older-time.Hour, lockDir, "new.lock")
	put(older+time.Hour, memoryDir, "note.txt")
	put(older+time.Hour, logName)

	unlock, err := s.Lock(t.Context(), []string{lockOf(memoryDir, "busy.json"), "held"})
	if err != nil {
		t.Fatal(err)
	}
	put(older+time.Hour, lockDir, fileName("held", lockSuffix)) // held, however old it looks
	if err := s.Clean(now, older); err != nil {
		t.Fatal(err)
	}
	has := func(names ...string) bool {
		_, err := os.Stat(s.path(names...))
		return err == nil
	}
	for _, gone := range [][]string{{memoryDir, "old.json"}, {memoryDir, "new-1.tmp"}, {lockDir, "old.lock"}} {
		if has(gone...) {
			t.Errorf("%v is still there", gone)
		}
	}
	for _, kept := range [][]string{{memoryDir, "busy.json"}, {memoryDir, "new.json"}, {memoryDir, "new-2.tmp"}, {lockDir, "new.lock"}, {lockDir, fileName("held", lockSuffix)}, {memoryDir, "note.txt"}, {logName}} {
		if !has(kept...) {
			t.Errorf("%v is gone", kept)
		}
	}
	unlock()

	// Once a day is enough.
	put(older+time.Hour, memoryDir, "old.json")
	for after, left := range map[time.Duration]bool{time.Hour: true, 23 * time.Hour: true} {
		if err := s.Clean(now.Add(after), older); err != nil || has(memoryDir, "old.json") != left {
			t.Errorf("after %v: error %v", after, err)
		}
	}
	if err := s.Clean(now.Add(25*time.Hour), older); err != nil || has(memoryDir, "old.json") || has(memoryDir, "busy.json") {
		t.Errorf("the next day: error %v", err)
	}
}

func TestLog(t *testing.T) {
	s := Open(t.TempDir())
	if lines, err := s.ReadLog(nil, 5); lines != nil || err != nil {
		t.Errorf("absent: %q, %v", lines, err)
	}
	for i := range 5 {
		if err := s.AppendLog(fmt.Appendf(nil, "{\"i\":\n%d}", i)); err != nil {
			t.Fatal(err)
		}
	}
	// A line that was torn by a full disk, and one that a person put there.
	f, err := os.OpenFile(s.path(logName), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("\nnote\n{\"i\": \"to")
	f.Close()
	if err := s.AppendLog([]byte(`{"i": 5}`)); err != nil {
		t.Fatal(err)
	}

	even := func(line []byte) bool { return bytes.ContainsAny(line, "024") }
	tests := []struct {
		name  string
		match func([]byte) bool
		n     int
		want  []string
	}{
		{"the latest", nil, 1, []string{`{"i": 5}`}},
		{"some", nil, 2, []string{`{"i": 4}`, `{"i": 5}`}},
		{"that match", even, 2, []string{`{"i": 2}`, `{"i": 4}`}},
		{"all that match", even, 0, []string{`{"i": 0}`, `{"i": 2}`, `{"i": 4}`}},
		{"more than there are", nil, 9, []string{`{"i": 0}`, `{"i": 1}`, `{"i": 2}`, `{"i": 3}`, `{"i": 4}`, `{"i": 5}`}},
		{"none", func([]byte) bool { return false }, 3, nil},
	}
	for _, test := range tests {
		lines, err := s.ReadLog(test.match, test.n)
		var got []string
		for _, line := range lines {
			got = append(got, string(line))
		}
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("%s: error %v (-want +got):\n%s", test.name, err, diff)
		}
	}

	if err := s.AppendLog(make([]byte, MaxLogLine+1)); !errors.As(err, new(*Error)) {
		t.Errorf("a line that is too long: %v", err)
	}
}

// The log is read through all of its files, over lines longer than what is read at once, and no line is given twice. It has as
// many files as are kept: fewer remove the others, and a rotation that was killed is finished.
func TestLogRotation(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, and no goroutine meets another")
	}
	const size = 900 << 10
	each := maxLogSize/size + 1 // lines of a file
	for _, tt := range []struct {
		keep  string
		files []string
		first int // of the lines that are read
	}{
		{keep: "16MiB", files: []string{"", ".1"}, first: 8*each + 1},
		{keep: "", files: []string{"", ".1", ".2", ".3", ".4", ".5", ".6", ".7"}, first: 2*each + 1},
		{keep: "1GiB", files: []string{"", ".1", ".2", ".3", ".4", ".5", ".6", ".7", ".8", ".9"}, first: 1},
	} {
		t.Run(tt.keep, func(t *testing.T) {
			s := Open(t.TempDir())
			_ = s.KeepLog(tt.keep)
			total := 9*each + 1
			for i := range total {
				if err := s.AppendLog(fmt.Appendf(nil, `{"i":%d,"pad":%q}`, i+1, padding[:size])); err != nil {
					t.Fatal(err)
				}
			}
			checkLog(t, s, tt.files, tt.first, total)
		})
	}

	s := Open(t.TempDir())
	n := 0
	log := func(lines int) {
		t.Helper()
		for range lines {
			n++
			if err := s.AppendLog(fmt.Appendf(nil, `{"i":%d,"pad":%q}`, n, padding[:size])); err != nil {
				t.Fatal(err)
			}
		}
	}
	log(4*each + 1)
	checkLog(t, s, []string{"", ".1", ".2", ".3", ".4"}, 1, n)
	// Killed when .4 and .3 had moved.
	for _, i := range []int{4, 3} {
		if err := os.Rename(s.logPath(i), s.logPath(i+1)); err != nil {
			t.Fatal(err)
		}
	}
	checkLog(t, s, []string{"", ".1", ".2", ".4", ".5"}, 1, n)
	log(each)
	checkLog(t, s, []string{"", ".1", ".2", ".3", ".4", ".5"}, 1, n)
	if err := s.KeepLog("16MiB"); err != nil {
		t.Fatal(err)
	}
	log(each)
	checkLog(t, s, []string{"", ".1"}, 5*each+1, n)
}

// checkLog compares the files of the log, and the lines that it returns.
func checkLog(t *testing.T, s *Store, files []string, first, last int) {
	t.Helper()
	found, err := filepath.Glob(s.path(logName + "*"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, path := range found {
		got = append(got, strings.TrimPrefix(filepath.Base(path), logName))
	}
	if diff := cmp.Diff(files, got); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
	lines, err := s.ReadLog(nil, 0)
	if err != nil || len(lines) != last-first+1 {
		t.Fatalf("%d lines, want %d to %d; %v", len(lines), first, last, err)
	}
	for i, line := range lines {
		if want := fmt.Sprintf(`{"i":%d,`, first+i); !bytes.HasPrefix(line, []byte(want)) {
			t.Fatalf("line %d is %.20s, want %s", i, line, want)
		}
	}
}

func TestKeepLog(t *testing.T) {
	for size, want := range map[string]int{
		"": 0, "16MiB": 16 << 20, "1GiB": 1 << 30, "256MiB": 256 << 20,
		"0": -1, "15MiB": -1, "2GiB": -1, "65535GiB": -1, "64": -1, "64M": -1, "64mib": -1, "-64MiB": -1, "+64MiB": -1, "64 MiB": -1, "1.5GiB": -1, "MiB": -1, "all": -1,
	} {
		s := Open(t.TempDir())
		if err := s.KeepLog(size); (err != nil) != (want < 0) || s.logTotal != max(want, 0) {
			t.Errorf("%q: %d, %v", size, s.logTotal, err)
		}
	}
}

// A memory file gets a line for each save, and a long file starts over.
func TestMemoryHistory(t *testing.T) {
	s := Open(t.TempDir())
	version := ""
	for i := range 2 * maxMemoryHistory / len("line 1000") {
		want := fmt.Sprint("line ", 1000+i)
		err := s.SaveMemory(MemoryKey{Root: "k"}, []byte(want), version)
		var line []byte
		if err == nil {
			line, version, err = s.LoadMemory(MemoryKey{Root: "k"})
		}
		if err != nil || string(line) != want {
			t.Fatalf("saved %q: %q, %v", want, line, err)
		}
	}
	if info, err := os.Stat(s.memoryPath(MemoryKey{Root: "k"})); err != nil || info.Size() > maxMemoryHistory || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("the file: %v, %v", info, err)
	}
}
