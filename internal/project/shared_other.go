//go:build !unix

package project

import (
	"io/fs"
	"path/filepath"

	"github.com/ralph-sdk/ralph/state"
)

// shared reports whether a directory is outside of the home directory: this system does not say who can write to one.
func shared(dir, home string, _ fs.FileInfo) bool {
	if real, err := filepath.EvalSymlinks(home); err == nil {
		home = real
	}
	return !state.Contains(home, dir)
}
