package state

import "syscall"

// The file systems of disks that are part of the machine, as statfs(2) names them.
const (
	bcachefsMagic = 0xca451a4e
	btrfsMagic    = 0x9123683e
	extMagic      = 0xef53
	f2fsMagic     = 0xf2f52010
	overlayMagic  = 0x794c7630
	tmpfsMagic    = 0x01021994
	xfsMagic      = 0x58465342
	zfsMagic      = 0x2fc12fc1
)

// onLocalDisk reports whether dir is on a disk of this machine, which answers immediately or with an error. Others,
// such as network disks, may block.
func onLocalDisk(dir string) bool {
	var fs syscall.Statfs_t
	if syscall.Statfs(dir, &fs) != nil {
		return false
	}
	switch uint32(fs.Type) { // its size differs between processors
	case bcachefsMagic, btrfsMagic, extMagic, f2fsMagic, overlayMagic, tmpfsMagic, xfsMagic, zfsMagic:
		return true
	}
	return false
}
