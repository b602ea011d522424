package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/state"
)

// interruption is how a run is interrupted.
type interruption struct {
	first chan struct{}           // closed by the first Ctrl-C
	note  chan string             // what to report of that
	now   context.CancelCauseFunc // ends the run at once
}

// interruptions turns signals into interruptions. What ends a run at once is the second Ctrl-C, a request to end, and a
// terminal that is closed. The context that it gives is done then.
func interruptions(ctx context.Context) (interruption, context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	in := interruption{first: make(chan struct{}), note: make(chan string, 1), now: cancel}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // as nohup does
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		for pressed := false; ; pressed = true {
			select {
			case <-ctx.Done():
				return
			case s := <-signals:
				switch {
				case s != os.Interrupt:
					cancel(fmt.Errorf("signal %s", s))
					return
				case pressed:
					cancel(errors.New("Ctrl-C was pressed twice"))
					return
				}
				in.note <- "the run ends after this iteration; press Ctrl-C again to end it now"
				close(in.first)
			}
		}
	}()
	return in, ctx, func() { signal.Stop(signals); cancel(nil) }
}

// outlet ends the run once stdout has no reader any more, where the process would be killed and the agent's processes left over.
type outlet struct {
	io.Writer
	now context.CancelCauseFunc
}

func (o outlet) Write(b []byte) (int, error) {
	n, err := o.Writer.Write(b)
	if errors.Is(err, syscall.EPIPE) {
		o.now(errors.New("its output has no reader any more"))
	}
	return n, err
}

// withOutlet puts an outlet beneath the screen of an output.
func withOutlet(w io.Writer, now context.CancelCauseFunc) io.Writer {
	return &screen{to: outlet{unscreened(w), now}}
}

// runControl asks whether the run was stopped, and whether it, its policy, or every policy is paused in the project.
func (a *app) runControl(own *store.Store, project, policy string, id func() string) func() run.Control {
	return func() run.Control {
		if own.RunEnding(id()) {
			return run.Leave
		}
		if _, off := workspace.Off(project, noEnv); off {
			return run.Pause
		}
		pauses, err := own.Pauses(project)
		if err != nil {
			return run.GoOn
		}
		for _, p := range pauses {
			if p.Covers(policy, run.Session(id())) {
				return run.Pause
			}
		}
		return run.GoOn
	}
}

// runView shows what happens in a run. One goroutine writes, between event and close.
type runView struct {
	out    io.Writer
	errs   io.Writer // for notes
	json   bool
	live   func() int // width of the terminal, nil if there is none
	max    int        // iterations
	events chan run.Event
	notes  <-chan string
	tick   <-chan time.Time // the time in the line goes on
	done   chan struct{}

	shown  bool // a line that is to be replaced stands there
	start  time.Time
	at     time.Time // now
	totals run.Totals
	what   string    // the agent or ralph is at
	until  time.Time // it waits
	doing  string
	far    string // how far the work is
	bar    string
}

// runView begins to show a run of at most so many iterations, 0 for the default.
// One that is only watched is not interrupted.
func (a *app) runView(f runFlags, most int, in interruption) *runView {
	v := &runView{out: a.stdout, errs: a.stderr, json: f.format == "json", notes: in.note, max: cmp.Or(most, run.DefaultIterations)}
	stop := func() {}
	if file, ok := a.terminal(a.stdout); ok && !v.json {
		v.live = func() int {
			width, _, err := term.GetSize(int(file.Fd()))
			if err != nil || width < 1 {
				width = 80
			}
			return width
		}
		ticker := time.NewTicker(time.Second)
		v.tick, stop = ticker.C, ticker.Stop
	}
	if in.now != nil {
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // else a write to a closed pipe kills the process
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

// close ends the view, once all is shown.
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
		v.line("%s (%s)", text, used(ev.Totals))
		if ev.Left > 0 {
			v.line("  it left %s behind, which ralph ended", plural(ev.Left, "process"))
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
		v.line("%s: %s", endWords(ev.Ended), ev.Why)
		words := []string{plural(ev.Totals.Iterations, "iteration"), used(ev.Totals)}
		if v.far != "" {
			words = append(words, v.far)
		}
		v.line("%s", strings.Join(words, "; "))
		if text := outcomes(ev.Totals.Outcomes); text != "" {
			v.line("outcomes: %s", text)
		}
		switch {
		case ev.Ended == run.Stopped && ev.Rule == "" && ev.Totals.Iterations == 0:
			v.line("nothing was done; if the policy works by a loop file, start its loop first, see: ralph start --help")
		case ev.Ended != run.Success && ev.Seq > 0:
			v.line("go on with: ralph run --resume=%s", ev.Run)
		}
	}
	v.status()
}

// outcomes counts how the iterations of a run ended, the most frequent first; "" if all are ok.
func outcomes(n map[run.Outcome]int) string {
	if n[run.OK] == 0 && len(n) == 0 || n[run.OK] > 0 && len(n) == 1 {
		return ""
	}
	all := slices.SortedFunc(maps.Keys(n), func(a, b run.Outcome) int {
		return cmp.Or(cmp.Compare(n[b], n[a]), cmp.Compare(a, b))
	})
	words := make([]string, len(all))
	for i, o := range all {
		words[i] = fmt.Sprintf("%d %s", n[o], o)
	}
	return strings.Join(words, ", ")
}

// bar is a picture of how far the work is, "" if there is none to do.
func bar(done, total float64) string {
	const width = 10
	if !(total > 0) {
		return ""
	}
	full := int(min(max(done/total, 0), 1) * width)
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

// outcomeWords says how an iteration ended.
func outcomeWords(ev run.Event) string {
	words := map[run.Outcome]string{
		run.OK: "is done", run.RateLimited: "met a rate limit", run.Auth: "could not sign in", run.Billing: "could not be paid",
		run.TurnLimit: "reached a limit of the client", run.ContextOverflow: "overflowed its context", run.OverBudget: "reached the client's budget",
		run.Timeout: "took too long", run.Crashed: "failed", run.Interrupted: "was interrupted", run.Lost: "was lost with the runner",
	}[ev.Outcome]
	if words == "" {
		words = string(ev.Outcome)
	}
	if ev.Counted != nil && !*ev.Counted {
		words += " and does not count"
	}
	return words
}

// endWords says how a run ended.
func endWords(e run.End) string {
	words := map[run.End]string{
		run.Success: "done", run.Stopped: "stopped", run.AtLimit: "limit reached", run.NoProgress: "no progress", run.NoReset: "rate limit",
		run.NoAccess: "no access", run.TooManyFail: "the agent keeps failing", run.Cancelled: "interrupted", run.Failed: "failed",
	}[e]
	if words == "" {
		words = string(e)
	}
	return words
}

// clock is a time as the user's clock shows it, with the day where that is not today.
func clock(at, now time.Time) string {
	at, now = at.Local(), now.Local()
	if at.YearDay() == now.YearDay() && at.Year() == now.Year() {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// used is what a run has used so far.
func used(t run.Totals) string {
	words := []string{t.Elapsed.Round(time.Second).String()}
	if t.Tokens > 0 {
		words = append(words, thousands(t.Tokens)+" tokens")
	}
	if t.Cost != nil {
		words = append(words, fmt.Sprintf("$%.2f", *t.Cost))
	}
	return strings.Join(words, ", ")
}

// thousands is a number in few digits.
func thousands(n int) string {
	switch {
	case n >= 1_000_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1_000:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprint(n)
}

// line prints a line that stays.
func (v *runView) line(format string, args ...any) {
	v.clear()
	fmt.Fprintln(v.out, visible(fmt.Sprintf(format, args...)))
}

// status replaces the line about what goes on.
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
	fmt.Fprint(v.out, cut(visible(strings.Join(words, " · ")), max(v.live()-1, 1)))
	v.shown = true
}

func (v *runView) clear() {
	if v.shown {
		v.erase()
		v.shown = false
	}
}

// erase empties the line of the terminal.
func (v *runView) erase() { fmt.Fprint(unscreened(v.out), "\r\x1b[2K") }

// notify runs the user's command at the end of a run.
func (a *app) notify(ctx context.Context, line string, last run.Event) error {
	if line == "" {
		return nil
	}
	var args []string
	for _, w := range shellWords(line) {
		args = append(args, w.text)
	}
	if len(args) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(),
		"RALPH_RUN_ID="+last.Run, "RALPH_RUN_ENDED="+string(last.Ended), "RALPH_RUN_WHY="+visible(last.Why), fmt.Sprintf("RALPH_RUN_ITERATIONS=%d", last.Totals.Iterations))
	cmd.Stdout, cmd.Stderr = unscreened(a.stderr), unscreened(a.stderr)
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		fmt.Fprintf(a.stderr, "ralph: --notify: %v\n", err)
	}
	return nil
}

// listRuns lists the runs of the project.
func (a *app) listRuns(own *store.Store, project string, f runFlags) error {
	all, err := run.List(own.Dir(), project)
	if err != nil {
		return err
	}
	if f.format == "json" {
		return a.encodeJSON(append([]run.Info{}, all...)) // none is [], not null
	}
	if len(all) == 0 {
		fmt.Fprintf(a.stdout, "no runs in %s\n", project)
	}
	for _, info := range all {
		state := stateWords(info)
		if info.Ended != "" {
			state = endWords(info.Ended)
		}
		fmt.Fprintf(a.stdout, "%s  %-9s  %-14s  %s  %s\n", info.ID, info.Client, plural(info.Totals.Iterations, "iteration"), shortPolicy(info.Policy), state)
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
func (a *app) attach(ctx context.Context, own *store.Store, project string, f runFlags) error {
	info, err := runToWatch(own, project, f.attach)
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
		if info, err = run.Find(own.Dir(), info.ID); err != nil {
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
