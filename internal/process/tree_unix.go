//go:build unix

package process

import (
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"
)

// tree is a program with everything that it started.
type tree struct {
	own      bool // this process started it, not an earlier one
	mark     string
	since    string // when the program started: older processes do not belong to it, "" if unknown
	brand    uint64 // 0 if there is none
	root     int    // the program itself, until it has ended; 0 for none
	sessions []int  // its sessions
	groups   []int
	cgroup   cgroup
}

// active are the commands that this process runs.
var active struct {
	sync.Mutex
	n      int
	adopts bool // whether this process adopted orphans before the first one
}

func newTree(cmd *exec.Cmd, mark string, asked bool) (*tree, error) {
	last := syscall.SIGKILL
	if asked {
		last = syscall.SIGTERM
	}
	cmd.SysProcAttr = attributes(last)
	active.Lock()
	defer active.Unlock()
	if active.n == 0 {
		var err error
		if active.adopts, err = adopt(true); err != nil {
			return nil, err
		}
	}
	active.n++
	return &tree{own: true, mark: mark}, nil
}

func (t *tree) close() {
	t.cgroup.close()
	active.Lock()
	defer active.Unlock()
	if active.n--; active.n == 0 && !active.adopts {
		_, _ = adopt(false)
	}
}

// only reports whether this process runs no other command.
func only() bool {
	active.Lock()
	defer active.Unlock()
	return active.n == 1
}

func (t *tree) start(cmd *exec.Cmd) (err error) {
	if t.cgroup, err = start(cmd); err != nil {
		return err
	}
	t.brand = brand(cmd.Process.Pid)
	t.runs(identify(cmd.Process.Pid))
	return nil
}

func (t *tree) runs(id ID) {
	t.root, t.since = id.Pid, id.Start
	t.sessions, t.groups = []int{id.Pid}, []int{id.Pid}
}

func (t *tree) id(pid int) ID {
	id := identify(pid)
	id.Brand = t.brand
	return id
}

// ask sends the program and its group a request to end.
func (t *tree) ask() {
	t.look()
	_ = syscall.Kill(-t.root, syscall.SIGTERM)
}

// kill kills the program and its group. Its other descendants become orphans.
func (t *tree) kill() {
	t.look()
	_ = syscall.Kill(-t.root, syscall.SIGKILL)
}

// pause is the interval for reading the process table.
const pause = 5 * time.Millisecond

// sweep ends the remaining processes once the program has ended, by a request, then by force, and counts them.
func (t *tree) sweep(grace time.Duration) int {
	t.root = 0 // it has ended, and its ID may be reused
	ended := map[int]bool{}
	deadline := time.Now().Add(grace)
	for sent := syscall.SIGTERM; ; {
		if t.own && t.nothing() {
			return len(ended)
		}
		if time.Now().After(deadline) {
			sent = syscall.SIGKILL
		}
		left := t.look()
		if len(left) == 0 {
			return len(ended)
		}
		for _, p := range left {
			if p.dead {
				t.reap(p)
				continue
			}
			if !ended[p.pid] || sent == syscall.SIGKILL {
				_ = syscall.Kill(p.pid, sent)
			}
			ended[p.pid] = true
		}
		if sent == syscall.SIGKILL {
			t.cgroup.kill()
		}
		if time.Now().After(deadline.Add(stubborn)) {
			return len(ended) // it cannot be killed, for example while waiting for a lost disk
		}
		time.Sleep(pause)
	}
}

// stubborn is how long to wait for a killed process.
const stubborn = 3 * time.Second

// entry is a process of the system's table.
type entry struct {
	pid, parent, group, session int
	dead                        bool // a zombie
	start                       string
}

// look returns the current processes of the tree, and remembers their sessions and groups to recognize later ones.
func (t *tree) look() []entry {
	all := table()
	i := slices.IndexFunc(all, func(p entry) bool { return p.pid == os.Getpid() })
	if i < 0 {
		return nil // nothing is possible without the process table
	}
	self := all[i]
	// Never this process or its ancestors, whatever the marks.
	never := map[int]bool{}
	for p := self; !never[p.pid]; {
		never[p.pid] = true
		if i := slices.IndexFunc(all, func(o entry) bool { return o.pid == p.parent }); i >= 0 {
			p = all[i]
		}
	}
	var found []entry
	in := map[int]bool{}
	if t.root > 1 {
		in[t.root] = true
	}
	for more := true; more; { // a child may be listed before its parent
		more = false
		for _, p := range all {
			if p.pid > 1 && !in[p.pid] && !never[p.pid] && t.has(p, self, in) {
				in[p.pid], more = true, true
				found = append(found, p)
				if p.session > 1 && p.session != self.session && !slices.Contains(t.sessions, p.session) {
					t.sessions = append(t.sessions, p.session)
				}
				if p.group > 1 && p.group != self.group && !slices.Contains(t.groups, p.group) {
					t.groups = append(t.groups, p.group)
				}
			}
		}
	}
	return found
}

// has reports whether a process belongs to the tree, given those that do.
func (t *tree) has(p, self entry, in map[int]bool) bool {
	switch {
	case p.session == self.session && p.group == self.group:
		return false // an ancestor, such as the user's shell
	case older(p.start, t.since):
		return false
	case t.knows(p, in) || t.cgroup.has(p.pid):
		return true
	}
	switch has, other := branded(p.pid, t.brand); {
	case has:
		return p.session != self.session
	case other && p.parent == self.pid: // an orphan with the brand of a nested run, or its own
		return t.brand != 0 && only()
	}
	return !p.dead && marked(p.pid, t.mark)
}

// knows reports whether a process belongs to the tree by its parent, session or group.
func (t *tree) knows(p entry, in map[int]bool) bool {
	return in[p.parent] || slices.Contains(t.sessions, p.session) || slices.Contains(t.groups, p.group)
}

// reap waits for an adopted orphan. Waiting for any child would take another command's result.
func (t *tree) reap(p entry) {
	if p.parent == os.Getpid() {
		var status syscall.WaitStatus
		_, _ = syscall.Wait4(p.pid, &status, syscall.WNOHANG, nil)
	}
}

func exitOf(s *os.ProcessState) Exit {
	e := Exit{Code: s.ExitCode()}
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal().String()
	}
	return e
}

// Leftovers ends processes with this mark that an earlier, killed process of this program left, including the program
// that it had started as id. It returns their number.
func Leftovers(id ID, mark string, grace time.Duration) int {
	t := &tree{mark: mark, brand: id.Brand}
	if id.Pid > 1 && t.id(id.Pid) == id && id.Start != "" {
		t.runs(id)
		_ = syscall.Kill(-id.Pid, syscall.SIGTERM)
		_ = syscall.Kill(id.Pid, syscall.SIGTERM)
	}
	return t.sweep(grace)
}
