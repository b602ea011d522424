package process

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	pause    = 5 * time.Millisecond // between two looks at the processes
	stubborn = 3 * time.Second      // to wait for a killed process, which may wait for a lost disk
)

// tree is a program with everything that it started.
type tree struct {
	root     int // the program itself, until it has ended
	sessions []int
	groups   []int
}

// active are the commands that this process runs.
var active struct {
	sync.Mutex
	n      int
	adopts bool           // this process adopted orphans before the first of them
	before map[int]string // its children then, with the times when they started
}

func newTree(cmd *exec.Cmd) (*tree, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	active.Lock()
	defer active.Unlock()
	if active.n == 0 {
		var err error
		if active.adopts, err = adopt(true); err != nil {
			return nil, err
		}
		active.before = children()
	}
	active.n++
	return &tree{}, nil
}

func (t *tree) close() {
	active.Lock()
	defer active.Unlock()
	if active.n--; active.n == 0 && !active.adopts {
		_, _ = adopt(false)
	}
}

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

func (t *tree) start(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	t.root = cmd.Process.Pid
	t.sessions, t.groups = []int{t.root}, []int{t.root}
	return nil
}

// kill kills the program and its group. Its other descendants become orphans, whose sessions are known then.
func (t *tree) kill() {
	t.look()
	_ = syscall.Kill(-t.root, syscall.SIGKILL)
}

// sweep kills the remaining processes once the program has ended, until there are none.
func (t *tree) sweep() {
	t.root = 0 // its ID may be used again
	for deadline := time.Now().Add(stubborn); !childless() && time.Now().Before(deadline); time.Sleep(pause) {
		left := t.look()
		if len(left) == 0 {
			return
		}
		for _, p := range left {
			switch {
			case !p.dead:
				_ = syscall.Kill(p.pid, syscall.SIGKILL)
			case p.parent == os.Getpid(): // waiting for any child would take another command's result
				_, _ = syscall.Wait4(p.pid, nil, syscall.WNOHANG, nil)
			}
		}
	}
}

// look returns the processes of the tree but the program itself, and keeps their sessions and groups to know later ones.
func (t *tree) look() []entry {
	all := table()
	i := slices.IndexFunc(all, func(p entry) bool { return p.pid == os.Getpid() })
	if i < 0 {
		return nil // /proc cannot be read
	}
	self, orphans := all[i], t.orphans()
	in := map[int]bool{}
	if t.root != 0 {
		in[t.root] = true
	}
	var found []entry
	for more := true; more; { // a child may be listed before its parent
		more = false
		for _, p := range all {
			// All that a command starts is outside of this session, and cannot come into it.
			if in[p.pid] || p.session == self.session {
				continue
			}
			if in[p.parent] || slices.Contains(t.sessions, p.session) || slices.Contains(t.groups, p.group) || orphans(p) {
				in[p.pid], more = true, true
				found = append(found, p)
				if p.session > 1 && p.group > 1 { // of a process that is just ending, they are not known
					t.sessions, t.groups = append(t.sessions, p.session), append(t.groups, p.group)
				}
			}
		}
	}
	return found
}

// orphans returns what reports whether a process is an adopted orphan of this command.
func (t *tree) orphans() func(entry) bool {
	active.Lock()
	defer active.Unlock()
	if active.n > 1 { // it is that of another command, or this one's: the last one ends it
		return func(entry) bool { return false }
	}
	before := maps.Clone(active.before)
	return func(p entry) bool {
		return p.parent == os.Getpid() && p.pid != t.root && before[p.pid] != p.start
	}
}

// childless reports whether this process has no children. Since it adopts orphans, it has no descendants then. It saves reading /proc.
func childless() bool {
	return unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL, nil) == unix.ECHILD
}

// children returns the children of this process, with the times when they started.
func children() map[int]string {
	all := map[int]string{}
	if childless() {
		return all
	}
	for _, p := range table() {
		if p.parent == os.Getpid() {
			all[p.pid] = p.start
		}
	}
	return all
}

// entry is a process of the system's table.
type entry struct {
	pid, parent, group, session int
	dead                        bool // it has ended, and its parent did not wait for it
	start                       string
}

// table reads /proc. It omits processes that end meanwhile.
func table() []entry {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	all := make([]entry, 0, len(dirs))
	for _, dir := range dirs {
		if e, ok := read(dir); ok {
			all = append(all, e)
		}
	}
	return all
}

// read reads /proc/PID/stat, see proc_pid_stat(5).
func read(dir string) (e entry, ok bool) {
	b, err := os.ReadFile(dir + "/stat")
	end := bytes.LastIndexByte(b, ')') // the program's name may contain anything
	if err != nil || end < 0 {
		return e, false
	}
	fields := strings.Fields(string(b[end+1:])) // from field 3 on
	if len(fields) < 20 {
		return e, false
	}
	e.dead, e.start = fields[0] == "Z" || fields[0] == "X", fields[19]
	for to, text := range map[*int]string{&e.pid: filepath.Base(dir), &e.parent: fields[1], &e.group: fields[2], &e.session: fields[3]} {
		if *to, err = strconv.Atoi(text); err != nil {
			return e, false
		}
	}
	return e, true
}
