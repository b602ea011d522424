// Package process runs a program and ends it with everything that it started: the agent of a run, the programs of facts,
// effects and judges, and git.
//
// Killing a process group is not enough: coding agents start most shell tools in their own groups or sessions, which
// outlive them. The program therefore runs in its own session, and leftover processes are found and ended by their
// parents, sessions, a mark in the environment and, on Linux, a control group and a brand that they cannot remove. Only what
// has one of these is ended or waited for: a program that embeds ralph keeps its own children, and adopts orphans only
// while a command runs.
//
// Limits: on systems other than Linux and Windows, a process that left its parent, its group and its session before the
// program ended is not found; if this process is killed, only the program itself ends with it, and only on Linux, unless
// it has a watch. [Leftovers] finds the others later. On Linux, root can remove the brand, and what leaves its parent, group, session and
// environment within the first instant of the program has none: only a control group, where one can be made, finds it,
// unless it moves itself to another one. What another service starts for a program, such as a daemon of containers,
// belongs to that service.
//
// Start with [Command.Run].
package process

import (
	"cmp"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"time"
)

// Command is a program to run.
type Command struct {
	Args   []string  // the program and its arguments; a name without a slash is looked up in PATH
	Path   string    // the file of the program; "" is that of Args
	Dir    string    // "" is the working directory of this process
	Env    []string  // of the program, without the mark; the last of duplicate names counts
	Mark   string    // NAME=VALUE, set in its environment to identify what it starts; "" is one that no other command has
	Stdin  io.Reader // its input; nil is empty
	Stdout io.Writer
	Stderr io.Writer

	// Grace is how long the program may take to end after a request, before it is killed. 0 kills it immediately.
	Grace time.Duration

	// Asked says that on Linux the program gets the request, and no more, if this process dies: it has locks to remove.
	Asked bool

	// Started is called with the process ID once the program runs. It may be nil.
	Started func(ID)

	// Watch, if positive, has the program started by another process of this program's file, whose main calls [Watch] first.
	// That process ends the program, with everything that it started, once this one has ended, or has given no sign of life for
	// so long. Windows needs no other process for the first, and has none for the second.
	Watch time.Duration

	// Alive has the signs of life. If it is nil, this process gives them as long as it runs.
	Alive <-chan struct{}
}

// Own is the variable of the mark of a command that names none.
const Own = "RALPH_PROGRAM"

// ID identifies a process beyond its end, although systems reuse process IDs.
type ID struct {
	Pid   int    `json:"pid"`
	Start string `json:"start,omitempty"` // its start in the system's unit; "" if unknown
	Brand uint64 `json:"brand,omitempty"` // of it and its descendants; 0 if none
}

// Exit is how a program ended.
type Exit struct {
	Code   int    // exit status, -1 if a signal ended it
	Signal string // the signal, "" if none
	Left   int    // how many processes it left, which were ended
	Late   bool   // its watch ended it, because there was no sign of life
}

// String returns how a program ended, for people.
func (e Exit) String() string {
	if e.Signal != "" {
		return "signal " + e.Signal
	}
	return "exit status " + strconv.Itoa(e.Code)
}

// Run runs the program until it ends or ctx is done; then it requests its end, kills it after the grace period, and
// ends all processes that it left. When Run returns, none of them runs, and nothing more is written to Stdout and
// Stderr. The error is only that the program could not be started.
//
// Run is safe for concurrent use by commands with different marks. On Linux, this process adopts orphans of its
// descendants meanwhile.
func (c Command) Run(ctx context.Context) (exit Exit, err error) {
	if len(c.Args) == 0 {
		return exit, errors.New("there is no program to run")
	}
	c.Mark = cmp.Or(c.Mark, Own+"="+strconv.FormatUint(rand.Uint64(), 36))
	if c.Watch > 0 {
		return c.runWatched(ctx)
	}
	return c.runHere(ctx)
}

func (c Command) runHere(ctx context.Context) (exit Exit, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		// On Linux the program dies with the thread that started it, so keep the thread until the program has ended.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		exit, err = c.run(ctx)
	}()
	<-done
	return exit, err
}

func (c Command) run(ctx context.Context) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, err
	}
	cmd := exec.Command(cmp.Or(c.Path, c.Args[0]), c.Args[1:]...)
	if err := checkBatch(runtime.GOOS, cmd.Path, c.Args[1:]); err != nil {
		return Exit{}, err
	}
	cmd.Args[0] = c.Args[0]
	cmd.Dir = c.Dir
	cmd.Env = append(slices.Clip(c.Env), c.Mark) // the last of duplicate names counts
	tree, err := newTree(cmd, c.Mark, c.Asked)
	if err != nil {
		return Exit{}, err
	}
	defer tree.close()
	cmd.Stdout, cmd.Stderr = lasting(c.Stdout), lasting(c.Stderr)
	cmd.Stdin = c.Stdin
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
		// Wait of exec.Cmd would also wait for processes that hold the pipes, such as orphans.
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
	_ = cmd.Wait() // closes the pipes: the program has ended
	return exit, nil
}

// afterEnd is how long to read the pipes after all known processes have ended, in case another one holds them open.
const afterEnd = time.Second

// lasting returns a writer that discards what w does not accept: the program would end, or block, at a pipe that is not
// read.
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
