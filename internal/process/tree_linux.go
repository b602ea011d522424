package process

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// attributes are those of a program that gets a signal if this process dies.
func attributes(last syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: last}
}

// executable returns the file of this process, even if another one has its name now.
func executable() (string, error) { return "/proc/self/exe", nil }

// adopt makes this process the parent of orphans of its descendants, or no longer. It returns what was so before.
func adopt(yes bool) (before bool, err error) {
	var is int32
	if err := unix.Prctl(unix.PR_GET_CHILD_SUBREAPER, uintptr(unsafe.Pointer(&is)), 0, 0, 0); err != nil {
		return false, err
	}
	to := uintptr(0)
	if yes {
		to = 1
	}
	return is != 0, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, to, 0, 0, 0)
}

// nothing reports whether the tree is certainly empty: a process without children that adopts orphans has no descendants.
// It saves reading the process table.
func (t *tree) nothing() bool {
	return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil) == unix.ECHILD
}

// table reads /proc. It omits processes that end meanwhile.
func table() []entry {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	all := make([]entry, 0, len(dirs))
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		if e, ok := read(pid); ok {
			all = append(all, e)
		}
	}
	return all
}

// read reads /proc/PID/stat, see proc_pid_stat(5).
func read(pid int) (entry, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	end := bytes.LastIndexByte(b, ')') // the program's name may contain anything
	if err != nil || end < 0 {
		return entry{}, false
	}
	fields := strings.Fields(string(b[end+1:])) // from field 3 on
	if len(fields) < 20 {
		return entry{}, false
	}
	e := entry{pid: pid, dead: fields[0] == "Z" || fields[0] == "X", start: fields[19]}
	for i, to := range []*int{&e.parent, &e.group, &e.session} {
		if *to, err = strconv.Atoi(fields[i+1]); err != nil {
			return entry{}, false
		}
	}
	return e, true
}

// marked reports whether a process was started with this variable.
func marked(pid int, mark string) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && bytes.Contains(append(append([]byte{0}, b...), 0), append(append([]byte{0}, mark...), 0))
}

func identify(pid int) ID {
	e, _ := read(pid)
	return ID{Pid: pid, Start: e.start}
}

// What a process starts inherits its limits, and only root can raise a hard limit: changing session, environment or
// parent does not. The limit on file locks has had no effect since Linux 2.4, so it can serve as a brand.

// brand sets the limit of a program that has just started to a random one below that of this process, which no other
// command has. It returns the limit, or 0 if it was not set. What the program started before does not have it. (To start
// the program with it, this process would need it for an instant, and so would everything that it starts in that time.)
func brand(pid int) uint64 {
	own := limitOf(0)
	if own.Max < 2 {
		return 0
	}
	brand := own.Max - 1 - rand.Uint64N(own.Max/2)
	if unix.Prlimit(pid, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: brand, Max: brand}, nil) != nil {
		return 0
	}
	return brand
}

// limitOf returns the limit of a process, zero if unknown.
func limitOf(pid int) (l unix.Rlimit) {
	_ = unix.Prlimit(pid, unix.RLIMIT_LOCKS, nil, &l)
	return l
}

// branded reports whether a process has a brand, and whether it has another one than this process, inherited or its
// own.
func branded(pid int, brand uint64) (has, other bool) {
	l := limitOf(pid)
	return brand != 0 && l.Max == brand, l.Max != 0 && l.Max < limitOf(0).Max
}

// older reports whether a, a start in clock ticks, is before b.
func older(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }
