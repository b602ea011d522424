//go:build amd64 || arm64

package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// A hook that is killed at any moment leaves the old file or the new one, whole, and so
// does a process that reads the file at that moment find it. The next hook works, and what was
// left behind is swept up in time. Files change by system calls alone: a hook that is
// killed in front of each of them is killed at every moment that there is.
func TestKilledHooks(t *testing.T) {
	const body = "Some work to do.\n"
	h := newHook(t, map[string]string{stravinskyFile: countedLoop(1, body)}, "--policy", "stravinsky")
	count := func() int {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(h.dir, stravinskyFile))
		if err != nil {
			t.Fatal(err)
		}
		n, err := countOf(content, body)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	left := func() []string { return append(leftovers(t, h.dir), leftovers(t, h.store)...) }

	kept, counted := 0, 0
	for n, killed := 0, true; killed; n++ {
		before := count()
		killed = killAtChange(t, h, n)
		switch after := count(); {
		case after == before && killed:
			kept++
		case after == before+1:
			counted++
		default:
			t.Fatalf("killed in front of change %d: the count went from %d to %d", n, before, after)
		}
	}
	t.Logf("%d kept the old file, %d left a new one, %d temporary files", kept, counted, len(left()))
	if kept == 0 || counted < 2 || len(left()) == 0 {
		t.Error("hooks should be killed before, while and after they write the file")
	}

	// Later nothing is left of them. (Ralph cleans its own directory up once a day, by
	// the time of a file that says when it last did.)
	old := time.Now().Add(-48 * time.Hour)
	for _, name := range append(left(), filepath.Join(h.store, "cleaned")) {
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
	}
	before := count()
	if a := h.run(t).answer(t); a.Decision != "block" || count() != before+1 {
		t.Errorf("the next hook: %+v, count %d after %d", a, count(), before)
	}
	if left := left(); len(left) > 0 {
		t.Errorf("still there: %q", left)
	}
}

// killAtChange runs a hook and kills it when it is about to make a change to files, the
// first for n = 0. killed is false if it makes fewer and came to its end.
func killAtChange(t *testing.T, h hook, n int) (killed bool) {
	t.Helper()
	event := filepath.Join(t.TempDir(), "event.json")
	if err := os.WriteFile(event, []byte(h.event(nil)), 0o644); err != nil {
		t.Fatal(err)
	}
	h.args = append(slices.Clone(h.args), "--input", event)
	cmd := h.cmd()
	cmd.Stdin = nil // no pipe, which would have to be waited for
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Setpgid: true}

	runtime.LockOSThread() // only the thread that started a process may trace it
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Release() // it is waited for here
	pid := cmd.Process.Pid
	const sysGood, exitKill = 0x1, 0x100000
	options := 0
	for {
		var status syscall.WaitStatus
		tid, err := syscall.Wait4(-pid, &status, syscall.WALL, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			t.Fatal(err)
		case tid == pid && (status.Exited() || status.Signaled()):
			if !killed && status.ExitStatus() != exitOK {
				t.Errorf("the exit status is %d", status.ExitStatus())
			}
			return killed
		case !status.Stopped():
			continue // a thread has ended
		}
		if options == 0 { // before its first instruction
			options = sysGood | exitKill | syscall.PTRACE_O_TRACECLONE
			if err := syscall.PtraceSetOptions(tid, options); err != nil {
				t.Fatal(err)
			}
		}
		signal := 0
		switch stopped := status.StopSignal(); stopped {
		case syscall.SIGTRAP | 0x80: // a system call
			if !killed && changesFiles(t, tid) {
				if n == 0 {
					killed = true
					if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
						t.Fatal(err)
					}
				}
				n--
			}
		case syscall.SIGTRAP, syscall.SIGSTOP: // a thread was made
		default:
			signal = int(stopped)
		}
		if err := syscall.PtraceSyscall(tid, signal); err != nil && err != syscall.ESRCH {
			t.Fatal(err)
		}
	}
}

// changesFiles reports whether a thread that is stopped at a system call is about to
// change a file or directory with it.
func changesFiles(t *testing.T, tid int) bool {
	t.Helper()
	const getSyscallInfo, entry = 0x420e, 1
	var info struct {
		op     uint8
		arch   uint32
		ip, sp uint64
		nr     uint64
		args   [7]uint64
	}
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, getSyscallInfo, uintptr(tid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	switch {
	case errno == syscall.ESRCH: // it was killed
		return false
	case errno != 0:
		t.Fatal(errno)
	case info.op != entry:
		return false
	}
	switch info.nr {
	case syscall.SYS_OPENAT:
		return info.args[2]&(syscall.O_CREAT|syscall.O_TRUNC) != 0
	case syscall.SYS_WRITE, syscall.SYS_PWRITE64, syscall.SYS_FTRUNCATE, syscall.SYS_RENAMEAT, syscall.SYS_LINKAT,
		syscall.SYS_UNLINKAT, syscall.SYS_MKDIRAT, syscall.SYS_FCHMOD, syscall.SYS_FCHMODAT, syscall.SYS_UTIMENSAT:
		return true
	}
	return false
}
