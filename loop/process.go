package loop

import (
	"cmp"
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
	procs "github.com/ralph-sdk/ralph/internal/process"
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
	allowed func() error // why it may not start, asked last
}

// A withheldError is why a person keeps a program from starting.
type withheldError struct{ error }

// finished is the result of a program.
type finished struct {
	code           int
	stdout, stderr child.Output
	dropped        []string // variables of the environment that it did not get
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
		return f, cmp.Or(p.withheld(), none)
	}
	if err := batch.Check(program, p.argv[1:]); err != nil {
		return f, cmp.Or(p.withheld(), fmt.Errorf(cannot, err))
	}
	cmd := exec.CommandContext(ctx, program, p.argv[1:]...)
	cmd.Args[0] = p.argv[0]
	cmd.Dir = p.dir
	cmd.Env, f.dropped = childEnv()
	cmd.Stdin = strings.NewReader(p.stdin)
	cmd.Stdout, cmd.Stderr = &f.stdout, &f.stderr
	cmd.WaitDelay = afterExit
	child.Group(cmd, syscall.SIGKILL)
	if err := p.withheld(); err != nil { // the last thing before the start
		return f, err
	}
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

// withheld returns why a person keeps the program from starting, or nil.
func (p process) withheld() error {
	if err := p.allowed(); err != nil {
		return withheldError{err}
	}
	return nil
}

// childEnv returns the environment of programs that a policy runs, and what it leaves out, see [procs.Clean]. A
// hook inside of them must not evaluate the policy again.
func childEnv() (env, dropped []string) {
	env, dropped = procs.Clean(slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.EqualFold(name, "RALPH_OFF")
	}))
	return append(env, "RALPH_OFF=1"), dropped
}
