package main

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// fillFolder moves a directory to a small file system and fills that up.
func fillFolder(t *testing.T, folder string) {
	t.Helper()
	saved := map[string][]byte{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if saved[e.Name()], err = os.ReadFile(filepath.Join(folder, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mount("ralph-test", folder, "tmpfs", 0, "size=64k"); err != nil {
		t.Skip("no disk can be mounted here:", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	for name, data := range saved {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "filler"), make([]byte, 1<<20), 0o644); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk takes more than it has: %v", err)
	}
}
