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

	feed  feed
	seen  seenRun
	shown bool // a replaceable line is shown
}

// feed is what a view shows.
type feed struct {
	events chan run.Event
	notes  <-chan string
	tick   <-chan time.Time // updates the time in the line
	done   chan struct{}
}

// seenRun is what the events so far say of a run.
type seenRun struct {
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
	v := &runView{out: a.stdout, errs: a.stderr, json: f.format == "json", feed: feed{notes: in.note}, max: most, bounds: bounds}
	stop := func() {}
	if file, ok := a.terminal(a.stdout); ok && !v.json {
		v.live = func() int { return widthOf(file) }
		ticker := time.NewTicker(time.Second)
		v.feed.tick, stop = ticker.C, ticker.Stop
	}
	if in.now != nil {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // otherwise writing to a closed pipe kills the process
		v.out = withOutlet(v.out, in.now)
	}
	v.begin(stop)
	return v
}

func (v *runView) begin(end func()) {
	v.feed.events, v.feed.done = make(chan run.Event), make(chan struct{})
	go func() {
		defer close(v.feed.done)
		defer end()
		for {
			select {
			case ev, ok := <-v.feed.events:
				if !ok {
					v.clear()
					return
				}
				v.write(ev)
			case text := <-v.feed.notes:
				v.clear()
				fmt.Fprintf(v.errs, "ralph: %s\n", text)
				v.status()
			case v.seen.at = <-v.feed.tick:
				v.status()
			}
		}
	}()
}

// event shows an event.
func (v *runView) event(ev run.Event) { v.feed.events <- ev }

// close ends the view, once everything is shown.
func (v *runView) close() {
	close(v.feed.events)
	<-v.feed.done
}

func (v *runView) write(ev run.Event) {
	if v.json {
		if line, err := json.Marshal(ev); err == nil {
			fmt.Fprintf(v.out, "%s\n", line)
		}
		return
	}
	v.seen.at = ev.Time
	if v.seen.start.IsZero() {
		v.seen.start = ev.Time
	}
	if ev.Totals.Elapsed > 0 {
		v.seen.totals, v.seen.start = ev.Totals, ev.Time.Add(-ev.Totals.Elapsed)
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
		v.seen.what, v.seen.until, v.seen.doing = fmt.Sprintf("iteration %d of %d", ev.Iteration, v.max), time.Time{}, ""
		if v.live == nil {
			v.line("%s started", v.seen.what)
		}
	case run.AgentOutput:
		v.seen.doing = ev.Shown
	case run.IterationEnd:
		text := fmt.Sprintf("iteration %d %s", ev.Iteration, outcomeWords(ev))
		if ev.Problem != "" {
			text += ": " + ev.Problem
		}
		v.line("%s (%s in all)", text, used(ev.Totals))
		for _, d := range ev.Denied {
			v.line("  denied: %s", strings.TrimSpace(d.Tool+" "+d.Input))
		}
		if ev.Left > 0 {
			v.line("  it left %s behind, which ralph ended", amount.Of(ev.Left, "process"))
		}
		v.seen.what = ""
	case run.VerdictMade:
		if ev.Done != nil && ev.Total != nil {
			v.seen.far, v.seen.bar = measured(*ev.Done, *ev.Total), bar(*ev.Done, *ev.Total)
			if v.live == nil {
				v.line("  %s", v.seen.far)
			}
		}
		for _, n := range ev.Notices {
			v.line("  %s", n)
		}
	case run.Waiting:
		v.seen.what, v.seen.until, v.seen.doing = "paused", time.Time{}, ""
		if ev.Until != nil {
			v.seen.what, v.seen.until = "waiting", *ev.Until
			v.line("waiting until %s: %s", clock(*ev.Until, ev.Time), ev.Why)
		} else {
			v.line("waiting: %s", ev.Why)
		}
	case run.RunEnd:
		v.seen.what = ""
		v.line("%s", closing(ev))
		words := []string{amount.Of(ev.Totals.Iterations, "iteration"), used(ev.Totals)}
		if v.seen.far != "" {
			words = append(words, v.seen.far)
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
	if v.live == nil || v.seen.what == "" {
		return
	}
	v.erase()
	fmt.Fprint(v.out, cut(escape.Line(v.seen.line()), max(v.live()-1, 1)))
	v.shown = true
}

// line returns the line about the current activity.
func (s *seenRun) line() string {
	words := []string{s.what}
	if !s.until.IsZero() {
		words[0] += ", " + max(s.until.Sub(s.at), 0).Round(time.Second).String() + " left"
	}
	t := s.totals
	t.Elapsed = s.at.Sub(s.start)
	words = append(words, used(t))
	if s.far != "" {
		words = append(words, strings.TrimSpace(s.bar+" "+s.far))
	}
	if s.doing != "" {
		words = append(words, s.doing)
	}
	return strings.Join(words, " · ")
}

func (v *runView) clear() {
	if v.shown {
		v.erase()
		v.shown = false
	}
}

// erase clears the terminal's line.
func (v *runView) erase() { fmt.Fprint(unscreened(v.out), "\r\x1b[2K") }
