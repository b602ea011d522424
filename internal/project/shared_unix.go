//go:build unix

package project

import (
	"io/fs"
	"os"
	"syscall"
)

// shared reports whether another user owns a directory or can write to it. Root may use the directories of others. Write access of the
// user's own group is allowed, as many systems set it up.
func shared(_, _ string, info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return true
	}
	user := os.Geteuid()
	switch mode := info.Mode().Perm(); {
	case user != 0 && int(stat.Uid) != user, mode&0o002 != 0:
		return true
	case mode&0o020 != 0:
		return int(stat.Gid) != os.Getegid() || stat.Gid != stat.Uid
	}
	return false
}
