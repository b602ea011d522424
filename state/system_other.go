//go:build !unix

package state

// openNonblocking is for systems whose named pipes are not in the file tree.
const openNonblocking = 0

const asDir = ""

// dirsNeedSync says whether a rename is durable only after syncing the directory.
const dirsNeedSync = false
