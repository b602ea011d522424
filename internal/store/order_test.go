package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/store"
)

// What a pause covers: an empty field is every policy, or every session.
func TestPauseCovers(t *testing.T) {
	for _, c := range []struct {
		pause           store.Pause
		policy, session string
		want            bool
	}{
		{store.Pause{Policy: "a"}, "a", "s", true},
		{store.Pause{Policy: "a"}, "b", "s", false},
		{store.Pause{Session: "s"}, "b", "s", true},
		{store.Pause{Session: "s"}, "b", "t", false},
		{store.Pause{Session: "s"}, "b", "", false},
		{store.Pause{Policy: "a", Session: "s"}, "a", "s", true},
		{store.Pause{Policy: "a", Session: "s"}, "a", "t", false},
		{store.Pause{Policy: "a", Session: "s"}, "b", "s", false},
	} {
		if got := c.pause.Covers(c.policy, c.session); got != c.want {
			t.Errorf("%+v covers %s in %s: %v", c.pause, c.policy, c.session, got)
		}
	}
}

// What a person stopped and paused is that of one project, and each order is withdrawn by itself.
func TestOrders(t *testing.T) {
	s := store.Open(filepath.Join(t.TempDir(), "store"))
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	ordered := func(want string) {
		t.Helper()
		got := ""
		for _, root := range []string{"/p", "/q"} {
			for _, c := range []store.Pause{{Policy: "a", Session: "1"}, {Policy: "a", Session: "2"}, {Policy: "b", Session: "1"}, {Policy: "b"}} {
				stopped, paused, err := s.Ordered(root, c.Policy, c.Session)
				if err != nil {
					t.Fatal(err)
				}
				got += map[bool]string{true: "s", false: "-"}[stopped] + map[bool]string{true: "p ", false: "- "}[paused]
			}
		}
		if got = strings.TrimSpace(got); got != want {
			t.Errorf("ordered is\n%s, want\n%s", got, want)
		}
	}
	change := func(what func(string, store.Pause) (bool, error), p store.Pause, want bool) {
		t.Helper()
		if changed, err := what("/p", p); changed != want || err != nil {
			t.Errorf("%+v: %v, %v", p, changed, err)
		}
	}
	ordered("-- -- -- -- -- -- -- --")
	change(s.Resume, store.Pause{Policy: "a"}, false)
	change(s.Pause, store.Pause{Session: "1", At: at}, true)
	change(s.Pause, store.Pause{Policy: "a", Session: "2", At: at.Add(-time.Hour)}, true)
	ordered("-p -p -p -- -- -- -- --")
	change(s.Pause, store.Pause{Policy: "b", At: at.Add(time.Hour)}, true)
	change(s.Pause, store.Pause{Policy: "b", At: at}, false)
	if err := s.StopLoop("/p", "a", at); err != nil {
		t.Fatal(err)
	}
	ordered("sp sp -p -p -- -- -- --")
	all, err := s.Pauses("/p")
	want := []store.Pause{{Policy: "a", Session: "2", At: at.Add(-time.Hour)}, {Session: "1", At: at}, {Policy: "b", At: at.Add(time.Hour)}}
	if diff := cmp.Diff(want, all); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	change(s.Resume, store.Pause{Session: "1"}, true)
	change(s.Resume, store.Pause{Policy: "b"}, true)
	if err := errors.Join(s.StartLoop("/p", "a"), s.StartLoop("/p", "b")); err != nil {
		t.Fatal(err)
	}
	ordered("-- -p -- -- -- -- -- --")
}

// What a person ordered counts while there is anything at its path. It is withdrawn by its name, or with all that cannot be
// read.
func TestOrdersDamaged(t *testing.T) {
	for _, damage := range []func(path string) error{
		func(path string) error { return os.WriteFile(path, nil, 0o600) },
		func(path string) error { return os.WriteFile(path, []byte(`{"policy":"b"}`), 0o600) },
		func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("x", 2<<20)), 0o600) },
		func(path string) error { return os.Symlink("nowhere", path) },
		func(path string) error { return os.MkdirAll(filepath.Join(path, "x"), 0o700) },
	} {
		for _, resume := range []func(s *store.Store) error{
			func(s *store.Store) error { _, err := s.Resume("/p", store.Pause{Policy: "a"}); return err },
			func(s *store.Store) error { return s.ResumeUnreadable("/p") },
		} {
			dir := t.TempDir()
			s := store.Open(dir)
			if _, err := s.Pause("/p", store.Pause{Policy: "a"}); err != nil {
				t.Fatal(err)
			}
			if err := s.StopLoop("/p", "a", time.Time{}); err != nil {
				t.Fatal(err)
			}
			files, err := filepath.Glob(filepath.Join(dir, "orders", "*", "*"))
			if err != nil || len(files) != 2 {
				t.Fatal(files, err)
			}
			for _, path := range files {
				if err := errors.Join(os.Remove(path), damage(path)); err != nil {
					t.Fatal(err)
				}
			}
			if stopped, paused, err := s.Ordered("/p", "a", "s"); !stopped || !paused || err != nil {
				t.Errorf("damaged: %v, %v, %v", stopped, paused, err)
			}
			if all, err := s.Pauses("/p"); err == nil || len(all) > 0 {
				t.Errorf("damaged, the pauses are %v", all)
			}
			if err := errors.Join(resume(s), s.StartLoop("/p", "a")); err != nil {
				t.Error(err)
			}
			if stopped, paused, err := s.Ordered("/p", "a", "s"); stopped || paused || err != nil {
				t.Errorf("withdrawn: %v, %v, %v", stopped, paused, err)
			}
		}
	}
}
