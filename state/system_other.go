//go:build !unix

package state

// openNonblocking is for systems whose named pipes lie in the file tree.
const openNonblocking = 0

const asDir = ""

// dirsNeedSync says whether a rename is durable only after the directory was
// synced too.
const dirsNeedSync = false
