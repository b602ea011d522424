//go:build !unix

package home

import "io/fs"

// Shared reports whether another user can write to a directory: here that is not known.
func Shared(fs.FileInfo) bool { return false }
