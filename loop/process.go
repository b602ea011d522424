package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/approval"
	procs "github.com/ralph-sdk/ralph/internal/process"
)

// maxOutput bounds what is kept of each output stream of a program.
const maxOutput = 1 << 20

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
	stdout, stderr procs.End
	dropped        []string // variables of the environment that it did not get
}

// run runs a program to its end, or kills it if ctx ends or its time is over; nothing that it started runs on. The error
// is why it did not run to its end.
func (p process) run(ctx context.Context) (f finished, err error) {
	f = finished{stdout: procs.End{Most: maxOutput}, stderr: procs.End{Most: maxOutput}}
	none := fmt.Errorf("there is no program %s", p.argv[0])
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	program, err := approval.Program(p.dir, p.argv[0])
	if err != nil {
		return f, cmp.Or(p.withheld(), none)
	}
	c := procs.Command{Args: p.argv, Path: program, Dir: p.dir, Stdin: strings.NewReader(p.stdin), Stdout: &f.stdout, Stderr: &f.stderr}
	c.Env, f.dropped = childEnv()
	if err := p.withheld(); err != nil { // the last thing before the start
		return f, err
	}
	exit, err := c.Run(ctx)
	switch {
	case ctx.Err() != nil:
		return f, fmt.Errorf("%s did not end within %s", p.argv[0], p.timeout)
	case err == nil:
		f.code = exit.Code
		return f, nil
	case errors.Is(err, os.ErrNotExist):
		return f, none
	}
	return f, fmt.Errorf("%s cannot be run: %w", p.argv[0], err)
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
