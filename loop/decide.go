package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/internal/workspace"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/rules"
)

// Decision is the decision of a loop on one event. [Loop.Run] and [Loop.Preview] return one. It is not safe for
// concurrent use.
type Decision struct {
	Policy  string // name of the policy
	Event   host.Event
	Time    time.Time      // of the event, by the loop's clock
	Scope   string         // of [WithScope]
	Root    string         // project root, "" if there is none
	Verdict *rules.Verdict // never nil; a stop if Err is set. What went wrong without deciding is in its Problems
	Notices []string       // for the user, in order; applying may append
	Notes   []string       // for the agent with the prompt, on UserPromptSubmit only
	Log     []string       // complete lines for stderr; applying may append
	Kept    bool           // memory was saved and the effects on facts were made; other effects may have failed
	Retries int            // how often it was made again because something had changed

	// Repeated says that the event has the ID of one that was decided: the decision is that one, and nothing was counted or
	// made again.
	Repeated bool
	// Failures are the effects after the verdict that were not made: of this decision, and of earlier ones of the session.
	// Programs are not started again; the others are made later, see [Loop.Drain].
	Failures []Failure

	Err  error         // why it is [Failed], nil otherwise; the verdict is then a stop
	Took time.Duration // the time to decide

	work
}

// texts is what the record of a decision needs of its texts.
type texts struct {
	prefix  string   // of log lines, without brackets
	known   []string // notices that the session has already seen; only logged
	hint    string   // the user's hint, at the end of the verdict's reason; applying adds it
	added   string   // what the verdict's reason ends with and no rule wrote: words of the user or the agent
	private []string // notices, notes and lines with private values: the log keeps only their sizes
	quotes  bool     // the error of an effect may quote private values
}

// work is what making and applying a decision needs.
type work struct {
	loop     *Loop          // the loop that makes it
	program  *rules.Program // the loop's program when the decision began, nil if none
	gatherer *gatherer
	bound    *bound
	claimed  bool // it answers, see bound
	entered  bool // other decisions of the session wait for this one
	spent    bool // Apply or Run has used it
	broken   bool // Err is no fault of the verdict

	ordered
	id    string  // the ID of its record, once there is one
	usd   float64 // what the run has cost so far, 0 if unknown
	texts texts
	savedWork
}

// savedWork is what a decision has saved of itself.
type savedWork struct {
	answer Answer   // to the event, if it has an ID
	calls  []Call   // that were saved with it
	saved  []Entry  // by the latest count
	done   []string // IDs of calls that were made
	sent   told     // when its record was saved
}

// Run decides an event, then saves the memory, makes the effects and logs the record, in this order. An
// event without a name is a Stop. Decisions of one session are made one after the other; if another process changes
// something in the meantime, Run decides again, with growing delays.
//
// Run never panics, and the Decision is never nil. The error is its Err, which is set exactly if the outcome is [Failed]: the
// agent may stop because something kept the event from being decided, counted or kept. A stop without an error is one
// that the policy wanted. At the deadline, or once ctx is done, Run returns, whatever it waits for, see [WithDeadline]. If conflicts
// lasted until then, the error is also an [ErrConflict].
func (l *Loop) Run(ctx context.Context, ev host.Event) (*Decision, error) {
	d := l.run(ctx, ev)
	return d, d.Err
}

func (l *Loop) run(ctx context.Context, ev host.Event) *Decision {
	return l.decision(ev).observed(ctx, func(d *Decision, ctx context.Context) *Decision {
		out := d.bounded(ctx, func(d *Decision, ctx context.Context) {
			d.decide(ctx, true)
			d.apply(ctx)
		})
		out.judge().keep(ctx)
		return out
	})
}

// Preview returns what Run would decide, without changing or counting anything; no effect is made. [Loop.Apply] commits
// it.
func (l *Loop) Preview(ctx context.Context, ev host.Event) *Decision {
	return l.decision(ev).observed(ctx, func(d *Decision, ctx context.Context) *Decision {
		return d.bounded(ctx, func(d *Decision, ctx context.Context) {
			d.decide(ctx, false)
			d.close()
		}).judge()
	})
}

// observed calls do with the observer's context, bounded by the deadline, and returns the decision that do returns. The
// observer sees that decision.
func (d *Decision) observed(ctx context.Context, do func(*Decision, context.Context) *Decision) (out *Decision) {
	l := d.loop
	out = d
	defer func() { out.rescue(recover()) }()
	switch {
	case l.usable() != nil:
		return out
	case ctx == nil:
		d.fail(errNoContext)
		return out
	}
	for _, begin := range l.extensions.observers {
		seen, end := d.observe(ctx, begin)
		if seen != nil {
			ctx = seen
		}
		if end != nil {
			defer func() { out.unobserved(end) }()
		}
	}
	ctx, cancel := l.within(ctx)
	defer cancel()
	return do(d, ctx)
}

// observe calls an observer. If it panics, the decision fails.
func (d *Decision) observe(ctx context.Context, begin observer) (seen context.Context, end func(*Decision)) {
	defer func() { d.rescue(recover()) }()
	return begin(ctx, d.Event)
}

// unobserved calls the end of an observer. If it panics, the decision fails, and the observers around it see that.
func (d *Decision) unobserved(end func(*Decision)) {
	defer func() { d.rescue(recover()) }()
	end(d)
}

// within bounds ctx by the deadline.
func (l *Loop) within(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, l.bounds.deadline, lateError(l.bounds.deadline))
}

// close closes the project and lets the session's next decision begin.
func (d *Decision) close() {
	if d.gatherer != nil {
		d.gatherer.close()
	}
	d.free()
}

// decision returns a decision to stop.
func (l *Loop) decision(ev host.Event) *Decision {
	ev.Name = cmp.Or(ev.Name, host.Stop)
	d := &Decision{Event: ev, work: work{loop: l, texts: texts{prefix: "ralph"}}}
	if err := l.usable(); err != nil {
		d.fail(err)
		return d
	}
	d.Policy, d.Scope = l.name, l.scope
	if d.program = l.program.Load(); d.program != nil {
		d.texts.prefix = d.program.Prefix
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
	defer func() { d.rescue(recover()) }()
	d.Time = l.now()
	cause, why, err := d.skipped(ctx, alone)
	switch {
	case cause != "":
		d.close()
		d.gatherer, d.Verdict = nil, &rules.Verdict{Cause: cause, Reason: why}
		return
	case d.Repeated:
		return
	case err == nil:
		d.evaluate(ctx)
	}
	switch {
	case errors.Is(err, ErrConflict):
		d.fail(err)
	case errors.Is(ctx.Err(), context.DeadlineExceeded) && errors.As(err, new(memoryError)): // the store says who it is
		d.fail(fmt.Errorf("%w: %w", interrupted(ctx), err))
	case ctx.Err() != nil:
		d.fail(interrupted(ctx))
	case err != nil:
		d.fail(err)
	case d.Verdict.Action == rules.Continue && !d.named():
		d.fail(errors.New("the input names no session, directory, text or stop_hook_active, and no variable of a host is set, so no limit would hold; send at least session_id or cwd"))
	case unusable(d.Verdict):
		d.fail(fmt.Errorf("%s; run `ralph check %s`", d.Verdict.Problems[0], d.Policy))
	case d.Verdict.Cause.Untried() && !d.Verdict.Changed && !d.noteworthy() && d.Event.ID == "":
		d.close()
		d.gatherer = nil
	}
}

// named reports whether the input of a hook says anything about what it is an event of. A program names its events itself.
func (d *Decision) named() bool {
	ev, getenv := d.Event, d.loop.getenv
	_, active := ev.Raw[vocab.StopHookActive].(bool)
	return ev.Raw == nil || active || cmp.Or(ev.SessionID, ev.Cwd, ev.TranscriptPath, ev.HostTurn, ev.Prompt, ev.LastAssistantMessage) != "" ||
		slices.ContainsFunc(append(host.SessionVariables(), "CLAUDE_PROJECT_DIR"), func(name string) bool { return getenv(name) != "" })
}

// skipped finds the project, loads the memory, and returns why no rule is tried, or "". With alone, other decisions of the
// session wait for this one, and the answer to an event that has an ID stays, whatever the policy is by now.
func (d *Decision) skipped(ctx context.Context, alone bool) (cause rules.Cause, why string, err error) {
	l, again := d.loop, alone && d.Event.ID != ""
	unlisted, unfits, unfit := d.unlisted()
	if (unlisted != "" || unfit != nil) && !again {
		return unlisted, unfits, unfit
	}
	d.Root, err = d.root()
	d.bound.root.Store(&d.Root)
	if why, off := workspace.Off(d.Root, l.offEnv); off {
		return rules.Off, why, nil
	} else if err != nil {
		return unlisted, unfits, cmp.Or(unfit, err)
	}
	if err := d.begin(ctx, alone); err != nil {
		return "", "", err
	}
	switch {
	case d.paused:
		return rules.Paused, "the loop is paused", nil
	case again && d.answered():
		return "", "", nil
	case unlisted != "", unfit != nil:
		return unlisted, unfits, unfit
	case d.busy != "" && d.busy == l.getenv("RALPH_RUN"):
		return rules.InRun, "the agent is that of run " + d.busy + ", which decides", nil
	case d.program == nil:
		return "", "", faultError{l.broken, rules.FaultRule}
	}
	own := given{values: d.Event.Values}
	return "", "", cmp.Or(own.reserved(), own.stray(d.program))
}

// events returns the events that a policy of the loop may decide.
func (l *Loop) events() []string {
	return slices.Concat(vocab.Events(), slices.Sorted(maps.Keys(l.extensions.events)))
}

// unlisted returns why the policy does not decide such events, or "". An event that nothing declares is an error.
func (d *Decision) unlisted() (cause rules.Cause, why string, err error) {
	switch {
	case d.program != nil && !slices.Contains(d.program.Events, d.Event.Name):
		if all := d.loop.events(); d.Event.Raw == nil && !slices.Contains(all, d.Event.Name) { // a host has events that no policy decides
			return "", "", fmt.Errorf("no policy can decide the event %q: it must be one of %s, or declared with loop.WithEvents", d.Event.Name, strings.Join(all, ", "))
		}
		return rules.NotListed, "the policy does not decide " + d.Event.Name, nil
	case d.Event.NoSubagent():
		return rules.NotListed, "the host names no type of the agent that ends, so it is not a subagent", nil
	}
	return "", "", nil
}

// meet opens the project of a decision.
func (d *Decision) meet() error {
	l := d.loop
	g := &gatherer{Decision: d}
	g.mem.begin(l, &d.Event, d.Root)
	g.files.world, d.gatherer = g, g
	return g.open()
}

// begin opens the project and loads the memory. With alone, other decisions of the session wait for this one.
func (d *Decision) begin(ctx context.Context, alone bool) error {
	err := d.meet()
	if err == nil && alone {
		err = d.enter(ctx)
	}
	if err == nil {
		err = d.asks(func() error { return d.load(ctx) })
	}
	return err
}

// unusable reports whether the policy was for the event, but the part that [rules.Config.Lazy] had deferred could not
// be loaded.
func unusable(v *rules.Verdict) bool {
	return v.Cause == rules.FaultRule && len(v.Trace.Steps) == 0 && (v.Trace.When == nil || v.Trace.When.Outcome == rules.Holds)
}

// noteworthy reports whether a decision that tried no rule is logged: the session has or had a loop but is not
// continued, or something could not be used.
func (d *Decision) noteworthy() bool {
	return d.gatherer != nil && (d.Verdict.Cause.Loop() || d.Verdict.Show || len(d.Verdict.Problems) > 0)
}

// root returns the project root of the event, or "" if the loop has no project.
func (d *Decision) root() (string, error) {
	l := d.loop
	if l.project.root == "" && !l.project.local {
		return "", nil
	}
	var files []string
	if d.program != nil && workspace.Named(l.project.root, l.getenv) == "" {
		files = d.program.HeadFiles()
	}
	return workspace.Find(d.Event.Cwd, l.project.root, files, l.getenv)
}

// options returns the options of one evaluation.
func (d *Decision) options() (o rules.Options) {
	o = rules.Options{Event: d.Event.Name, Run: d.Event.Run != "", Busy: d.busy, Stopped: d.stopped, Policy: workspace.PolicyName(d.Policy), Watch: d.Event.Name == host.PreCompact && !host.BlocksCompaction(d.Event.Host), Time: d.Time, Turn: d.Event.Turn, NewTurn: d.Event.NewTurn, Budget: d.loop.bounds.budget, Allow: d.loop.extensions.config.Allow}
	if d.Root != "" {
		if err := d.loop.trust.project(d.Root); err != nil {
			o.Untrusted = err.Error()
		}
	}
	switch {
	case d.loop.kept.private:
		o.Trace = rules.TraceClear
	case d.loop.kept.records():
		o.Trace = rules.TraceFull
	}
	m := d.gatherer.mem.entries
	o.Memory, o.Project, o.Session = m[0].Memory, m[1].Memory, m[2].Memory
	return o
}

// interruptedError is the error of a decision whose context is done.
type interruptedError struct{ error }

func (e interruptedError) Unwrap() error { return e.error }

// interrupted returns the error for a decision that ran out of time.
func interrupted(ctx context.Context) error {
	err := context.Cause(ctx)
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return interruptedError{err}
	}
	return interruptedError{fmt.Errorf("the decision was interrupted: %w", err)}
}

// evaluate reads the files and tries the rules.
func (d *Decision) evaluate(ctx context.Context) {
	g := d.gatherer
	g.begin()
	world := g.facts()
	o := d.options()
	if d.Verdict = d.program.Eval(ctx, world, o); g.started(ctx, d.Verdict) {
		o.Untrusted = ""
		d.Verdict = d.program.Eval(ctx, world, o)
	}
	if d.Event.Run != "" {
		d.usd, _ = world.Name(ctx, vocab.RunCost).(float64)
	}
	if g.problem != "" {
		d.Verdict.Trace.Warnings = append(d.Verdict.Trace.Warnings, g.problem)
	}
	d.Notices, d.Notes, d.Log, d.texts = nil, nil, nil, texts{prefix: d.texts.prefix}
	if v := d.Verdict; v.Action == rules.Continue {
		for _, line := range g.missed(ctx) {
			d.adds("\n\n" + line)
		}
		g.remember(&v.Memory, v.Reason)
	}
	if v := d.Verdict; v.Show || v.Cause.Loop() {
		if v.Show {
			d.notice(v.Reason)
		} else {
			d.known(v.Reason)
		}
		if v.Private {
			d.texts.private = append(d.texts.private, "["+d.texts.prefix+"] "+v.Reason)
		}
	}
	for _, part := range d.Verdict.Parts {
		logged := len(d.Log)
		switch {
		case part.Notice == "":
		case part.Seen:
			d.texts.known = append(d.texts.known, part.Notice)
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
			d.texts.private = append(append(d.texts.private, part.Notice, part.Note), d.Log[logged:]...)
		}
	}
	for _, p := range d.Verdict.Problems {
		if p.Seen {
			d.known(p.Text)
		} else {
			d.notice(p.Text)
		}
		if p.Private {
			d.texts.private = append(d.texts.private, "["+d.texts.prefix+"] "+p.Text)
		}
	}
	if g.budget != nil && g.budget.Late() {
		d.problem(fmt.Sprintf("reading files took longer than %s in all; files that were not read count as missing", maxFileTime))
	}
}

// adds ends the text for the agent with words of the user or the agent.
func (d *Decision) adds(text string) {
	d.Verdict.Reason += text
	d.texts.added += text
}

// logLines adds the lines of text to those for stderr, each with the policy's prefix.
func (d *Decision) logLines(text string) {
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(text, "\n") {
		d.Log = append(d.Log, "["+d.texts.prefix+"] "+line)
	}
}

// notice adds a notice that no rule wrote.
func (d *Decision) notice(message string) {
	d.Notices = append(d.Notices, "["+d.texts.prefix+"] "+message)
}

// problem reports what went wrong without deciding, which no rule wrote.
func (d *Decision) problem(message string) {
	d.notice(message)
	d.Verdict.Problems = append(d.Verdict.Problems, rules.Problem{Text: message})
}

// known adds a notice that the session has already seen.
func (d *Decision) known(message string) {
	d.texts.known = append(d.texts.known, "["+d.texts.prefix+"] "+message)
}

// fail makes the decision a stop and keeps the reason.
func (d *Decision) fail(err error) {
	d.Err, d.broken = err, true
	v := cmp.Or(d.Verdict, &rules.Verdict{})
	d.Verdict = &rules.Verdict{Cause: faultOf(err, v.Cause), Reason: err.Error(), Private: d.texts.quotes, Trace: v.Trace, Cost: v.Cost}
	t := host.Trouble(d.texts.prefix, d.Event.Name, fmt.Errorf("%s: %w", d.Policy, err))
	d.Notices, d.texts.known, d.texts.added, d.Notes, d.Log = []string{t.Notice}, nil, "", nil, t.Log
	if d.texts.quotes {
		d.texts.private = append(append(d.texts.private, t.Notice), t.Log...)
	}
}
