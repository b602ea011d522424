package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/store"
)

func approvals(t *testing.T, s *store.Store) []store.Approval {
	t.Helper()
	all, err := s.Approvals()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A policy of a project has one approval, the latest. The same policy in another project
// has its own.
func TestApprovals(t *testing.T) {
	s := store.Open(filepath.Join(t.TempDir(), "store"))
	if _, ok := s.Approval("/p", "policy.yaml"); ok {
		t.Error("an empty store approves")
	}
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	first := store.Approval{Root: "/p", Policy: "policy.yaml", Files: []store.Covered{{Name: "policy.yaml", Digest: "1"}}, At: at}
	again := store.Approval{
		Root: "/p", Policy: "policy.yaml", Files: []store.Covered{{Name: "policy.yaml", Digest: "2"}},
		Params: map[string]string{"cmd": "make"}, Programs: []store.Covered{{Name: "./check.sh", Digest: "3"}}, At: at.Add(time.Hour),
	}
	clone := first
	clone.Root, clone.At = "/q", at.Add(2*time.Hour)
	for _, a := range []store.Approval{first, clone, again} {
		if err := s.Approve(a); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]store.Approval{clone, again}, approvals(t, s)); diff != "" {
		t.Errorf("the list (-want +got)\n%s", diff)
	}
	if a, ok := s.Approval("/p", "policy.yaml"); !ok || !cmp.Equal(a, again) {
		t.Errorf("the approval is %v, %v", a, ok)
	}
	for _, c := range [][2]string{{"/p", "other.yaml"}, {"/p/policy.yaml", ""}, {"/r", "policy.yaml"}} {
		if _, ok := s.Approval(c[0], c[1]); ok {
			t.Errorf("%q is approved", c)
		}
	}
	if gone, err := s.Revoke("/p", "policy.yaml"); !gone || err != nil {
		t.Errorf("revoking returns %v, %v", gone, err)
	}
	if gone, err := s.Revoke("/p", "policy.yaml"); gone || err != nil {
		t.Errorf("revoking again returns %v, %v", gone, err)
	}
	if diff := cmp.Diff([]store.Approval{clone}, approvals(t, s)); diff != "" {
		t.Errorf("the list afterwards (-want +got)\n%s", diff)
	}
}

// Only a file under the name of its own project and policy approves it. What an older
// ralph wrote, and whatever else is in the directory, is ignored.
func TestApprovalsAreNotGuessed(t *testing.T) {
	dir := t.TempDir()
	s := store.Open(dir)
	mine, other := store.Approval{Root: "/p", Policy: "policy.yaml"}, store.Approval{Root: "/q", Policy: "policy.yaml"}
	for _, a := range []store.Approval{mine, other} {
		if err := s.Approve(a); err != nil {
			t.Fatal(err)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "trust", "*.json"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, err)
	}
	contents := map[string]string{}
	for i, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		contents[files[1-i]] = string(data) // each under the name of the other
	}
	key := strings.Repeat("a", 64)
	contents[filepath.Join(dir, "trust", key+".json")] = `{"key": "` + key + `", "names": ["/p/policy.yaml"], "at": "2026-11-20T12:00:00Z"}`
	contents[filepath.Join(dir, "trust", "junk.json")] = "{"
	contents[filepath.Join(dir, "trust", "README")] = "hello"
	for file, data := range contents {
		if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if all := approvals(t, s); len(all) != 0 {
		t.Errorf("the list is %v", all)
	}
	for _, a := range []store.Approval{mine, other} {
		if _, ok := s.Approval(a.Root, a.Policy); ok {
			t.Errorf("%s is approved by another's file", a.Root)
		}
	}
}

// What could not be read back is refused.
func TestApprovalTooLarge(t *testing.T) {
	s := store.Open(t.TempDir())
	err := s.Approve(store.Approval{Root: "/p", Policy: "p", Params: map[string]string{"cmd": strings.Repeat("x", 1<<20)}})
	if err == nil || !strings.Contains(err.Error(), "too large") || len(approvals(t, s)) > 0 {
		t.Errorf("it returns %v", err)
	}
}

func TestApprovalsWithoutAStore(t *testing.T) {
	s := store.Open("")
	if _, ok := s.Approval("/p", "p"); ok || s.Approve(store.Approval{Root: "/p", Policy: "p"}) == nil {
		t.Error("there is no store, and still it approves")
	}
	if gone, err := s.Revoke("/p", "p"); gone || err != nil {
		t.Errorf("revoking returns %v, %v", gone, err)
	}
	if all := approvals(t, s); all != nil {
		t.Errorf("the list is %v", all)
	}
}
