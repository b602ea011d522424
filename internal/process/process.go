// Package process runs a program and ends it with everything that it started: the programs of facts, effects and judges, git,
// and the agent of a run.
//
// A program runs in a session of its own. When it has ended, or its time is over, what it left behind is killed: on Linux its
// descendants by parent, session and group, and the orphans that this process adopts while a command runs, so that a daemon which
// left its session is found too; on Windows the job object of the program; elsewhere its process group.
//
// An adopted orphan does not say who started it. It belongs to the command if it is in another session than this process and was no
// child of this process when the command began. While several commands run at once, such orphans are ended with the last of them. A
// program that embeds ralph must therefore not start processes in sessions of their own while a command runs, if they shall outlive it.
//
// Limits: outside of Linux and Windows, a process that left its group is not found. If this process is killed, the program itself ends
// with it on Linux, its whole job on Windows, and its group elsewhere on Unix only with Command.Guard. What another service starts for a
// program, such as a daemon of containers, belongs to that service.
//
// Start with [Find], then [Run].
package process

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// Command is a program to run. It gets a session of its own, no standard input but Stdin, and RALPH_OFF=1.
type Command struct {
	Path  string   // as Find returned it
	Args  []string // without the program
	Dir   string   // "" is the working directory of this process
	Env   []string // on top of the environment of this process; an entry without = removes a variable
	Stdin []byte   // nil is empty
	Limit int      // bytes of each stream that are kept, their beginning and end; 0 is 1 MiB
	Guard bool     // on Unix, the program's group ends also when this process is killed; it costs another process

	Stdout io.Writer // gets standard output as it comes, if not nil; its errors do not end the program
	Also   io.Writer // the same, with standard error too
}

// Result is how a program ended.
type Result struct {
	Code                   int           // exit status; 128 and the signal if a signal ended it
	Stdout, Stderr, Output []byte        // Output is both, as they were read, which is not exact; a line says how much was left out
	Took                   time.Duration // by the clock
}

// afterEnd is how long the pipes are read after all known processes have ended, in case another one holds them open.
const afterEnd = time.Second

// Run runs a program to its end, or until ctx is done; what it leaves behind ends with it. A program that ended with a status other
// than 0 is no error. The error is that it could not be started, or that it was ended because ctx was done; then it wraps the cause of
// ctx, and the result holds what the program wrote until then.
//
// Run is safe for concurrent use. Stdout and Also are called by one goroutine at a time, and not after Run returned.
func Run(ctx context.Context, c Command) (res Result, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		// On Linux the program is killed when the thread that started it ends, so keep the thread until the program has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		res, err = c.run(ctx)
	}()
	<-done
	return res, err
}

func (c Command) run(ctx context.Context) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	if err := checkBatch(runtime.GOOS, c.Path, c.Args); err != nil {
		return Result{}, err
	}
	out := newOutput(c.Limit, c.Stdout, c.Also)
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = c.Dir, environment(os.Environ(), c.Env), afterEnd
	cmd.Stdout, cmd.Stderr = &stream{out, &out.stdout}, &stream{out, &out.stderr}
	if len(c.Stdin) > 0 {
		cmd.Stdin = bytes.NewReader(c.Stdin)
	}
	tree, err := newTree(cmd)
	if err != nil {
		return Result{}, err
	}
	defer tree.close()
	var g *guard
	if c.Guard {
		if g, err = newGuard(cmd); err != nil {
			return Result{}, err
		}
		defer g.close()
	}
	begin := time.Now()
	if err := tree.start(cmd); err != nil {
		return Result{}, err
	}
	if err := g.open(cmd.Process.Pid); err != nil {
		tree.kill()
		_ = cmd.Wait()
		return Result{}, err
	}
	code, ended := -1, make(chan struct{})
	go func() {
		defer close(ended)
		// Wait of exec.Cmd would also wait for processes that hold the pipes, such as orphans.
		if state, err := cmd.Process.Wait(); err == nil {
			code = exitCode(state)
		}
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		tree.kill()
		<-ended
		err = fmt.Errorf("%s was ended: %w", filepath.Base(c.Path), context.Cause(ctx))
	}
	tree.sweep()
	_ = cmd.Wait() // closes the pipes; how the program ended is known
	res := out.close()
	res.Code, res.Took = code, time.Since(begin)
	return res, err
}

// environment returns the variables of a program.
func environment(own, changes []string) []string {
	env := slices.Clone(own)
	for _, change := range changes {
		if strings.Contains(change, "=") {
			env = append(env, change) // of duplicates the last counts
			continue
		}
		env = slices.DeleteFunc(env, func(v string) bool {
			name, _, _ := strings.Cut(v, "=")
			return name == change || runtime.GOOS == "windows" && strings.EqualFold(name, change)
		})
	}
	return append(env, "RALPH_OFF=1") // a hook inside of it decides nothing
}
