//go:build unix

package process

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// A watch is a process of this program's own file. It gets the command as JSON on a pipe, runs it with [Command.Run], as
// any process does, and reports on another one. What follows the command on the first pipe are signs of life.

const (
	watchVariable = "RALPH_WATCH" // is set in the environment of a watch
	controlFile   = 3
	reportsFile   = 4
)

// signsOfLife is how many signs of life can be missed. The watch counts the intervals instead of measuring the time, so
// a pause in which it did not run, such as that of a machine that sleeps, is not one of this process.
const signsOfLife = 12

var errLate = errors.New("the process that started the program has shown no sign of life")

// order is a command as a watch gets it. Arguments, variables and paths need not be UTF-8.
type order struct {
	Args, Env    [][]byte
	Path, Dir    []byte
	Mark         string
	Grace, Watch time.Duration
	Asked        bool
}

func (c Command) order() order {
	return order{convert[[]byte](c.Args), convert[[]byte](c.Env), []byte(c.Path), []byte(c.Dir), c.Mark, c.Grace, c.Watch, c.Asked}
}

func (o order) command() Command {
	return Command{Args: convert[string](o.Args), Env: convert[string](o.Env), Path: string(o.Path), Dir: string(o.Dir), Mark: o.Mark, Grace: o.Grace, Asked: o.Asked}
}

func convert[To, From string | []byte](all []From) []To {
	to := make([]To, len(all))
	for i, text := range all {
		to[i] = To(text)
	}
	return to
}

// report is what a watch reports: that the program was started, or not, then how it ended.
type report struct {
	ID   *ID    `json:"id,omitempty"`
	Err  string `json:"err,omitempty"`
	Exit *Exit  `json:"exit,omitempty"`
}

// Watch is the whole program of a watch, and does not return in one. In any other process it does nothing.
func Watch() {
	if os.Getenv(watchVariable) == "" {
		return
	}
	syscall.CloseOnExec(controlFile) // the program has neither
	syscall.CloseOnExec(reportsFile)
	// Only the end of the pipe ends it. Not ignored, which the program would inherit.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGPIPE)
	if err := watch(os.NewFile(controlFile, "control"), os.NewFile(reportsFile, "reports")); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

func watch(control io.Reader, reports io.Writer) error {
	var o order
	in, out := json.NewDecoder(control), json.NewEncoder(reports)
	if err := in.Decode(&o); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	signs := make(chan struct{})
	go func() {
		defer close(signs)
		for b := make([]byte, 64); ; signs <- struct{}{} {
			if _, err := control.Read(b); err != nil {
				return
			}
		}
	}()
	go func() {
		tick := time.NewTicker(o.Watch / signsOfLife)
		for silent := 0; ; {
			select {
			case _, ok := <-signs:
				if silent = 0; !ok {
					cancel(nil)
					return
				}
			case <-tick.C:
				if silent++; silent > signsOfLife {
					cancel(errLate)
				}
			}
		}
	}()
	c := o.command()
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Started = func(id ID) { _ = out.Encode(report{ID: &id}) }
	exit, err := c.Run(ctx)
	if err != nil {
		return out.Encode(report{Err: err.Error()})
	}
	exit.Late = errors.Is(context.Cause(ctx), errLate)
	return out.Encode(report{Exit: &exit})
}

// runWatched runs the program in a watch.
func (c Command) runWatched(ctx context.Context) (Exit, error) {
	if err := ctx.Err(); err != nil {
		return Exit{}, err
	}
	cmd, control, reports, err := c.startWatch()
	if err != nil {
		return Exit{}, err
	}
	defer reports.Close()
	defer control.Close()
	ended := make(chan struct{})
	defer close(ended)
	go c.live(control, ended)
	reported := make(chan report)
	go func() {
		defer close(reported)
		for in := json.NewDecoder(reports); ; {
			var r report
			if in.Decode(&r) != nil {
				return
			}
			select {
			case reported <- r:
			case <-ended:
				return
			}
		}
	}()

	var id *ID
	var last report
	done, stuck := ctx.Done(), (<-chan time.Time)(nil)
	for open := true; open; {
		select {
		case r, ok := <-reported:
			switch open = ok; {
			case !ok:
			case r.ID == nil:
				last = r
			default:
				if id = r.ID; c.Started != nil {
					c.Started(*id)
				}
			}
		case <-done:
			control.Close()
			done, stuck = nil, time.After(2*c.Grace+stubborn+2*afterEnd)
		case <-stuck: // a program can stop its own watch
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait()
	switch {
	case last.Exit != nil:
		return *last.Exit, nil
	case last.Err != "":
		return Exit{}, errors.New(last.Err)
	case id == nil:
		return Exit{}, errors.New("the watch process did not start the program: call its function first in main")
	}
	// Something killed the watch, and on Linux with it the program.
	return Exit{Code: -1, Signal: syscall.SIGKILL.String(), Left: Leftovers(*id, c.Mark, c.Grace)}, nil
}

// startWatch starts a watch. It returns this process's ends of the pipes.
func (c Command) startWatch() (cmd *exec.Cmd, control, reports *os.File, err error) {
	file, err := executable()
	if err != nil {
		return nil, nil, nil, err
	}
	in, control, err := os.Pipe()
	if err != nil {
		return nil, nil, nil, err
	}
	defer in.Close()
	reports, out, err := os.Pipe()
	if err != nil {
		control.Close()
		return nil, nil, nil, err
	}
	defer out.Close()
	cmd = exec.Command(file)
	cmd.Args = []string{os.Args[0], "watch", c.Args[0]} // for people who list processes; a program may look at its name
	cmd.Env = append(os.Environ(), watchVariable+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, lasting(c.Stdout), lasting(c.Stderr)
	cmd.ExtraFiles = []*os.File{in, out}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // a key in the terminal does not reach it
	cmd.WaitDelay = afterEnd
	if err = cmd.Start(); err != nil {
		control.Close()
		reports.Close()
	}
	return cmd, control, reports, err
}

// live sends the command, then signs of life.
func (c Command) live(control io.Writer, ended <-chan struct{}) {
	if json.NewEncoder(control).Encode(c.order()) != nil {
		return
	}
	tick := time.NewTicker(c.Watch / signsOfLife)
	defer tick.Stop()
	own := tick.C
	if c.Alive != nil {
		own = nil
	}
	for {
		select {
		case <-ended:
			return
		case _, ok := <-c.Alive:
			if !ok {
				return
			}
		case <-own:
		}
		if _, err := control.Write([]byte{'\n'}); err != nil {
			return
		}
	}
}
