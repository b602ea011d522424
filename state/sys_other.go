//go:build !unix

package state

// withoutWaiting is 0 where pipes are not in the tree of files.
const withoutWaiting = 0
