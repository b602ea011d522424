package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteNew writes a policy into .ralph, where it must not exist.
func (p Project) WriteNew(name string, src []byte) (File, error) {
	path := filepath.Join(Dir, name+".yaml")
	return File{Name: name, Path: filepath.Join(p.Root, path), Source: src}, write(p.Root, path, src, false)
}

// WriteLocal writes a policy for this machine into .ralph/local, which git ignores, and replaces an earlier one.
func (p Project) WriteLocal(name string, src []byte) (File, error) {
	dir := filepath.Join(Dir, "local")
	if err := write(p.Root, filepath.Join(dir, ".gitignore"), []byte("*\n"), false); err != nil && !errors.Is(err, fs.ErrExist) {
		return File{}, err
	}
	path := filepath.Join(dir, name+".yaml")
	return File{Name: name, Path: filepath.Join(p.Root, path), Source: src}, write(p.Root, path, src, true)
}

// write writes a file below a directory, which no link leaves. Unless it replaces, the file must not exist.
func write(dir, path string, src []byte, replace bool) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if replace {
		if err := root.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // a link goes, not what it names
			return err
		}
	}
	f, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(src)
	return errors.Join(err, f.Close())
}
