package process

import (
	"os"
	"os/exec"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is a job object: the program's processes belong to it, and end with it or with this process.
type tree struct{ job windows.Handle }

func newTree(*exec.Cmd, string, bool) (*tree, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits))); err != nil {
		windows.CloseHandle(job)
		return nil, err
	}
	return &tree{job}, nil
}

// start starts the program and adds it to the job. Processes that it starts in the microseconds before that are not
// included.
func (t *tree) start(cmd *exec.Cmd) error {
	if err := cmd.Start(); err != nil {
		return err
	}
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err == nil {
		defer windows.CloseHandle(h)
		err = windows.AssignProcessToJobObject(t.job, h)
	}
	if err != nil {
		_ = cmd.Process.Kill() // without a job it must not run
	}
	return nil
}

// ask does nothing: a program without its own console accepts no request.
func (t *tree) ask() {}

func (t *tree) kill() { _ = windows.TerminateJobObject(t.job, 1) }

// sweep ends the rest of the job. The number is unknown.
func (t *tree) sweep(time.Duration) int {
	t.kill()
	return 0
}

func (t *tree) close() { windows.CloseHandle(t.job) }

func (t *tree) id(pid int) ID { return identify(pid) }

func exitOf(s *os.ProcessState) Exit { return Exit{Code: s.ExitCode()} }

func identify(pid int) ID {
	id := ID{Pid: pid}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return id
	}
	defer windows.CloseHandle(h)
	var created, exited, kernel, user windows.Filetime
	if windows.GetProcessTimes(h, &created, &exited, &kernel, &user) == nil {
		id.Start = strconv.FormatInt(created.Nanoseconds(), 10)
	}
	return id
}

// Leftovers returns 0: the job ends with the process that made it.
func Leftovers(ID, string, time.Duration) int { return 0 }
