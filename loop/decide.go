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

// Decision is what a loop says to one event. [Loop.Run] and [Loop.Preview] return one. It
// is not safe for concurrent use.
type Decision struct {
	Policy  string // name of the policy
	Event   host.Event
	Time    time.Time      // of the event, by the loop's clock
	Root    string         // project root, "" if there is none
	Verdict *rules.Verdict // never nil
	Skipped string         // why the rules were not tried: loops are off, the event is not listed, the policy is not for it
	Notices []string       // for the user, in order; applying adds to them
	Known   []string       // notices that the session saw before: for the log alone
	Notes   []string       // for the agent beside the prompt, on UserPromptSubmit only
	Log     []string       // finished lines for stderr; applying adds to them
	Hint    string         // of the user, at the end of the verdict's reason; applying adds it
	Applied bool           // memory was saved and the effects on facts were made
	Retries int            // how often it was made again, since something changed meanwhile
	Err     error          // the policy could not be followed; the verdict then is a stop
	Took    time.Duration  // of deciding

	loop    *Loop          // that made it
	program *rules.Program // of the loop when the decision began, nil if there is none
	entered bool           // other decisions of the session wait for this one

	id       string   // of its record, once there is one
	busy     string   // the run of the policy that is under way, another than that of the event
	prefix   string   // of log lines, without brackets
	private  []string // notices, notes and lines that show something private: the log keeps their sizes
	quotes   bool     // the error of an effect may quote something private
	gatherer *gatherer
	spent    bool // it was applied
}

// Run decides an event, makes the decision true and records it: memory, effects, verbs, log,
// in this order. An event without a name is a Stop. The decisions of one session are
// made one after the other; what other processes change meanwhile makes Run decide
// again, at growing intervals.
//
// Run never panics, and the Decision is never nil. The error is its Err: the policy could not be
// followed, so the agent may stop. At the deadline, or when ctx is done, nothing more is
// changed, except that a count of a continuation that does not happen is taken back. If
// something changed again and again until then, the error is [ErrConflict] too.
func (l *Loop) Run(ctx context.Context, ev host.Event) (*Decision, error) {
	d := l.run(ctx, ev, func() bool { return true })
	return d, d.Err
}

// run is Run; a decision that is not claimed is not recorded.
func (l *Loop) run(ctx context.Context, ev host.Event, claim func() bool) *Decision {
	d := l.decision(ev)
	d.observed(ctx, func(ctx context.Context) {
		d.decide(ctx, true)
		d.apply(ctx)
		if claim() {
			d.keep(ctx)
		}
	})
	return d
}

// Preview returns what Run would decide, and changes and counts nothing: no limit holds,
// and no effect is made. [Loop.Apply] makes it true.
func (l *Loop) Preview(ctx context.Context, ev host.Event) *Decision {
	d := l.decision(ev)
	d.observed(ctx, func(ctx context.Context) {
		d.decide(ctx, false)
		d.close()
	})
	return d
}

// observed calls do with the context of the observer, bounded by the deadline.
func (d *Decision) observed(ctx context.Context, do func(context.Context)) {
	l := d.loop
	defer d.rescue()
	switch {
	case l.usable() != nil:
		return
	case ctx == nil:
		d.fail(errNoContext)
		return
	case l.begin != nil:
		seen, end := d.observe(ctx)
		if seen != nil {
			ctx = seen
		}
		if end != nil {
			defer end(d)
		}
	}
	ctx, cancel := l.within(ctx)
	defer cancel()
	do(ctx)
}

// observe calls the observer. If it panics, the decision has failed.
func (d *Decision) observe(ctx context.Context) (seen context.Context, end func(*Decision)) {
	defer d.rescue()
	return d.loop.begin(ctx, d.Event)
}

// within bounds ctx by the deadline.
func (l *Loop) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, l.deadline, lateError(l.deadline))
}

// close closes the project, and the session is free.
func (d *Decision) close() {
	if d.gatherer != nil {
		d.gatherer.close()
	}
	d.free()
}

// decision is one that lets the agent stop.
func (l *Loop) decision(ev host.Event) *Decision {
	ev.Name = cmp.Or(ev.Name, host.Stop)
	d := &Decision{Event: ev, loop: l, prefix: "ralph"}
	if err := l.usable(); err != nil {
		d.fail(err)
		return d
	}
	d.Policy = l.name
	if d.program = l.program.Load(); d.program != nil {
		d.prefix = d.program.Prefix
	}
	return d
}

// decide makes the decision. With alone, other decisions of the session wait for it.
func (d *Decision) decide(ctx context.Context, alone bool) {
	if d.Err != nil {
		return
	}
	l := d.loop
	start := time.Now()
	defer func() {
		if d.Took = time.Since(start); d.Verdict == nil {
			d.Verdict = &rules.Verdict{} // a stop
		}
	}()
	defer d.rescue()
	d.Time = l.now()
	var err error
	if d.Skipped, err = d.skipped(); d.Skipped != "" {
		return
	}
	if err == nil {
		err = d.meet()
	}
	if err == nil && alone {
		err = d.enter(ctx)
	}
	if err == nil {
		err = d.gatherer.mem.load(ctx)
	}
	if err == nil {
		d.evaluate(ctx)
	}
	switch {
	case errors.Is(err, ErrConflict):
		d.fail(err)
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

// skipped finds the project, and returns why no rule is tried there, "" if rules are.
func (d *Decision) skipped() (why string, err error) {
	l := d.loop
	if why, off := workspace.Off("", l.getenv); off {
		return why, nil
	}
	if d.program != nil && !slices.Contains(d.program.Events, d.Event.Name) {
		return "the policy does not decide " + d.Event.Name, nil
	}
	if d.Event.NoSubagent() {
		return "the host names no type of the agent that ends, so it is no subagent", nil
	}
	if d.Root, err = d.root(); err != nil {
		return "", err
	}
	if why, off := workspace.Off(d.Root, l.getenv); off {
		return why, nil
	}
	if paused, err := l.paused(d.Root, d.Event); err != nil {
		return "", err
	} else if paused {
		return "the loop is paused", nil
	}
	if d.busy, err = l.liveRun(d.Root, d.Event); err != nil {
		return "", fmt.Errorf("it is not known whether a run is under way: %w", err)
	}
	if d.busy != "" && d.busy == l.getenv("RALPH_RUN") {
		return "the agent is that of run " + d.busy + ", which decides", nil
	}
	if d.program == nil {
		return "", l.broken
	}
	own := given{values: d.Event.Values}
	return "", cmp.Or(own.reserved(), own.stray(d.program))
}

// meet opens the project of a decision.
func (d *Decision) meet() error {
	l := d.loop
	g := &gatherer{Decision: d, mem: memoryOf(l.store, d.Event, d.Root, l.name)}
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
	return passedBy(d.Verdict) || len(d.Verdict.Problems) > 0
}

// passedBy reports whether there is a loop that the session is not continued in.
func passedBy(v *rules.Verdict) bool {
	return v.Aside != "" && v.Aside != rules.NoLoop && v.Aside != rules.Off
}

// root returns the project root of the event, "" if the loop has none.
func (d *Decision) root() (string, error) {
	l := d.loop
	if l.project == "" && !l.local {
		return "", nil
	}
	var files []string
	if d.program != nil && workspace.Named(l.project, l.getenv) == "" {
		files = d.program.HeadFiles()
	}
	return workspace.Find(d.Event.Cwd, l.project, files, l.getenv)
}

// options are those of one evaluation.
func (d *Decision) options() rules.Options {
	o := rules.Options{Event: d.Event.Name, Run: d.Event.Run != "", Busy: d.busy, Policy: workspace.PolicyName(d.Policy), Watch: d.Event.Name == host.PreCompact && !host.BlocksCompaction(d.Event.Host), Time: d.Time, Turn: d.Event.Turn, NewTurn: d.Event.NewTurn, Budget: d.loop.budget}
	if l := d.loop; l.trusted != nil && d.Root != "" {
		if err := l.trusted(d.Root); err != nil {
			o.Untrusted = err.Error()
		}
	}
	switch {
	case d.loop.private:
		o.Trace = rules.TraceClear
	case d.loop.recorder != nil:
		o.Trace = rules.TraceFull
	}
	m := &d.gatherer.mem.entries
	o.Memory, o.Project = m[0].Memory, m[1].Memory
	return o
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
	d.Verdict = d.program.Eval(ctx, g.facts(), d.options())
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
		case passedBy(v):
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
	if g.budget != nil && g.budget.Late() {
		d.notice(fmt.Sprintf("reading files took longer than %s in all; what was not looked at counts as absent", maxFileTime))
	}
	if g.mem.problem != "" {
		d.notice(g.mem.problem)
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
	v := cmp.Or(d.Verdict, &rules.Verdict{})
	d.Verdict = &rules.Verdict{Fault: v.Fault, Reason: err.Error(), Private: d.quotes, Trace: v.Trace, Cost: v.Cost}
	t := host.Trouble(d.prefix, d.Event.Name, fmt.Errorf("%s: %w", d.Policy, err))
	d.Notices, d.Known, d.Notes, d.Log = []string{t.Notice}, nil, nil, t.Log
	if d.quotes {
		d.private = append(append(d.private, t.Notice), t.Log...)
	}
}
