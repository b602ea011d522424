//go:build unix

package workspace

import (
	"io/fs"
	"os"
	"syscall"
)

// private reports whether a folder is this user's and no other can write to it. That its
// group can is allowed where the group is the user's own, as many systems set it up.
func private(_, _ string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	user := os.Geteuid()
	switch mode := info.Mode().Perm(); {
	case user != 0 && int(stat.Uid) != user, mode&0o002 != 0:
		return false
	case mode&0o020 != 0:
		return int(stat.Gid) == os.Getegid() && stat.Gid == stat.Uid
	}
	return true
}
