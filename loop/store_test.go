package loop_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/loop/looptest"
)

func TestStores(t *testing.T) {
	looptest.Store(t, func(*testing.T) loop.Store { return loop.Map() })
	looptest.Store(t, func(t *testing.T) loop.Store { return loop.Dir(filepath.Join(t.TempDir(), "[new]", "store")) })
}

// stored returns a store in a directory with one document, and the path of its file.
func stored(t *testing.T, key string) (s loop.Store, file string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s = loop.Dir(dir)
	put(t, s, key, "x")
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("the files of one document are %q, %v", files, err)
	}
	return s, files[0]
}

func put(t *testing.T, s loop.Store, key, value string) {
	t.Helper()
	if err := s.Update(t.Context(), key, func([]byte) ([]byte, error) { return []byte(value), nil }); err != nil {
		t.Fatal(err)
	}
}

// Whatever is where the store's files should be, nothing waits and nothing counts as empty.
func TestDirRefuses(t *testing.T) {
	for _, c := range []struct {
		name, says string
		spoil      func(t *testing.T, file string) error
	}{
		{"a damaged file", "damaged", func(_ *testing.T, file string) error { return os.WriteFile(file, []byte("{"), 0o600) }},
		{"an empty file", "damaged", func(_ *testing.T, file string) error { return os.WriteFile(file, nil, 0o600) }},
		{"a directory", "", func(_ *testing.T, file string) error {
			os.Remove(file)
			return os.Mkdir(file, 0o700)
		}},
		{"others can write", "chmod", func(_ *testing.T, file string) error { return os.Chmod(filepath.Dir(file), 0o777) }},
		{"a pipe", "regular", func(t *testing.T, file string) error { return pipe(t, file) }},
		{"a pipe as lock", "regular", func(t *testing.T, file string) error {
			return pipe(t, strings.TrimSuffix(file, ".json")+".lock")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, file := stored(t, "session/s")
			if err := c.spoil(t, file); err != nil {
				t.Fatal(err)
			}
			err := s.Update(t.Context(), "session/s", func(old []byte) ([]byte, error) {
				t.Errorf("change gets %q", old)
				return nil, nil
			})
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want one that says %q", err, c.says)
			}
		})
	}
	if _, err := loop.Dir("relative").Load(t.Context(), "k"); err == nil {
		t.Error("a relative path of a store is no error")
	}
}

func TestDirKeepsTheSameBytes(t *testing.T) {
	s, file := stored(t, "session/s")
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	put(t, s, "session/s", "x")
	if info, err := os.Stat(file); err != nil || !info.ModTime().Equal(old) || info.Mode().Perm() != 0o600 {
		t.Errorf("the same bytes wrote the file again, or its mode is wrong: %v, %v, %v", info.ModTime(), info.Mode(), err)
	}
}

// Documents of sessions that are not used go after 30 days; all others stay.
func TestDirForgetsSessions(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := loop.Dir(dir)
	for _, k := range []string{"session/old", "@tenant/session/old", "stop/old"} {
		put(t, s, k, "x")
	}
	old := time.Now().Add(-31 * 24 * time.Hour)
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	for _, f := range files {
		if err := os.Chtimes(f, old, old); err != nil {
			t.Fatal(err)
		}
	}
	put(t, s, "session/new", "x")
	got, err := s.Keys(context.Background(), "")
	if want := "session/new stop/old"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("the documents are %q, %v; want %q", got, err, want)
	}
}
