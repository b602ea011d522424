//go:build !linux && !darwin

package state

// onLocalDisk reports whether dir is on a disk that never blocks, which is unknown on this system.
func onLocalDisk(string) bool { return false }
