package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/ralph-sdk/ralph/internal/store"
)

// A lease names its owner, as long as that holds it.
func TestLease(t *testing.T) {
	dir := t.TempDir()
	a, b := store.Open(dir), store.Open(dir)
	live := func(root, policy, want string) {
		t.Helper()
		if got, err := b.Holder(b.RunLease(root, policy)); got != want || err != nil {
			t.Errorf("under way in %s with %s is %q (%v), want %q", root, policy, got, err, want)
		}
	}
	live("/p", "x", "")
	if entries, _ := os.ReadDir(dir); len(entries) > 0 {
		t.Errorf("looking makes %v", entries)
	}
	release, other, err := a.Hold(t.Context(), a.RunLease("/p", "x"), "run-1")
	if release == nil || other != "" || err != nil {
		t.Fatalf("the first run gets %q, %v", other, err)
	}
	live("/p", "x", "run-1")
	live("/p", "y", "")
	live("/q", "x", "")
	if again, other, err := b.Hold(t.Context(), b.RunLease("/p", "x"), "run-2"); again != nil || other != "run-1" || err != nil {
		t.Errorf("a second run gets %q, %v", other, err)
	}
	elsewhere, _, err := b.Hold(t.Context(), b.RunLease("/q", "x"), "run-3")
	if err != nil {
		t.Fatal(err)
	}
	live("/q", "x", "run-3")
	elsewhere()
	release()
	live("/p", "x", "")
	live("/q", "x", "")
	if left, _ := filepath.Glob(filepath.Join(dir, "runs", "*")); len(left) > 0 {
		t.Errorf("left are %v", left)
	}
}

// What a killed run left does not count, even where several look at once, and is removed.
func TestKilledRunIsNotLive(t *testing.T) {
	dir := t.TempDir()
	s := store.Open(dir)
	release, _, err := s.Hold(t.Context(), s.RunLease("/p", "x"), "run-1")
	if err != nil {
		t.Fatal(err)
	}
	files, _ := filepath.Glob(filepath.Join(dir, "runs", "*.live"))
	if len(files) != 1 {
		t.Fatalf("a run keeps %v", files)
	}
	release()
	for range 20 {
		if err := os.WriteFile(files[0], []byte("run-1"), 0o600); err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if live, err := s.Holder(s.RunLease("/p", "x")); live != "" || err != nil {
					t.Errorf("under way is %q (%v)", live, err)
				}
			})
		}
		all.Wait()
		if _, err := os.Lstat(files[0]); err == nil {
			t.Error("what it left is still there")
		}
	}
}

// It is an error if the run that holds the lock cannot be identified.
func TestLiveRunUnknown(t *testing.T) {
	dir := t.TempDir()
	s := store.Open(dir)
	release, _, err := s.Hold(t.Context(), s.RunLease("/p", "x"), "run-1")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	files, _ := filepath.Glob(filepath.Join(dir, "runs", "*.live"))
	for _, content := range []string{"", `""`, "run", strings.Repeat("a", 10_000)} {
		if err := os.WriteFile(files[0], []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if live, err := s.Holder(s.RunLease("/p", "x")); live != "" || err == nil {
			t.Errorf("with %q under way is %q (%v)", content, live, err)
		}
	}
}
