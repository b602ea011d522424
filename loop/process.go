package loop

import (
	"context"
	"errors"
	"fmt"
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

// maxOutput bounds what is kept of each output stream of a program.
const maxOutput = 1 << 20

// afterExit is how long to wait for output after a program has ended: a child that it left running may keep the stream
// open.
const afterExit = 200 * time.Millisecond

// process is a program to run in the project.
type process struct {
	argv    []string
	dir     string
	stdin   string
	timeout time.Duration
}

// finished is the result of a program.
type finished struct {
	code           int
	stdout, stderr child.Output
}

// run runs a program to its end, or kills it and all its children if ctx ends or its time is over. The error is why it
// did not run to its end.
func (p process) run(ctx context.Context) (f finished, err error) {
	f = finished{stdout: child.Output{Left: maxOutput}, stderr: child.Output{Left: maxOutput}}
	none, cannot := fmt.Errorf("there is no program %s", p.argv[0]), p.argv[0]+" cannot be run: %w"
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	program, err := approval.Program(p.dir, p.argv[0])
	if err != nil {
		return f, none
	}
	if err := batch.Check(program, p.argv[1:]); err != nil {
		return f, fmt.Errorf(cannot, err)
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
	switch {
	case ctx.Err() != nil:
		return f, fmt.Errorf("%s did not end within %s", p.argv[0], p.timeout)
	case cmd.ProcessState != nil: // even if it did not read all of its input
		f.code = cmd.ProcessState.ExitCode()
		return f, nil
	case errors.Is(err, os.ErrNotExist):
		return f, none
	}
	return f, fmt.Errorf(cannot, err)
}

// childEnv returns the environment of programs that a policy runs. A hook inside of them must not evaluate the policy
// again, and they must use the project's repository: an agent that runs in a git hook inherits variables that lead git
// to another one.
func childEnv() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.EqualFold(name, "RALPH_OFF") || slices.Contains(gitVariables(), strings.ToUpper(name))
	})
	return append(env, "RALPH_OFF=1")
}

// gitVariables returns the variables specific to one repository, as git rev-parse --local-env-vars lists them.
func gitVariables() []string {
	return []string{
		"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_COMMON_DIR", "GIT_CONFIG", "GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS", "GIT_DIR",
		"GIT_GRAFT_FILE", "GIT_IMPLICIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_INTERNAL_SUPER_PREFIX", "GIT_NO_REPLACE_OBJECTS",
		"GIT_OBJECT_DIRECTORY", "GIT_PREFIX", "GIT_REPLACE_REF_BASE", "GIT_SHALLOW_FILE", "GIT_WORK_TREE",
	}
}
