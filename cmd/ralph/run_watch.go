package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"syscall"
	"time"

	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/state"
)

// listRuns lists the runs of the project.
func (a *app) listRuns(p *project.Project, f runFlags) error {
	all, err := p.Runs()
	if err != nil {
		return err
	}
	if f.format == "json" {
		return a.encodeJSON(append([]run.Info{}, all...)) // none is [], not null
	}
	if len(all) == 0 {
		fmt.Fprintf(a.stdout, "no runs in %s\n", p.Dir())
	}
	for _, info := range all {
		state := stateWords(info)
		if info.Ended != "" {
			state = endWords(info.Ended)
		}
		fmt.Fprintf(a.stdout, "%s  %-9s  %-14s  %s  %s\n", info.ID, info.Client, plural(info.Totals.Iterations, "iteration"), project.Short(info.Policy), state)
	}
	return nil
}

// stateWords says what a run does that has not ended.
func stateWords(info run.Info) string {
	switch {
	case !info.Running:
		return "killed; go on with: ralph run --resume=" + info.ID
	case info.Waiting == "":
		return "running"
	case info.Until == nil:
		return "waiting: " + info.Waiting
	}
	return fmt.Sprintf("waiting until %s: %s", clock(*info.Until, info.Latest), info.Waiting)
}

// attach shows the events of a run that another process runs, until it ends. An agent can write the file of the events, so how the run
// ended is what ralph keeps of it.
func (a *app) attach(ctx context.Context, p *project.Project, f runFlags) error {
	info, err := p.FindRun(f.attach)
	if err != nil {
		return err
	}
	file, err := state.Files(info.Home).Open(path.Join(run.Dir, info.ID, "run.jsonl"))
	if err != nil {
		return fmt.Errorf("the events of the run cannot be read: %w", err)
	}
	defer file.Close()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	show := a.runView(f, info.Limits.Iterations, interruption{})
	defer show.close()
	events := eventReader{lines: bufio.NewReader(file)}
	for ctx.Err() == nil {
		ev, err := events.next()
		switch {
		case err == nil:
			show.event(ev)
			continue
		case !errors.Is(err, io.EOF):
			return err
		case !info.Running: // what it wrote before it ended was read
			if info.Ended == "" {
				return fmt.Errorf("the run was killed; go on with: ralph run --resume=%s", info.ID)
			}
			a.status = runStatus(info.Ended)
			return nil
		}
		if info, err = p.FindRun(info.ID); err != nil {
			return err
		}
		if info.Running {
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	}
	return nil
}

// maxEvent is how long an event may be; those of ralph are far shorter.
const maxEvent = 1 << 20

// eventReader reads the events of a file that still grows. It passes over what is none.
type eventReader struct {
	lines *bufio.Reader
	part  []byte
	long  bool
}

// next gives the next event, or io.EOF where no further line is whole yet.
func (r *eventReader) next() (ev run.Event, err error) {
	for {
		chunk, err := r.lines.ReadSlice('\n')
		if r.long = r.long || len(r.part)+len(chunk) > maxEvent; !r.long {
			r.part = append(r.part, chunk...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return ev, err
		}
		isEvent := !r.long && json.Unmarshal(r.part, &ev) == nil
		r.part, r.long = r.part[:0], false
		if isEvent {
			return ev, nil
		}
		ev = run.Event{}
	}
}
