package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// interrupts turns signals into the wishes of a person: the first Ctrl-C closes the channel, which ends a run after the iteration. A second
// one, a request to end, and a terminal that closes end ctx. A closed pipe or a full file becomes an error of a write.
func (a *app) interrupts(ctx context.Context) (<-chan struct{}, context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	first, signals := make(chan struct{}), make(chan os.Signal, 2)
	wanted := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		wanted = append(wanted, syscall.SIGHUP)
	}
	signal.Notify(signals, wanted...)
	reportWriteErrors()
	go func() {
		for pressed := false; ; pressed = true {
			select {
			case <-ctx.Done():
				return
			case s := <-signals:
				if pressed || s != os.Interrupt {
					cancel()
					return
				}
				fmt.Fprintln(a.stderr, "ralph: the run ends after this iteration; Ctrl-C again ends it now")
				close(first)
			}
		}
	}()
	return first, ctx, func() { signal.Stop(signals); cancel() }
}

// report returns what prints a line for each thing that happens in a run.
func (a *app) report(output string) func(run.Input, run.State) {
	return func(in run.Input, s run.State) {
		l := s.Plan.Limits
		switch in.Kind {
		case run.Begin:
			a.say("run %s: policy %s, at most %d iterations and %v: %s", s.Plan.ID, s.Plan.Name, l.Max, l.For, strings.Join(s.Plan.Args, " "))
			a.say("  the agent's output: %s", output)
		case run.Resume:
			a.say("run %s goes on after iteration %d of %d, with %v left", s.Plan.ID, s.Iteration, l.Max, (l.For - s.Spent.Elapsed).Round(time.Second))
		case run.Iterated:
			a.say("iteration %d of %d: %s", s.Iteration, l.Max, iterated(in.Iteration))
		case run.Decided:
			if in.Decision.Notice != "" {
				fmt.Fprintln(a.stdout, text.Clean(in.Decision.Notice))
			}
			for _, line := range in.Decision.Log {
				fmt.Fprintf(a.stderr, "ralph: %s\n", text.Line(line))
			}
		}
		if s.Phase == run.Resting && s.End == nil && in.Kind != run.Rested {
			a.say("it rests until %s", s.Until.Local().Format(time.DateTime))
		}
		if s.End != nil {
			a.end(s)
		}
	}
}

func (a *app) say(format string, args ...any) {
	fmt.Fprintln(a.stdout, text.Line(fmt.Sprintf(format, args...)))
}

// iterated returns how an iteration ended.
func iterated(it run.Iteration) string {
	s := fmt.Sprintf("%s in %v", strings.ReplaceAll(it.Outcome, "_", " "), it.Took.Round(time.Second/10))
	if it.Tokens > 0 {
		s += fmt.Sprintf(", %d tokens", it.Tokens)
	}
	if it.Cost != nil {
		s += fmt.Sprintf(", $%.2f", *it.Cost)
	}
	if len(it.Denied) > 0 {
		s += "; not allowed: " + strings.Join(it.Denied, ", ")
	}
	if it.Problem != "" {
		s += "; " + it.Problem
	}
	return text.Cut(s, 500)
}

// end says how a run ended, and how to go on.
func (a *app) end(s run.State) {
	line := string(s.End.Outcome)
	if s.End.Rule != "" {
		line += " by " + s.End.Rule
	}
	if s.End.Reason != "" {
		line += ": " + s.End.Reason
	}
	line += fmt.Sprintf(" (%d iterations, %v", s.Iteration, s.Spent.Elapsed.Round(time.Second))
	if s.Spent.Tokens > 0 {
		line += fmt.Sprintf(", %d tokens", s.Spent.Tokens)
	}
	if s.Spent.Cost > 0 {
		line += fmt.Sprintf(", $%.2f", s.Spent.Cost)
	}
	a.say("%s)", line)
	if s.End.Outcome != rules.Done {
		more := map[string]string{"--max": fmt.Sprintf(" --max %d", 2*s.Plan.Limits.Max), "--for": fmt.Sprintf(" --for %v", 2*s.Plan.Limits.For),
			"--budget": fmt.Sprintf(" --budget %g", 2*s.Plan.Limits.Budget)}[s.End.Rule]
		first := ""
		if s.End.Outcome == loop.Off {
			first = "ralph start; "
		}
		a.say("go on with: %sralph run --resume%s", first, more)
	}
}

// maxOutput bounds the file of what the agents of a run print.
const maxOutput = 64 << 20

// output is that file, of which the beginning is kept.
type output struct {
	*os.File
	left int64
}

func openOutput(home *project.Home, id string) (*output, error) {
	dir := filepath.Join(home.Dir, "runs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, id+".log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	at, err := f.Seek(0, io.SeekEnd)
	return &output{f, maxOutput - at}, err
}

func (o *output) Write(b []byte) (int, error) {
	n := len(b)
	if o.left -= int64(n); o.left < 0 {
		return n, nil
	}
	return o.File.Write(b)
}
