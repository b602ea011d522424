package loop

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/internal/batch"
	"github.com/ralph-sdk/ralph/internal/child"
)

// maxOutput is how much is kept of what a program prints, of each stream.
const maxOutput = 1 << 20

// afterExit is how long the output of a program that has ended is waited for: a
// child that it left running may hold it open for ever.
const afterExit = 200 * time.Millisecond

// process is a program to run in the project.
type process struct {
	argv  []string
	dir   string
	stdin string
}

// finished is what became of a program.
type finished struct {
	code           int
	stdout, stderr child.Output
	found          bool  // there is such a program
	late           bool  // it was ended because its time was over
	err            error // it could not be run
}

// run runs a program to its end, or ends it with all its children when ctx ends.
func (p process) run(ctx context.Context) finished {
	f := finished{stdout: child.Output{Left: maxOutput}, stderr: child.Output{Left: maxOutput}}
	program, err := p.program()
	if err != nil {
		return f
	}
	f.found = true
	if f.err = batch.Check(program, p.argv[1:]); f.err != nil {
		return f
	}
	cmd := exec.CommandContext(ctx, program, p.argv[1:]...)
	cmd.Args[0] = p.argv[0]
	cmd.Dir = p.dir
	cmd.Env = childEnv()
	cmd.Stdin = strings.NewReader(p.stdin)
	cmd.Stdout, cmd.Stderr = &f.stdout, &f.stderr
	cmd.WaitDelay = afterExit
	child.Group(cmd, syscall.SIGKILL)
	err = cmd.Run()
	var status *exec.ExitError
	switch {
	case ctx.Err() != nil:
		f.late = true
	case err == nil, errors.Is(err, exec.ErrWaitDelay), errors.As(err, &status):
		f.code = cmd.ProcessState.ExitCode()
	case cmd.ProcessState != nil: // it ended, but did not read all of its input
		f.code = cmd.ProcessState.ExitCode()
	case errors.Is(err, os.ErrNotExist):
		f.found = false
	default:
		f.err = err
	}
	return f
}

// program finds the file to run: a name in PATH, or a path of the project.
func (p process) program() (string, error) {
	return approval.Program(p.dir, p.argv[0])
}

// childEnv is the environment of programs that a policy runs. A hook inside of
// them must not ask for a decision again. They are about the repository of the
// project: an agent that runs in a hook of git inherits variables that lead git to
// another one.
func childEnv() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.EqualFold(name, "RALPH_OFF") || slices.Contains(gitVariables(), strings.ToUpper(name))
	})
	return append(env, "RALPH_OFF=1")
}

// gitVariables are those that hold for one repository, as git rev-parse
// --local-env-vars lists them.
func gitVariables() []string {
	return []string{
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_DIR",
		"GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS",
		"GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
	}
}
