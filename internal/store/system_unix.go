//go:build unix

package store

// openFilesGo says whether a file can be removed while it is open.
const openFilesGo = true
