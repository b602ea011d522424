// Package process runs a program and ends it with all that it started.
//
// Killing a process group is not enough for coding agents: most start their shell tools in groups or sessions of their
// own, which outlive them. So the program gets a session of its own, what it leaves behind is found by its parents, its
// sessions, a mark in its environment and, on Linux, a brand that it cannot take off, and is ended too. It also ends if this
// process dies.
//
// What is left out: on systems other than Linux and Windows, a process that left its parent, its group and its session
// before the program ended is not found; if this process is killed, only the program itself ends with it, and only on Linux.
// [Leftovers] finds those later. On Linux, root can take the brand off.
//
// Start with [Command.Run].
package process

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// Command is a program to run.
type Command struct {
	Args   []string // the program and its arguments; a name without a slash is looked up in PATH
	Dir    string   // "" is that of this process
	Env    []string // of the program, beside the mark; of a name that is there twice, the last value counts
	Mark   string   // NAME=VALUE that is set in its environment and names the run; required
	Stdin  string   // what it can read there, before the end; "" closes it
	Stdout io.Writer
	Stderr io.Writer

	// Grace is how long the program has to end by itself after it was asked to, before it is killed. 0 kills at once.
	Grace time.Duration

	// Started is called with the id of the process once it runs, nil for nothing.
	Started func(ID)
}

// ID names a process beyond its end: process ids are used again.
type ID struct {
	Pid   int    `json:"pid"`
	Start string `json:"start,omitempty"` // when it started, as the system counts; "" if it does not say
	Brand uint64 `json:"brand,omitempty"` // that it and all that it starts have; 0 if there is none
}

// Exit is how a program ended.
type Exit struct {
	Code   int    // exit status, -1 if it was ended by a signal
	Signal string // that ended it, "" if none
	Left   int    // processes that it left behind, and that were ended
}

// Run runs the program until it ends or ctx is done; then it asks it to end, kills it after the grace, and ends all that
// it left behind. When Run returns, nothing of it runs any more, and Stdout and Stderr are written no more. The error is that
// the program could not be started; what it did is no error.
//
// Run is safe for concurrent use by commands with different marks. On Linux, it makes this process the one that adopts
// orphans of its descendants.
func (c Command) Run(ctx context.Context) (exit Exit, err error) {
	if len(c.Args) == 0 {
		return exit, errors.New("there is no program to run")
	}
	active.Add(1)
	defer active.Add(-1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		// On Linux the program dies with the thread that started it, so that thread lives as long. It is not unlocked
		// before the program has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		exit, err = c.run(ctx)
	}()
	<-done
	return exit, err
}

// active is how many commands this process runs.
var active atomic.Int32

func (c Command) run(ctx context.Context) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, err
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = append(slices.Clip(c.Env), c.Mark) // of a name that is there twice, the last value counts
	tree, err := newTree(cmd, c.Mark)
	if err != nil {
		return Exit{}, err
	}
	defer tree.close()
	cmd.Stdout, cmd.Stderr = lasting(c.Stdout), lasting(c.Stderr)
	if c.Stdin != "" {
		cmd.Stdin = strings.NewReader(c.Stdin)
	}
	cmd.WaitDelay = afterEnd
	if err := tree.start(cmd); err != nil {
		return Exit{}, err
	}
	if c.Started != nil {
		c.Started(tree.id(cmd.Process.Pid))
	}
	exit := Exit{Code: -1}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// Wait of exec.Cmd would also wait for all who hold the pipes, such as orphans.
		if state, err := cmd.Process.Wait(); err == nil {
			exit = exitOf(state)
		}
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		if c.Grace > 0 {
			tree.ask()
			select {
			case <-ended:
			case <-time.After(c.Grace):
			}
		}
		tree.kill()
		<-ended
	}
	exit.Left = tree.sweep(c.Grace)
	_ = cmd.Wait() // for the pipes: the program has ended
	return exit, nil
}

// afterEnd is how long the pipes are read after all processes have ended. Only one that was not found can hold them open.
const afterEnd = time.Second

// lasting returns a writer that takes all that w does not: the program would end, or stand still, at a pipe that is not read.
func lasting(w io.Writer) io.Writer {
	if w == nil {
		return nil
	}
	return &lastingWriter{to: w}
}

type lastingWriter struct {
	to     io.Writer
	failed bool
}

func (w *lastingWriter) Write(b []byte) (int, error) {
	if !w.failed {
		_, err := w.to.Write(b)
		w.failed = err != nil
	}
	return len(b), nil
}
