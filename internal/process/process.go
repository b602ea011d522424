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
	"os"
	"os/exec"
	"runtime"
	"slices"
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
	// The pipes are made here, since exec.Cmd would wait for all who hold them, also for orphans.
	var copies []*copying
	for _, out := range []struct {
		to io.Writer
		of *io.Writer
	}{{c.Stdout, &cmd.Stdout}, {c.Stderr, &cmd.Stderr}} {
		if out.to == nil {
			continue
		}
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(copies)
			return Exit{}, err
		}
		*out.of = w
		copies = append(copies, &copying{from: r, end: w, to: out.to, done: make(chan struct{})})
	}
	feed, err := newFeeding(c.Stdin)
	if err != nil {
		closeAll(copies)
		return Exit{}, err
	}
	if feed != nil {
		cmd.Stdin = feed.end
	}
	if err := tree.start(cmd); err != nil {
		closeAll(copies)
		feed.close()
		return Exit{}, err
	}
	feed.start()
	for _, cp := range copies {
		cp.end.Close()
		go cp.copy()
	}
	if c.Started != nil {
		c.Started(tree.id(cmd.Process.Pid))
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // its state says how it ended
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
	exit := exitOf(cmd.ProcessState)
	exit.Left = tree.sweep(c.Grace)
	feed.close()
	for _, cp := range copies {
		cp.finish()
	}
	return exit, nil
}

// copying carries what a program writes.
type copying struct {
	from, end *os.File
	to        io.Writer
	done      chan struct{}
}

func (c *copying) copy() {
	defer close(c.done)
	if _, err := io.Copy(c.to, c.from); err != nil {
		_, _ = io.Copy(io.Discard, c.from) // else the program would stand still at a full pipe
	}
}

// afterEnd is how long the output is read after all processes have ended. Only one that was not found can hold it open.
const afterEnd = time.Second

func (c *copying) finish() {
	select {
	case <-c.done:
	case <-time.After(afterEnd):
	}
	c.from.Close()
	<-c.done
}

// feeding writes what a program reads. A program may end without reading it. The methods of nil do nothing.
type feeding struct {
	end, to *os.File
	text    string
	done    chan struct{}
}

func newFeeding(text string) (*feeding, error) {
	if text == "" {
		return nil, nil
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &feeding{end: r, to: w, text: text}, nil
}

func (f *feeding) start() {
	if f == nil {
		return
	}
	f.end.Close()
	f.done = make(chan struct{})
	go func() {
		defer close(f.done)
		_, _ = io.WriteString(f.to, f.text)
		f.to.Close()
	}()
}

// close ends what is still being written.
func (f *feeding) close() {
	if f == nil {
		return
	}
	f.end.Close()
	f.to.Close()
	if f.done != nil {
		<-f.done
	}
}

func closeAll(copies []*copying) {
	for _, c := range copies {
		c.from.Close()
		c.end.Close()
	}
}
