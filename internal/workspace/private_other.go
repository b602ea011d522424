//go:build !unix

package workspace

import (
	"io/fs"
	"path/filepath"
)

// private reports whether a directory is in the home directory: who can write is unknown on this system.
func private(dir, home string, _ fs.FileInfo) bool {
	home, err := filepath.EvalSymlinks(home)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(home, dir)
	return err == nil && filepath.IsLocal(rel)
}
