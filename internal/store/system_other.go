//go:build !unix

package store

// openFilesGo says whether a file can be removed while it is open.
const openFilesGo = false

// openNonblocking is for systems whose named pipes are not in the file tree.
const openNonblocking = 0
