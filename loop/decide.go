package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/workspace"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/rules"
)

// Decision is what a loop says to one event. Get one from [Loop.Decide]. It is
// not safe for concurrent use.
type Decision struct {
	Policy  string // name of the policy
	Event   host.Event
	Time    time.Time      // of the event, by the loop's clock
	Root    string         // project root, "" if there is none
	Verdict *rules.Verdict // never nil
	Skipped string         // why the rules were not tried: loops are off, the event is not listed, the policy is not for it
	Notices []string       // for the user, in order; Apply adds to them
	Known   []string       // notices that the session saw before: for the log alone
	Notes   []string       // for the agent beside the prompt, on UserPromptSubmit only
	Log     []string       // finished lines for stderr; Apply adds to them
	Hint    string         // of the user, at the end of the verdict's reason; Apply adds it
	Applied bool           // memory was saved and the effects on facts were made
	Err     error          // the policy could not be followed; the verdict then is a stop
	Took    time.Duration  // of deciding

	id       string   // of its record, once there is one
	busy     string   // the run of the policy that is under way, another than that of the event
	prefix   string   // of log lines, without brackets
	private  []string // notices, notes and lines that show something private: the log keeps their sizes
	quotes   bool     // the error of an effect may quote something private
	gatherer *gatherer
	spent    bool // it was applied
}

// Decide decides an event and changes nothing. An event without a
// name is a Stop. Decide never fails and never panics: what keeps the policy from
// being followed is in the decision's Err, which lets the agent stop. That ctx is done
// or the deadline over before the decision is made is such an error.
func (l *Loop) Decide(ctx context.Context, ev host.Event) *Decision {
	ctx, cancel := l.within(ctx)
	defer cancel()
	d := l.decided(ctx, ev)
	d.close()
	return d
}

// decided is Decide, with the project left open.
func (l *Loop) decided(ctx context.Context, ev host.Event) *Decision {
	d := l.decision(ev)
	start := time.Now()
	l.decide(ctx, d)
	d.Took = time.Since(start)
	return d
}

// within bounds ctx by the deadline.
func (l *Loop) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, l.deadline, lateError(l.deadline))
}

func (d *Decision) close() {
	if d.gatherer != nil {
		d.gatherer.close()
	}
}

// decision is one that lets the agent stop.
func (l *Loop) decision(ev host.Event) *Decision {
	ev.Name = cmp.Or(ev.Name, host.Stop)
	d := &Decision{Policy: l.name, Event: ev, Verdict: &rules.Verdict{}, prefix: "ralph"}
	if l.program != nil {
		d.prefix = l.program.Prefix
	}
	return d
}

func (l *Loop) decide(ctx context.Context, d *Decision) {
	defer d.rescue()
	d.Time = l.now()
	if why, off := workspace.Off("", l.getenv); off {
		d.Skipped = why
		return
	}
	if l.broken == nil && !l.program.Handles(d.Event.Name) {
		d.Skipped = "the policy does not decide " + d.Event.Name
		return
	}
	if d.Event.NoSubagent() {
		d.Skipped = "the host names no type of the agent that ends, so it is no subagent"
		return
	}
	dir, err := l.root(d.Event)
	if err != nil {
		d.fail(err)
		return
	}
	d.Root = dir
	if why, off := workspace.Off(dir, l.getenv); off {
		d.Skipped = why
		return
	}
	switch paused, err := l.paused(dir, d.Event); {
	case err != nil:
		d.fail(err)
		return
	case paused:
		d.Skipped = "the loop is paused"
		return
	}
	switch run, err := l.liveRun(dir, d.Event); {
	case err != nil:
		d.fail(fmt.Errorf("it is not known whether a run is under way: %w", err))
		return
	case run != "" && run == l.getenv("RALPH_RUN"):
		d.Skipped = "the agent is that of run " + run + ", which decides"
		return
	default:
		d.busy = run
	}
	if l.broken != nil {
		d.fail(l.broken)
		return
	}
	if err := l.meet(d); err != nil {
		d.fail(err)
		return
	}
	err = d.gatherer.mem.load(ctx)
	if err == nil {
		d.evaluate(ctx)
	}
	switch {
	case ctx.Err() != nil:
		d.fail(interrupted(ctx))
	case err != nil:
		d.fail(err)
	case unusable(d.Verdict):
		d.fail(fmt.Errorf("%s; run: ralph check %s", d.Verdict.Problems[0], d.Policy))
	case d.Verdict.Idle && !d.Verdict.Changed && !d.noteworthy():
		d.close()
		d.gatherer = nil
	}
}

// meet opens the project of a decision.
func (l *Loop) meet(d *Decision) error {
	g := &gatherer{loop: l, ev: d.Event, now: d.Time, dir: d.Root, mem: memoryOf(l.store, d.Event, d.Root, l.name)}
	g.files.world, d.gatherer = g, g
	return g.open()
}

// paused reports whether the user paused the policy, or the session.
func (l *Loop) paused(root string, ev host.Event) (bool, error) {
	if l.disk == nil {
		return false, nil
	}
	pauses, err := l.disk.Pauses(root)
	if err != nil {
		return false, fmt.Errorf("it is not known whether the loop is paused: %w", err)
	}
	return slices.ContainsFunc(pauses, func(p store.Pause) bool { return p.Covers(l.name, ev.SessionID) }), nil
}

// liveRun returns the run of the policy that is under way in a project, where the event is not one of it.
func (l *Loop) liveRun(root string, ev host.Event) (id string, err error) {
	if l.disk == nil || ev.Run != "" {
		return "", nil
	}
	return l.disk.LiveRun(root, l.name)
}

// unusable reports whether the policy was for the event and the rest of it, which
// [rules.Config.Lazy] had put off, could not be loaded.
func unusable(v *rules.Verdict) bool {
	return v.Fault == rules.FaultRule && len(v.Trace.Steps) == 0 && (v.Trace.When == nil || v.Trace.When.Outcome == rules.Holds)
}

// noteworthy reports whether a decision that tried no rule is kept in the log: there is a
// loop that the session is not continued in, or something could not be used.
func (d *Decision) noteworthy() bool {
	return d.Verdict.Aside.Exists() || len(d.Verdict.Problems) > 0
}

// root gives the project root of an event, "" if the loop has none.
func (l *Loop) root(ev host.Event) (string, error) {
	if l.project == "" && !l.local {
		return "", nil
	}
	var files []string
	if workspace.Named(l.project, l.getenv) == "" {
		files = l.HeadFiles()
	}
	return workspace.Find(ev.Cwd, l.project, files, l.getenv)
}

// options are those of one evaluation.
func (d *Decision) options() rules.Options {
	o := rules.Options{Event: d.Event.Name, Run: d.Event.Run != "", Busy: d.busy, Policy: workspace.PolicyName(d.Policy), Watch: d.Event.Name == host.PreCompact && !host.BlocksCompaction(d.Event.Host), Time: d.Time, Turn: d.Event.Turn, NewTurn: d.Event.NewTurn, Trace: rules.TraceFull}
	if d.gatherer.loop.private {
		o.Trace = rules.TraceClear
	}
	return d.gatherer.mem.options(o)
}

// interrupted says that the time was up.
func interrupted(ctx context.Context) error {
	err := context.Cause(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("the decision was interrupted: %w", err)
}

// evaluate reads the files and tries the rules.
func (d *Decision) evaluate(ctx context.Context) {
	g := d.gatherer
	g.begin()
	d.Verdict = g.loop.program.Eval(ctx, g.facts(), d.options())
	if g.problem != "" {
		d.Verdict.Trace.Warnings = append(d.Verdict.Trace.Warnings, "transcript: "+g.problem)
	}
	if lines := g.missed(ctx); len(lines) > 0 && d.Verdict.Action == rules.Continue {
		d.Verdict.Reason = strings.TrimLeft(d.Verdict.Reason+"\n\n"+strings.Join(lines, "\n"), "\n")
	}
	d.Notices, d.Known, d.Notes, d.Log, d.private, d.quotes, d.Skipped = nil, nil, nil, nil, nil, false, ""
	if v := d.Verdict; v.Idle {
		d.Skipped, v.Reason = v.Reason, ""
		switch {
		case v.Show:
			d.notice(d.Skipped)
		case v.Aside.Exists():
			d.known(d.Skipped)
		}
	}
	for _, part := range d.Verdict.Parts {
		logged := len(d.Log)
		switch {
		case part.Notice == "":
		case part.Seen:
			d.Known = append(d.Known, part.Notice)
		default:
			d.Notices = append(d.Notices, part.Notice)
		}
		switch {
		case part.Note == "":
		case d.Event.Name == host.UserPromptSubmit:
			d.Notes = append(d.Notes, part.Note)
		default:
			d.Notices = append(d.Notices, part.Note)
		}
		d.logLines(part.Log)
		if part.Private {
			d.private = append(append(d.private, part.Notice, part.Note), d.Log[logged:]...)
		}
	}
	for _, p := range d.Verdict.Problems {
		if p.Seen {
			d.known(p.Text)
		} else {
			d.notice(p.Text)
		}
		if p.Private {
			d.private = append(d.private, "["+d.prefix+"] "+p.Text)
		}
	}
	if g.budget.Late() {
		d.notice(fmt.Sprintf("reading files took longer than %s in all; what was not looked at counts as absent", maxFileTime))
	}
	if g.mem.problem != "" {
		d.notice(g.mem.problem)
	}
	if !d.Verdict.Idle {
		for _, name := range g.loop.stray() {
			d.notice(fmt.Sprintf("the value %q is neither a fact of the policy nor one of ralph's names", name))
		}
	}
}

// logLines adds a text to the lines for stderr, each with the policy's prefix.
func (d *Decision) logLines(text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		d.Log = append(d.Log, "["+d.prefix+"] "+line)
	}
}

// notice adds a notice for the user that no rule says.
func (d *Decision) notice(message string) {
	d.Notices = append(d.Notices, "["+d.prefix+"] "+message)
}

// known adds a notice that the session saw before.
func (d *Decision) known(message string) {
	d.Known = append(d.Known, "["+d.prefix+"] "+message)
}

// fail lets the agent stop and keeps the reason.
func (d *Decision) fail(err error) {
	d.Err = err
	d.Verdict = &rules.Verdict{Fault: d.Verdict.Fault, Reason: err.Error(), Private: d.quotes, Trace: d.Verdict.Trace, Cost: d.Verdict.Cost}
	t := host.Trouble(d.prefix, d.Event.Name, fmt.Errorf("%s: %w", d.Policy, err))
	d.Notices, d.Known, d.Notes, d.Log = []string{t.Notice}, nil, nil, t.Log
	if d.quotes {
		d.private = append(append(d.private, t.Notice), t.Log...)
	}
}
