package state

import "syscall"

// mntLocal is MNT_LOCAL of statfs(2): the file system is stored on this machine.
const mntLocal = 0x1000

// onLocalDisk reports whether dir is on a disk of this machine, which answers immediately or with an error. Others,
// such as network disks, may block.
func onLocalDisk(dir string) bool {
	var fs syscall.Statfs_t
	return syscall.Statfs(dir, &fs) == nil && fs.Flags&mntLocal != 0
}
