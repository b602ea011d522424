package loop

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/loop/host"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

// Decision is what a loop says to one event. Its zero value lets the agent stop.
type Decision struct {
	Policy  string // name of the policy
	Event   host.Event
	Time    time.Time // of the event, by the loop's clock
	Root    string    // project root, "" if there is none
	Verdict *rules.Verdict
	Skipped string        // why the rules were not tried: loops are off, the event is not listed
	Notices []string      // for the person, in order; filled by Apply too
	Log     []string      // finished lines for stderr
	Applied bool          // effects and memory are on disk
	Err     error         // the policy could not be followed; the verdict then lets go
	Took    time.Duration // of deciding

	gatherer *gatherer
	stamp    state.Memory // the session memory that the decision was made on
}

// Continue reports whether the agent goes on.
func (d *Decision) Continue() bool {
	return d.Verdict != nil && d.Verdict.Action == rules.Continue
}

// Close releases what the decision holds open. Apply does it too; only those who
// stop at Decide need it.
func (d *Decision) Close() {
	if d.gatherer != nil && d.gatherer.root != nil {
		d.gatherer.root.Close()
		d.gatherer.root = nil
	}
}

// Decide works out what to say to an event and changes nothing. It never fails:
// what keeps the policy from being followed is in the decision's Err, which lets
// the agent stop.
func (l *Loop) Decide(ctx context.Context, ev host.Event) (d *Decision) {
	d = &Decision{Policy: l.name, Event: ev, Time: l.now(), Verdict: &rules.Verdict{}}
	start := time.Now()
	defer func() {
		if r := recover(); r != nil {
			d.fail(fmt.Errorf("internal error: %v\n%s", r, debug.Stack()))
		}
		d.Took = time.Since(start)
	}()
	if why, off := Off("", l.getenv); off {
		d.Skipped = why
		return d
	}
	if !l.program.Handles(ev.Name) {
		d.Skipped = "the policy does not decide " + ev.Name
		return d
	}
	dir, err := FindRoot(ev, l.project, l.getenv)
	if err != nil {
		d.fail(err)
		return d
	}
	d.Root = dir
	if why, off := Off(dir, l.getenv); off {
		d.Skipped = why
		return d
	}
	root, err := state.OpenRoot(dir)
	if err != nil {
		d.fail(err)
		return d
	}
	g := &gatherer{loop: l, ev: ev, now: d.Time, root: root}
	g.mem.key, g.mem.projectKey = memoryKeys(ev, dir, l.name)
	d.gatherer = g
	d.evaluate(ctx)
	return d
}

// evaluate reads memory and files and tries the rules.
func (d *Decision) evaluate(ctx context.Context) {
	g, l := d.gatherer, d.gatherer.loop
	g.paths = nil
	g.mem.load(l.store, d.Event, d.Time, countsProject(l.program))
	d.Verdict = l.program.EvalWith(ctx, g, rules.Options{Event: d.Event.Name, Traced: true, Clear: l.private})
	if g.problem != "" {
		d.Verdict.Trace.Warnings = append(d.Verdict.Trace.Warnings, "transcript: "+g.problem)
	}
	d.Notices, d.Log = nil, nil
	for _, part := range d.Verdict.Parts {
		d.tellPart(l.program.Prefix, part)
	}
	for _, p := range d.Verdict.Problems {
		d.notice(l.program.Prefix, p)
	}
	if g.mem.problem != "" {
		d.notice(l.program.Prefix, g.mem.problem)
	}
}

func (d *Decision) tellPart(prefix string, part rules.Part) {
	for _, s := range []string{part.Notice, part.Note} {
		if s != "" {
			d.Notices = append(d.Notices, s)
		}
	}
	if part.Log != "" {
		for line := range strings.SplitSeq(part.Log, "\n") {
			d.Log = append(d.Log, "["+prefix+"] "+line)
		}
	}
}

func (d *Decision) notice(prefix, message string) {
	d.Notices = append(d.Notices, "["+prefix+"] "+message)
}

// fail lets the agent stop and keeps the reason.
func (d *Decision) fail(err error) {
	d.Err = err
	trace := rules.Trace{}
	if d.Verdict != nil {
		trace = d.Verdict.Trace
	}
	d.Verdict = &rules.Verdict{Failed: true, Reason: err.Error(), Trace: trace}
	t := Trouble(d.Event.Name, fmt.Errorf("%s: %w", d.Policy, err))
	d.Notices, d.Log = []string{t.Notice}, t.Log
}
