package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/run"
)

// runView shows the events of a run. One goroutine writes, between event and close.
type runView struct {
	out    io.Writer
	errs   io.Writer // for notes
	json   bool
	live   func() int // width of the terminal, nil if there is none
	max    int        // iterations
	bounds string     // what ends it at the latest
	events chan run.Event
	notes  <-chan string
	tick   <-chan time.Time // updates the time in the line
	done   chan struct{}

	shown  bool // a replaceable line is shown
	start  time.Time
	at     time.Time // now
	totals run.Totals
	what   string    // the current activity
	until  time.Time // end of the wait
	doing  string
	far    string // progress
	bar    string
}

// runView starts to show a run of at most most iterations. A run that is only watched is not interrupted.
func (a *app) runView(f runFlags, most int, bounds string, in interruption) *runView {
	v := &runView{out: a.stdout, errs: a.stderr, json: f.format == "json", notes: in.note, max: most, bounds: bounds}
	stop := func() {}
	if file, ok := a.terminal(a.stdout); ok && !v.json {
		v.live = func() int { return widthOf(file) }
		ticker := time.NewTicker(time.Second)
		v.tick, stop = ticker.C, ticker.Stop
	}
	if in.now != nil {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // otherwise writing to a closed pipe kills the process
		v.out = withOutlet(v.out, in.now)
	}
	v.begin(stop)
	return v
}

func (v *runView) begin(end func()) {
	v.events, v.done = make(chan run.Event), make(chan struct{})
	go func() {
		defer close(v.done)
		defer end()
		for {
			select {
			case ev, ok := <-v.events:
				if !ok {
					v.clear()
					return
				}
				v.write(ev)
			case text := <-v.notes:
				v.clear()
				fmt.Fprintf(v.errs, "ralph: %s\n", text)
				v.status()
			case v.at = <-v.tick:
				v.status()
			}
		}
	}()
}

// event shows an event.
func (v *runView) event(ev run.Event) { v.events <- ev }

// close ends the view, once everything is shown.
func (v *runView) close() {
	close(v.events)
	<-v.done
}

func (v *runView) write(ev run.Event) {
	if v.json {
		if line, err := json.Marshal(ev); err == nil {
			fmt.Fprintf(v.out, "%s\n", line)
		}
		return
	}
	v.at = ev.Time
	if v.start.IsZero() {
		v.start = ev.Time
	}
	if ev.Totals.Elapsed > 0 {
		v.totals, v.start = ev.Totals, ev.Time.Add(-ev.Totals.Elapsed)
	}
	switch ev.Kind {
	case run.RunStart, run.RunResume:
		verb := "started"
		if ev.Kind == run.RunResume {
			verb = "resumed"
		}
		v.line("run %s %s: %s, policy %s, client %s", ev.Run, verb, strings.Join(ev.Args, " "), ev.Policy, ev.Client)
		v.line("  %s", v.bounds)
	case run.IterationStart:
		v.what, v.until, v.doing = fmt.Sprintf("iteration %d of %d", ev.Iteration, v.max), time.Time{}, ""
		if v.live == nil {
			v.line("%s started", v.what)
		}
	case run.AgentOutput:
		v.doing = ev.Shown
	case run.IterationEnd:
		text := fmt.Sprintf("iteration %d %s", ev.Iteration, outcomeWords(ev))
		if ev.Problem != "" {
			text += ": " + ev.Problem
		}
		v.line("%s (%s in all)", text, used(ev.Totals))
		if ev.Left > 0 {
			v.line("  it left %s behind, which ralph ended", amount.Of(ev.Left, "process"))
		}
		v.what = ""
	case run.VerdictMade:
		if ev.Done != nil && ev.Total != nil {
			v.far, v.bar = measured(*ev.Done, *ev.Total), bar(*ev.Done, *ev.Total)
			if v.live == nil {
				v.line("  %s", v.far)
			}
		}
		for _, n := range ev.Notices {
			v.line("  %s", n)
		}
	case run.Waiting:
		v.what, v.until, v.doing = "paused", time.Time{}, ""
		if ev.Until != nil {
			v.what, v.until = "waiting", *ev.Until
			v.line("waiting until %s: %s", clock(*ev.Until, ev.Time), ev.Why)
		} else {
			v.line("waiting: %s", ev.Why)
		}
	case run.RunEnd:
		v.what = ""
		v.line("%s", closing(ev))
		words := []string{amount.Of(ev.Totals.Iterations, "iteration"), used(ev.Totals)}
		if v.far != "" {
			words = append(words, v.far)
		}
		v.line("%s", strings.Join(words, "; "))
		if text := outcomes(ev.Totals.Outcomes); text != "" {
			v.line("outcomes: %s", text)
		}
	}
	v.status()
}

// line prints a line that stays.
func (v *runView) line(format string, args ...any) {
	v.clear()
	fmt.Fprintln(v.out, escape.Line(fmt.Sprintf(format, args...)))
}

// status replaces the line about the current activity.
func (v *runView) status() {
	if v.live == nil || v.what == "" {
		return
	}
	words := []string{v.what}
	if !v.until.IsZero() {
		words[0] += ", " + max(v.until.Sub(v.at), 0).Round(time.Second).String() + " left"
	}
	t := v.totals
	t.Elapsed = v.at.Sub(v.start)
	words = append(words, used(t))
	if v.far != "" {
		words = append(words, strings.TrimSpace(v.bar+" "+v.far))
	}
	if v.doing != "" {
		words = append(words, v.doing)
	}
	v.erase()
	fmt.Fprint(v.out, cut(escape.Line(strings.Join(words, " · ")), max(v.live()-1, 1)))
	v.shown = true
}

func (v *runView) clear() {
	if v.shown {
		v.erase()
		v.shown = false
	}
}

// erase clears the terminal's line.
func (v *runView) erase() { fmt.Fprint(unscreened(v.out), "\r\x1b[2K") }
