package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ralph-sdk/ralph/internal/store"
)

// Whatever is at the path of a document, it exists, is listed by a name under which it can be removed, and is not taken for
// another.
func TestDocumentDamaged(t *testing.T) {
	for name, damage := range map[string]func(path string) error{
		"empty":          func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"no name":        func(path string) error { return os.WriteFile(path, []byte("{}\n{}"), 0o600) },
		"no data":        func(path string) error { return os.WriteFile(path, []byte(`"a name"`), 0o600) },
		"another's":      func(path string) error { return os.WriteFile(path, []byte("\"other\"\n{}"), 0o600) },
		"a link nowhere": func(path string) error { return os.Symlink("nowhere", path) },
		"a directory":    func(path string) error { return os.MkdirAll(filepath.Join(path, "x"), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s := store.Open(dir)
			if err := s.PutDocument(t.Context(), "hints", "a name", []byte("{}"), ""); err != nil {
				t.Fatal(err)
			}
			files, _ := filepath.Glob(filepath.Join(dir, "hints", "*"))
			if len(files) != 1 {
				t.Fatalf("the files are %q", files)
			}
			if err := errors.Join(os.Remove(files[0]), damage(files[0])); err != nil {
				t.Fatal(err)
			}
			if there, err := s.HasDocument("hints", "a name"); !there || err != nil {
				t.Errorf("it exists: %t, error %v", there, err)
			}
			data, version, err := s.Document("hints", "a name")
			if len(data) > 0 || version == "" || err == nil {
				t.Errorf("it is read as %q, version %q, error %v", data, version, err)
			}
			if err := s.PutDocument(t.Context(), "hints", "a name", []byte("{}"), ""); !errors.Is(err, store.ErrChanged) {
				t.Errorf("creating it again gives %v", err)
			}
			var listed []string
			for name, err := range s.DocumentNames("hints") {
				if err == nil {
					t.Errorf("%q is listed without an error", name)
				}
				listed = append(listed, name)
			}
			if want := strings.TrimSuffix(filepath.Base(files[0]), ".json"); len(listed) != 1 || listed[0] != want {
				t.Fatalf("listed are %q, want %q", listed, want)
			}
			_, version, _ = s.Document("hints", listed[0])
			if err := s.PutDocument(t.Context(), "hints", listed[0], nil, version); err != nil {
				t.Errorf("removing it gives %v", err)
			}
			if there, err := s.HasDocument("hints", "a name"); there || err != nil {
				t.Errorf("removed, it exists: %t, error %v", there, err)
			}
		})
	}
}

// Documents of ralph's own kinds are in directories of their own, whatever their names are, and no other kind reaches a
// directory of the store.
func TestDocumentPlaces(t *testing.T) {
	dir := t.TempDir()
	s := store.Open(dir)
	for _, kind := range []string{"orders", `orders ["","/p"]`, "runs", "entries", "locks", "..", "../x"} {
		if err := s.PutDocument(t.Context(), kind, "20260102-id", []byte("{}"), ""); err != nil {
			t.Fatal(err)
		}
	}
	var dirs []string
	for _, depth := range []string{"*/20260102-id.json", "*/*/20260102-id.json"} {
		files, _ := filepath.Glob(filepath.Join(dir, depth))
		for _, file := range files {
			rel, _ := filepath.Rel(dir, file)
			dirs = append(dirs, strings.Split(filepath.ToSlash(rel), "/")[0])
		}
	}
	if diff := cmp.Diff([]string{"orders", "runs", "documents", "documents", "documents", "documents", "orders"}, dirs); diff != "" {
		t.Errorf("the directories (-want +got)\n%s", diff)
	}
}
