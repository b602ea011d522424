package state

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	root, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	ctx := t.Context()
	version := func(path string) string { return root.Read(ctx, File{Path: path}).Version }
	content := func(path string) string {
		b, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}

	// A new file, with the directories that it needs.
	if err := root.Write(ctx, "a/b/new.json", []byte("{}"), ""); err != nil || content("a/b/new.json") != "{}" {
		t.Fatal(err, content("a/b/new.json"))
	}
	if got, v, err := root.ReadBytes(ctx, "a/b/new.json"); string(got) != "{}" || v != version("a/b/new.json") || err != nil {
		t.Error(got, v, err)
	}
	if got, v, err := root.ReadBytes(ctx, "a/none"); got != nil || v != "" || err != nil {
		t.Error("absent:", got, v, err)
	}
	if _, _, err := root.ReadBytes(ctx, "a"); !errors.As(err, new(*EditError)) {
		t.Error("a folder:", err)
	}
	// It must not be there yet.
	if err := root.Write(ctx, "a/b/new.json", []byte("x"), ""); !errors.Is(err, ErrChanged) {
		t.Errorf("over a file that nobody read: %v", err)
	}
	// Only a writer that has read the current version can replace it.
	read := version("a/b/new.json")
	if err := root.Write(ctx, "a/b/new.json", []byte("{1}"), read); err != nil || content("a/b/new.json") != "{1}" {
		t.Error(err, content("a/b/new.json"))
	}
	if err := root.Write(ctx, "a/b/new.json", []byte("{2}"), read); !errors.Is(err, ErrChanged) || content("a/b/new.json") != "{1}" {
		t.Error("over a file that changed:", err, content("a/b/new.json"))
	}

	// Permissions stay.
	if err := os.Chmod(filepath.Join(dir, "a/b/new.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := root.Write(ctx, "a/b/new.json", []byte("{3}"), version("a/b/new.json")); err != nil {
		t.Error(err)
	}
	info, err := os.Stat(filepath.Join(dir, "a/b/new.json"))
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Error(err, info.Mode())
	}

	for path, problem := range map[string]any{
		"":         new(*PathError),
		"../x":     new(*PathError),
		"~/x":      new(*PathError),
		"a":        new(*EditError), // a directory
		"a/b/\x00": new(*PathError),
	} {
		if err := root.Write(ctx, path, nil, ""); err == nil || !errors.As(err, problem) {
			t.Errorf("%q: %v, want %T", path, err, problem)
		}
	}
	if err := root.Write(ctx, "big", bytes.Repeat([]byte("x"), MaxFileSize+1), ""); !errors.As(err, new(*EditError)) {
		t.Error(err)
	}
	if err := root.Write(ctx, "a/b/new.json/c", nil, ""); !errors.As(err, new(*writeError)) {
		t.Error("beneath a file:", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "a/b/.ralph-*")); len(left) > 0 {
		t.Error("left behind:", left)
	}
}

func TestWriteLinks(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "real"), filepath.Join(dir, "link")); err != nil {
		t.Skip("no links here:", err)
	}
	for name, to := range map[string]string{"nowhere": "gone", "out": filepath.Join(outside, "x"), "outdir": outside} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "real"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := root.Write(t.Context(), "link", []byte("new"), root.Read(t.Context(), File{Path: "link"}).Version); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "real")); string(b) != "new" {
		t.Errorf("%q", b)
	}
	if to, err := os.Readlink(filepath.Join(dir, "link")); err != nil || filepath.Base(to) != "real" {
		t.Error("the link is gone:", to, err)
	}
	for _, name := range []string{"nowhere", "out", "outdir/x"} {
		if err := root.Write(t.Context(), name, []byte("new"), ""); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	if found, _ := os.ReadDir(outside); len(found) > 0 {
		t.Error("written outside the root:", found)
	}
}

// Of many writers that create the same file at once, one succeeds.
func TestWriteOnce(t *testing.T) {
	root, err := OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	var made atomic.Int32
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			switch err := root.Write(t.Context(), "deep/file", []byte("x"), ""); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, ErrChanged):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if made.Load() != 1 {
		t.Errorf("%d made it", made.Load())
	}
}
