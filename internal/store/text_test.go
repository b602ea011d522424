package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A text is written once, touched once a day, and read back. What is not a regular file stays.
func TestKeepText(t *testing.T) {
	s := Open(filepath.Join(t.TempDir(), "state"))
	now := time.Now().Round(time.Second)
	wrote := 0
	keep := func(at time.Time) error {
		return s.KeepText("key", at, func() ([]byte, error) { wrote++; return []byte("text"), nil })
	}
	path := s.path(textDir, fileName("key", textSuffix))
	modified := func() time.Time {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Fatal(info, err)
		}
		return info.ModTime()
	}
	if text, err := s.Text("key"); text != nil || err != nil {
		t.Errorf("at first: %q, %v", text, err)
	}
	for range 2 {
		if err := keep(now); err != nil || wrote != 1 {
			t.Fatalf("written %d times: %v", wrote, err)
		}
	}
	at := now.Add(-23 * time.Hour)
	for _, want := range []time.Time{at, now} {
		if err := errors.Join(os.Chtimes(path, at, at), keep(now)); err != nil || !modified().Equal(want) {
			t.Errorf("used at %v after %v: touched at %v, %v", now, at, modified(), err)
		}
		at = now.Add(-25 * time.Hour)
	}
	if text, err := s.Text("key"); string(text) != "text" || err != nil || wrote != 1 {
		t.Errorf("%q, %v, written %d times", text, err, wrote)
	}
	if log, texts := s.Sizes(); log != 0 || texts != 4 {
		t.Errorf("sizes %d, %d", log, texts)
	}

	other := filepath.Join(t.TempDir(), "other")
	if err := errors.Join(os.WriteFile(other, []byte("of somebody else"), 0o600), os.Chtimes(other, at, at), os.Remove(path), os.Symlink(other, path)); err != nil {
		t.Skip(err)
	}
	if err := keep(now); !errors.As(err, new(*Error)) {
		t.Errorf("through a link: %v", err)
	}
	if info, err := os.Stat(other); err != nil || !info.ModTime().Equal(at) || wrote != 1 {
		t.Errorf("the link was followed: %v, %v", info, err)
	}
	long := func() ([]byte, error) { return make([]byte, maxText+1), nil }
	if err := s.KeepText("long", now, long); !errors.As(err, new(*Error)) {
		t.Errorf("too long: %v", err)
	}
}

// Beyond the limit, the least recently used text is removed.
func TestKeepTextLimit(t *testing.T) {
	s := Open(t.TempDir())
	for i := range maxTexts + 1 {
		key := fmt.Sprint(i)
		if err := s.KeepText(key, time.Now(), func() ([]byte, error) { return []byte(key), nil }); err != nil {
			t.Fatal(err)
		}
		if i == 7 {
			at := time.Now().Add(-time.Hour)
			if err := os.Chtimes(s.path(textDir, fileName(key, textSuffix)), at, at); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range maxTexts + 1 {
		if text, err := s.Text(fmt.Sprint(i)); err != nil || (text == nil) != (i == 7) {
			t.Errorf("text %d: %q, %v", i, text, err)
		}
	}
}

// When the oldest file of the log is dropped, texts go that no decision uses that is still kept; not before.
func TestPruneTexts(t *testing.T) {
	s := Open(t.TempDir())
	if err := s.KeepLog("16MiB"); err != nil {
		t.Fatal(err)
	}
	dropped := time.Now().Add(-100 * time.Hour)
	for key, at := range map[string]time.Time{"unused": dropped.Add(-49 * time.Hour), "just used": dropped.Add(-47 * time.Hour), "used": dropped.Add(time.Hour)} {
		if err := s.KeepText(key, at, func() ([]byte, error) { return []byte(key), nil }); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(s.path(textDir, fileName(key, textSuffix)), at, at); err != nil {
			t.Fatal(err)
		}
	}
	kept := func() (keys []string) {
		for _, key := range []string{"unused", "just used", "used"} {
			if text, _ := s.Text(key); text != nil {
				keys = append(keys, key)
			}
		}
		return keys
	}
	rotate := func() {
		if err := errors.Join(os.Truncate(s.logPath(0), maxLogSize), s.AppendLog([]byte("{}"))); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AppendLog([]byte("{}")); err != nil {
		t.Fatal(err)
	}
	rotate()
	if got := strings.Join(kept(), ", "); got != "unused, just used, used" {
		t.Errorf("while nothing is dropped: %s", got)
	}
	if err := os.Chtimes(s.logPath(1), dropped, dropped); err != nil {
		t.Fatal(err)
	}
	rotate()
	if got := strings.Join(kept(), ", "); got != "just used, used" {
		t.Errorf("when the log of %v was dropped: %s", dropped, got)
	}
}
