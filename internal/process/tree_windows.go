package process

import (
	"fmt"
	"os"
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is a job object: the program's processes belong to it, and end with it or with this process.
type tree struct{ job windows.Handle }

func newTree(*exec.Cmd) (*tree, error) {
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

// start starts the program and adds it to the job. What it starts in the microseconds before that is not in the job.
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
		_ = cmd.Wait()
		return fmt.Errorf("a job for %s: %w", cmd.Path, err)
	}
	return nil
}

func (t *tree) kill() { _ = windows.TerminateJobObject(t.job, 1) }

func (t *tree) sweep() { t.kill() }

func (t *tree) close() { windows.CloseHandle(t.job) }

func exitCode(s *os.ProcessState) int { return s.ExitCode() }

// guard has nothing to do: the job ends with this process.
type guard struct{}

func newGuard(*exec.Cmd) (*guard, error) { return nil, nil }

func (*guard) open(int) error { return nil }

func (*guard) close() {}
