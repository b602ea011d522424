package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteNew writes a policy into .ralph, where it must not exist.
func (p Project) WriteNew(name string, src []byte) (File, error) {
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return File{}, err
	}
	defer root.Close()
	f := File{Name: name, Path: filepath.Join(p.Root, Dir, name+".yaml"), Source: src}
	if err := root.MkdirAll(Dir, 0o755); err != nil {
		return f, err
	}
	return f, writeNew(root, filepath.Join(Dir, name+".yaml"), src)
}

// WriteLocal writes a policy for this machine into .ralph/local, which git ignores, and replaces an earlier one.
func (p Project) WriteLocal(name string, src []byte) (File, error) {
	root, err := os.OpenRoot(p.Root)
	if err != nil {
		return File{}, err
	}
	defer root.Close()
	dir := filepath.Join(Dir, "local")
	f := File{Name: name, Path: filepath.Join(p.Root, dir, name+".yaml"), Source: src}
	if err := root.MkdirAll(dir, 0o755); err != nil {
		return f, err
	}
	if err := writeNew(root, filepath.Join(dir, ".gitignore"), []byte("*\n")); err != nil && !errors.Is(err, fs.ErrExist) {
		return f, err
	}
	path := filepath.Join(dir, name+".yaml")
	if err := root.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // a link goes, not what it names
		return f, err
	}
	return f, writeNew(root, path, src)
}

func writeNew(root *os.Root, path string, src []byte) error {
	f, err := root.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(src)
	return errors.Join(err, f.Close())
}
