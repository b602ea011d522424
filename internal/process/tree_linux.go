package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// adopt makes this process the parent of orphans of its descendants.
func adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// table reads /proc. What ends meanwhile is left out.
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
	end := bytes.LastIndexByte(b, ')') // the name of the program may hold anything
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

// older reports whether a process that started at a is older than one that started at b. Both are clock ticks.
func older(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a < b }
