package store_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/store"
)

const (
	keyA = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	keyB = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
)

func TestApprovals(t *testing.T) {
	s := store.Open(filepath.Join(t.TempDir(), "store"))
	if s.Approved(keyA) {
		t.Error("an empty store approves")
	}
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	older := store.Approval{Key: keyA, Names: []string{"/p/policy.yaml", "ralph:guards/limit.yaml"}, At: at}
	newer := store.Approval{Key: keyB, Names: []string{"/q/policy.yaml"}, At: at.Add(time.Hour)}
	for _, a := range []store.Approval{older, newer, older} {
		if err := s.Approve(a); err != nil {
			t.Fatal(err)
		}
	}
	all, err := s.Approvals()
	if diff := cmp.Diff([]store.Approval{newer, older}, all); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if !s.Approved(keyA) || !s.Approved(keyB) {
		t.Error("what was approved is not")
	}
	if gone, err := s.Revoke(keyA); !gone || err != nil {
		t.Errorf("revoking gives %v, %v", gone, err)
	}
	if gone, err := s.Revoke(keyA); gone || err != nil {
		t.Errorf("revoking again gives %v, %v", gone, err)
	}
	if s.Approved(keyA) || !s.Approved(keyB) {
		t.Error("another approval went, or this one stayed")
	}
}

// Only a file that names its own content approves it; nothing else in the folder does, and no key leads out of it.
func TestApprovalsAreNotGuessed(t *testing.T) {
	dir := t.TempDir()
	s := store.Open(dir)
	if err := s.Approve(store.Approval{Key: keyA}); err != nil {
		t.Fatal(err)
	}
	copyOf, err := os.ReadFile(filepath.Join(dir, "trust", keyA+".json"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{keyB + ".json": string(copyOf), "junk.json": "{", "README": "hello"} {
		if err := os.WriteFile(filepath.Join(dir, "trust", name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s.Approved(keyB) {
		t.Error("the approval of one content approves another")
	}
	if all, err := s.Approvals(); len(all) != 1 || err != nil {
		t.Errorf("the list is %v, %v", all, err)
	}
	for _, key := range []string{"", "short", "../" + keyA, keyA + "/../" + keyA, "AAAAAAAAAAAAAAAAAAAAAAAA"} {
		if s.Approved(key) || s.Approve(store.Approval{Key: key}) == nil {
			t.Errorf("%q is taken for a key", key)
		}
	}
}

func TestApprovalsWithoutAStore(t *testing.T) {
	s := store.Open("")
	if s.Approved(keyA) || s.Approve(store.Approval{Key: keyA}) == nil {
		t.Error("there is no store, and still it approves")
	}
	if all, err := s.Approvals(); all != nil || err != nil {
		t.Errorf("the list is %v, %v", all, err)
	}
}
