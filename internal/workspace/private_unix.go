//go:build unix

package workspace

import (
	"io/fs"

	"github.com/ralph-sdk/ralph/internal/home"
)

// private reports whether a directory is this user's and only this user can write to it.
func private(_, _ string, info fs.FileInfo) bool { return !home.Shared(info) }
