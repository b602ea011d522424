//go:build unix

package store

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A pipe instead of one of ralph's own files is an error, or counts as a missing file.
// Nothing waits for it: this test would hang.
func TestPipes(t *testing.T) {
	const key, root, policy = "k", "/project", ".ralph/policy.yaml"
	now := time.Now()
	for _, test := range []struct {
		name, path string
		do         func(*Store) error
		want       string // of the error; "" for none
	}{
		{"load a memory", "entries/" + MemoryKey{Root: key}.file(), func(s *Store) error { _, _, err := s.LoadMemory(MemoryKey{Root: key}); return err }, "not a regular file"},
		{"save a memory", "entries/" + MemoryKey{Root: key}.file(), func(s *Store) error { return s.SaveMemory(MemoryKey{Root: key}, []byte("{}"), "") }, "not a regular file"},
		{"memories", "entries", func(s *Store) error { return s.SaveMemory(MemoryKey{Root: key}, []byte("{}"), "") }, "not a directory"},
		{"lock", "locks/" + fileName(key, lockSuffix), func(s *Store) error { _, err := s.Lock(t.Context(), []string{key}); return err }, "not a regular file"},
		{"write the log", "decisions.jsonl", func(s *Store) error { return s.AppendLog([]byte("{}")) }, "not a regular file"},
		{"read the log", "decisions.jsonl", func(s *Store) error { _, err := s.ReadLog(nil, 0); return err }, "not a regular file"},
		{"read the rotated log", "decisions.jsonl.1", func(s *Store) error { _, err := s.ReadLog(nil, 0); return err }, "not a regular file"},
		{"follow the log", "decisions.jsonl", func(s *Store) error { return s.FollowLog(t.Context(), nil, 0, func([]byte) {}) }, "not a regular file"},
		{"approved", "trust/" + fileName(root+"\x00"+policy, documentSuffix), func(s *Store) error {
			if _, ok := s.Approval(root, policy); ok {
				t.Error("a pipe approves")
			}
			return nil
		}, ""},
		{"approve", "trust/" + fileName(root+"\x00"+policy, documentSuffix), func(s *Store) error { return s.Approve(Approval{Root: root, Policy: policy}) }, ""},
		{"approvals", "trust/" + fileName(root+"\x00"+policy, documentSuffix), func(s *Store) error { _, err := s.Approvals(); return err }, ""},
		{"all approvals", "trust", func(s *Store) error { _, err := s.Approvals(); return err }, "not a directory"},
		{"clean up", "cleaned", func(s *Store) error { return s.Clean(now.Add(48*time.Hour), time.Hour) }, "cannot clean"},
		{"clean up a memory", "entries/" + MemoryKey{Root: key}.file(), func(s *Store) error { return s.Clean(now.Add(48*time.Hour), time.Hour) }, ""},
		{"clean up a lock", "locks/" + fileName(key, lockSuffix), func(s *Store) error { return s.Clean(now.Add(48*time.Hour), time.Hour) }, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := Open(t.TempDir())
			path := filepath.Join(s.Dir(), filepath.FromSlash(test.path))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(path, 0o600); err != nil {
				t.Skip("no pipes here: ", err)
			}
			if err := test.do(s); (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
