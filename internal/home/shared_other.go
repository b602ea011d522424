//go:build !unix

package home

import "io/fs"

// Shared reports whether another user can write to a directory, which is unknown on this system.
func Shared(fs.FileInfo) bool { return false }
