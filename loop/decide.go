package loop

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/loop/host"
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
	Notices []string       // for the person, in order; Apply adds to them
	Notes   []string       // for the agent beside the prompt, on UserPromptSubmit only
	Log     []string       // finished lines for stderr; Apply adds to them
	Applied bool           // effects and memory are on disk
	Err     error          // the policy could not be followed; the verdict then lets go
	Took    time.Duration  // of deciding

	prefix   string // of log lines, without brackets
	noted    *noted
	quoted   []string // texts that show what the log does not keep
	gatherer *gatherer
	spent    bool // it was applied
}

// Continue reports whether the agent goes on.
func (d *Decision) Continue() bool { return d.Verdict.Action == rules.Continue }

// Decide works out what to say to an event and changes nothing. An event without a
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
	return context.WithTimeoutCause(ctx, l.deadline, &LateError{l.deadline})
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
	if why, off := Off("", l.getenv); off {
		d.Skipped = why
		return
	}
	if l.broken == nil && !l.program.Handles(d.Event.Name) {
		d.Skipped = "the policy does not decide " + d.Event.Name
		return
	}
	dir, err := l.root(d.Event)
	if err != nil {
		d.fail(err)
		return
	}
	d.Root = dir
	if why, off := Off(dir, l.getenv); off {
		d.Skipped = why
		return
	}
	if l.broken != nil {
		d.fail(l.broken)
		return
	}
	g := &gatherer{loop: l, program: l.program, ev: d.Event, now: d.Time, dir: dir}
	g.files.world, d.gatherer = g, g
	if err := g.open(); err != nil {
		d.fail(err)
		return
	}
	if l.rest != nil {
		if d.Verdict = l.program.EvalWith(ctx, g.facts(), l.options(d.Event)); d.Verdict.Idle {
			d.skipIdle()
			return
		}
		if g.program, err = l.rest(); err != nil {
			d.fail(err)
			return
		}
	}
	g.mem = memoryOf(d.Event, dir, l.name, g.program)
	g.mem.load(l.store, d.Event)
	d.evaluate(ctx)
	switch {
	case ctx.Err() != nil:
		d.fail(interrupted(ctx))
	case d.Verdict.Idle:
		d.skipIdle()
	}
}

// skipIdle skips an event that the policy is not for: nothing is counted and
// nothing is logged.
func (d *Decision) skipIdle() {
	d.Skipped, d.Verdict.Reason = d.Verdict.Reason, ""
	d.close()
	d.gatherer = nil
}

// root gives the project root of an event, "" if the loop has none.
func (l *Loop) root(ev host.Event) (string, error) {
	if l.project == "" && !l.local {
		return "", nil
	}
	return FindRoot(ev, l.project, l.getenv)
}

func (l *Loop) options(ev host.Event) rules.Options {
	return rules.Options{Event: ev.Name, Traced: true, Clear: l.private}
}

// interrupted says that the time was up.
func interrupted(ctx context.Context) error {
	err := context.Cause(ctx)
	if _, ok := err.(*LateError); ok {
		return err
	}
	return fmt.Errorf("the decision was interrupted: %w", err)
}

// evaluate reads the files and tries the rules.
func (d *Decision) evaluate(ctx context.Context) {
	g, l := d.gatherer, d.gatherer.loop
	d.noted = &noted{Facts: g.facts()}
	d.Verdict = g.program.EvalWith(ctx, d.noted, l.options(d.Event))
	if g.problem != "" {
		d.Verdict.Trace.Warnings = append(d.Verdict.Trace.Warnings, "transcript: "+g.problem)
	}
	d.Notices, d.Notes, d.Log, d.quoted = nil, nil, nil, nil
	for _, part := range d.Verdict.Parts {
		logged := len(d.Log)
		if part.Notice != "" {
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
			d.quoted = append(append(d.quoted, part.Notice, part.Note), d.Log[logged:]...)
		}
	}
	for _, p := range d.Verdict.Problems {
		d.notice(p)
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

// notice tells the person something that no rule says.
func (d *Decision) notice(message string) {
	d.Notices = append(d.Notices, "["+d.prefix+"] "+message)
}

// fail lets the agent stop and keeps the reason.
func (d *Decision) fail(err error) {
	d.Err = err
	d.Verdict = &rules.Verdict{Failed: true, Reason: err.Error(), Trace: d.Verdict.Trace}
	t := trouble(d.prefix, d.Event.Name, fmt.Errorf("%s: %w", d.Policy, err))
	d.Notices, d.Notes, d.Log = []string{t.Notice}, nil, t.Log
}
