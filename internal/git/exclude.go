package git

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
)

// Exclude makes git leave a file, named by its full path, out of commits, for this clone only: by a line in info/exclude. It does nothing
// without a repository, or where the file .git names one that does not point back.
func Exclude(file string) error {
	r, err := find(filepath.Dir(file))
	if err != nil || r.dir != filepath.Join(resolve(Looks{}, "", r.top), ".git") && !r.linked {
		return nil
	}
	rel, err := filepath.Rel(r.top, file)
	if err != nil {
		return err
	}
	line := []byte("/" + filepath.ToSlash(rel))
	root, err := os.OpenRoot(r.common)
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.Join("info", "exclude")
	old, err := root.ReadFile(name)
	if err == nil && slices.ContainsFunc(bytes.Split(old, []byte("\n")), func(l []byte) bool { return bytes.Equal(bytes.TrimSpace(l), line) }) {
		return nil
	}
	if err := root.MkdirAll("info", 0o755); err != nil {
		return err
	}
	if len(old) > 0 && !bytes.HasSuffix(old, []byte("\n")) {
		old = append(old, '\n')
	}
	return root.WriteFile(name, append(append(old, line...), '\n'), 0o644)
}
