package step

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/internal/escape"
)

// machine is one step under way.
type machine struct {
	State
	events  []Event
	refused string // why the agent cannot be started
}

// Step returns the state after an input, the events to report, and the command to carry out, which is also State.Due. An
// input that does not fit changes only the time. Safe for concurrent use.
func (s State) Step(in Input) (State, []Event, Command) {
	m := &machine{State: s, refused: in.Refused}
	if problem := s.unusable(in); problem != "" {
		m.live(in.At)
		if m.Final == nil {
			m.end(Final{End: Failed, Why: problem})
		}
		return m.State, m.events, m.Due
	}
	switch in.Kind {
	case Start, Resume:
		m.At = in.At // the time before is not lived
	default:
		m.live(in.At)
	}
	m.take(in)
	return m.State, m.events, m.Due
}

// unusable returns why nothing can be done with a state or an input, or "".
func (s State) unusable(in Input) string {
	if s.V != version {
		return fmt.Sprintf("the state of the run has version %d; this program has %d", s.V, version)
	}
	texts := []Text{in.Answer}
	if it := in.Iteration; it != nil {
		texts = append(texts, it.Text)
	}
	if d := in.Decision; d != nil {
		texts = append(texts, d.Prompt, d.Memory)
	}
	for _, t := range texts {
		if !Fits(t.Text) || size(t.Document) > maxName {
			return fmt.Sprintf("a text of %d bytes was not kept as a document", len(t.Text))
		}
	}
	return ""
}

// take takes an input.
func (m *machine) take(in Input) {
	switch in.Kind {
	case Pause:
		m.Paused = cut(cmp.Or(in.Why, "a person paused the run"), maxName)
		return // nothing new is started; the command under way continues
	case Go:
		m.Paused = ""
		if m.Phase == waiting && m.Pending.Kind == forPerson && m.Final == nil {
			m.awake()
		}
		return
	case Stop:
		m.Stopping, m.Later = cut(cmp.Or(in.Why, "the run was stopped"), MaxText), in.Later
		if m.Phase == waiting && m.Final == nil && m.Due.Kind == Wait {
			m.end(Final{End: Cancelled, Why: m.Stopping})
		}
		return
	case Start:
		if m.Due.Kind == "" && m.Final == nil {
			m.say(m.begins(RunStart))
			m.next()
		}
		return
	case Resume:
		m.resume(in)
		return
	}
	if m.Final != nil || m.Due.Kind == "" {
		return
	}
	switch {
	case in.Kind == Broken:
		m.end(Final{End: Failed, Why: in.Why})
	case in.Kind == Gone:
		m.end(Final{End: TooManyLost, Why: in.Why})
	case in.Kind == Answer:
		if m.Phase == waiting && m.Pending.Kind == forAnswer {
			m.Answer = in.Answer
			m.awake()
		}
	case in.Key != m.Due.Key:
	case in.Kind == NotStarted:
		m.notStarted(in.Why)
	case m.Phase == iterating && in.Kind == Iterated && in.Iteration != nil:
		m.iterated(*in.Iteration)
	case m.Phase == iterating && in.Kind == Lost:
		m.lost()
		m.next()
	case m.Phase == merging && in.Kind == Merged:
		m.accepted()
	case (m.Phase == deciding || m.Phase == first) && in.Kind == Decided && in.Decision != nil:
		m.decided(*in.Decision)
	case m.Phase == awaiting && in.Kind == Awaited:
		m.awaited(in.Waits)
	case m.Phase == waiting && in.Kind == Elapsed:
		m.elapsed()
	}
}

// begins returns the event with which a process begins.
func (m *machine) begins(k Kind) Event {
	args, _ := escape.Secrets(m.Plan.Args)
	return Event{Kind: k, Policy: m.Plan.Policy, Client: m.Plan.Client, Args: args}
}

// resume continues a run that has ended, or whose driver was killed.
func (m *machine) resume(in Input) {
	if m.Final != nil && m.Final.End == Success {
		return
	}
	m.Plan.Limits = in.Limits.Or(m.Plan.Limits)
	if m.Final != nil { // what happens in a row begins again; a killed driver ends nothing
		m.Resumed++
		m.Due = Command{}
		m.Spent.Crashes, m.Spent.Losses = 0, 0
		m.Spent.Window = 0         // another one may have begun
		if m.Latest.Again != nil { // a person may have allowed it
			m.Latest.Denied, m.Latest.Again = nil, nil
		}
	}
	m.Final = nil
	if !in.Answer.IsZero() {
		m.Answer = in.Answer
	}
	m.say(m.begins(RunResume))
	switch {
	case m.Phase == iterating: // killed during an iteration
		m.lost()
	case m.Due.Kind == "" && (m.Phase == waiting || m.Phase == awaiting) && m.Pending.Kind == forPolicy: // it ended, and another turn begins
		m.done(deciding)
	case m.Phase == waiting && m.Pending.Kind != forPolicy:
		m.Phase, m.Pending = m.Pending.Resume, nil
	}
	if m.Phase == rested {
		m.Phase = ready
	}
	m.next()
}

// say reports an event.
func (m *machine) say(ev Event) {
	m.Seq++
	ev.V, ev.Seq, ev.Time, ev.Run = 1, m.Seq, m.At, m.Plan.ID
	m.events = append(m.events, ev)
}

// command makes a command due, unless it is the one of a killed driver, which has its key.
func (m *machine) command(c Command) {
	if m.Due.Kind == c.Kind && c.Kind != Wait && c.Kind != Iterate {
		return
	}
	m.Given++
	c.Key = fmt.Sprintf("%s/%d/%d", m.Plan.ID, m.Iterations, m.Given)
	m.Due = c
}

// done forgets the command that was answered.
func (m *machine) done(p phase) { m.Phase, m.Pending, m.Due = p, nil, Command{} }

// end ends the run. A killed or ended run is resumed from the phase in which it is.
func (m *machine) end(f Final) {
	m.Stopping, m.Later = "", false
	m.say(Event{Kind: RunEnd, Ended: f.End, Rule: f.Rule, Limit: f.Limit, Why: f.Why, Resets: f.Resets, Totals: m.Totals(m.At)})
	f.Why, f.Rule, f.Limit = cut(f.Why, MaxText), cut(f.Rule, maxName), cut(f.Limit, maxName)
	m.Final = &f
	m.command(Command{Kind: Finish})
}

// next makes the command of the phase due.
func (m *machine) next() {
	switch m.Phase {
	case first, deciding:
		if m.Phase == deciding && m.Stopping != "" && !m.Later {
			m.end(Final{End: Cancelled, Why: m.Stopping})
			return
		}
		if m.pause() { // a paused policy does not decide
			return
		}
		switch {
		case m.Phase == deciding && m.Latest.Promised && m.Latest.Outcome == OK:
			m.end(Final{End: Success, Why: "the agent wrote " + m.Plan.Said})
		case m.Phase == first && !m.Plan.Prompt.IsZero():
			m.command(Command{Kind: Look})
		default:
			m.command(Command{Kind: Decide})
		}
	case merging:
		m.command(Command{Kind: Merge})
	case awaiting:
		m.command(Command{Kind: Await, Rule: m.Pending.Rule})
	case waiting: // a wait that its driver left
		m.wait(*m.Pending)
	default:
		m.iterate()
	}
}

// iterate starts an iteration, or waits before it after a failure.
func (m *machine) iterate() {
	if m.pause() || m.limited() {
		return
	}
	if m.Spent.Losses >= maxLosses {
		m.end(Final{End: TooManyLost, Why: fmt.Sprintf("%d iterations in a row were lost: it is unknown how they ended", m.Spent.Losses)})
		return
	}
	if m.Phase != rested && (m.Spent.Crashes > 0 || m.Spent.Limited > 0) {
		m.waitAfterFailure()
		return
	}
	m.start()
}

// start starts an iteration, unless it is refused.
func (m *machine) start() {
	if m.refused != "" {
		m.Phase = ready
		m.notStarted(m.refused)
		return
	}
	m.Phase = iterating
	m.Iterations++ // a start counts even if the driver is killed now
	m.command(Command{Kind: Iterate, Timeout: max(min(m.Plan.Iteration, m.over().Sub(m.At)), time.Second)})
	m.say(Event{Kind: IterationStart, Iteration: m.Iterations, Prompt: m.Prompt.Len()})
}

// notStarted ends the run because a command was not carried out.
func (m *machine) notStarted(why string) {
	if m.Phase == iterating {
		m.Phase = ready
		m.Iterations--
		m.Due = Command{}
	}
	if m.Stopping != "" {
		m.end(Final{End: Cancelled, Why: m.Stopping})
		return
	}
	m.end(Final{End: Failed, Why: why})
}

// limited ends the run if it was stopped or is at a limit, and reports whether.
func (m *machine) limited() bool {
	t, l := m.Totals(m.At), m.Plan.Limits
	reached := func(limit, format string, args ...any) bool {
		m.end(Final{End: AtLimit, Limit: limit, Why: fmt.Sprintf(format, args...)})
		return true
	}
	switch {
	case m.Stopping != "":
		m.end(Final{End: Cancelled, Why: m.Stopping})
		return true
	case t.Iterations >= l.Iterations:
		return reached("iterations", "%d of %d iterations were started", t.Iterations, l.Iterations)
	case t.Elapsed >= l.Elapsed:
		return reached("elapsed", "the run has taken %s of %s", t.Elapsed.Round(time.Second), l.Elapsed)
	case l.Tokens > 0 && t.Tokens >= l.Tokens:
		return reached("tokens", "the run has used %d of %d tokens", t.Tokens, l.Tokens)
	case l.Cost > 0 && t.Cost != nil && *t.Cost >= l.Cost:
		return reached("cost", "the run has cost %.2f of %.2f US dollars", *t.Cost, l.Cost)
	case l.Window > 0 && t.Window >= l.Window:
		return reached("window", "%.0f%% of the client's usage window is used, of the %.0f%% that the run may use", t.Window, l.Window)
	}
	return false
}

// maxCrashes and maxLosses are how many iterations in a row may crash or be lost.
const maxCrashes, maxLosses = 3, 3

// lost counts an iteration whose end is unknown.
func (m *machine) lost() {
	m.done(ready)
	m.Spent.Losses++
	m.Spent.count(WasLost)
	m.say(Event{Kind: IterationEnd, Iteration: m.Iterations, Outcome: WasLost, Totals: m.Totals(m.At)})
}

// iterated counts an iteration, and takes its result.
func (m *machine) iterated(it Iteration) {
	it.Outcome = Outcome(cut(string(it.Outcome), maxName/8))
	it.Session, it.Transcript, it.Problem = cut(it.Session, maxName), cut(it.Transcript, MaxText), cut(it.Problem, MaxText+maxName)
	if it.Cost != nil && (math.IsNaN(*it.Cost) || math.IsInf(*it.Cost, 0)) {
		it.Cost = nil
	}
	if !(it.Window >= 0) || math.IsInf(it.Window, 0) {
		it.Window = 0
	}
	it.Denied = distinct(it.Denied)
	m.Spent.count(it.Outcome)
	m.Spent.spend(it)
	m.Spent.Losses = 0
	after := deciding
	if m.Latest.ResetsAt = it.ResetsAt; it.Outcome == RateLimited {
		after = ready
		m.Spent.Limited++
	} else {
		m.Spent.Limited = 0
		if m.Spent.Crashes++; it.Outcome != Crashed {
			m.Spent.Crashes = 0
		}
		m.Latest = Latest{
			Outcome: it.Outcome, Text: it.Text, Promised: it.Promised, Problem: cut(escape.Brief(it.Problem), maxName), Exit: it.Exit,
			Session: it.Session, Transcript: it.Transcript, ResetsAt: it.ResetsAt, Denied: it.Denied, Again: again(m.Latest.Denied, it.Denied),
		}
	}
	ev := Event{
		Kind: IterationEnd, Iteration: m.Iterations, Outcome: it.Outcome, Problem: it.Problem, Session: it.Session,
		Exit: &it.Exit, Left: it.Left, Denied: it.Denied, Totals: m.Totals(m.At),
	}
	if !it.ResetsAt.IsZero() {
		ev.Resets = &it.ResetsAt
	}
	m.done(after)
	m.say(ev)
	if m.Plan.Merge {
		m.Phase = merging
		m.next()
		return
	}
	m.consequence(after)
}

// accepted continues after the work of an iteration is on the run's branch.
func (m *machine) accepted() {
	after := deciding
	if m.Spent.Limited > 0 {
		after = ready
	}
	m.done(after)
	m.consequence(after)
}

// consequence ends the run if the outcome of an iteration requires it, regardless of the policy.
func (m *machine) consequence(after phase) {
	l := m.Latest
	switch {
	case after == ready:
	case l.Outcome == Auth || l.Outcome == Billing:
		m.Phase = ready // for a resumed run
		why := "the client cannot sign in"
		if l.Outcome == Billing {
			why = "the account cannot pay"
		}
		m.end(Final{End: NoAccess, Why: why + ": " + l.Problem})
		return
	case l.Outcome == Interrupted:
		m.end(Final{End: Cancelled, Why: fmt.Sprintf("iteration %d was interrupted", m.Iterations)})
		return
	case m.Spent.Crashes >= maxCrashes:
		m.end(Final{End: TooManyFail, Why: fmt.Sprintf("the agent failed %d times in a row: %s", m.Spent.Crashes, l.Problem)})
		return
	}
	m.next()
}

// decided takes a decision of the policy, or that a loop was found.
func (m *machine) decided(d Decision) {
	look := m.Due.Kind == Look
	if !d.Memory.IsZero() {
		m.Memory = d.Memory
	}
	if d.Answered {
		m.Answer = Text{}
	}
	if d.Wait != nil {
		m.done(deciding)
	} else if d.End == "" {
		m.Prompt = d.Prompt
		m.done(ready)
	} else if m.Due = (Command{}); !look {
		m.Phase = deciding // when it is resumed
	}
	if !look {
		m.say(Event{Kind: VerdictMade, Iteration: m.Iterations, Action: d.Action, Rule: d.Rule, Notices: slices.Clone(d.Notices), Done: d.Done, Total: d.Total})
	}
	switch {
	case d.Wait != nil && m.Stopping != "":
		m.end(Final{End: Cancelled, Why: m.Stopping})
	case d.Wait != nil:
		m.wait(Pending{Until: d.Wait.Until, Every: d.Wait.Every, Why: d.Why, Rule: cut(d.Rule, maxName), Resume: deciding, Kind: forPolicy})
	case d.End == "" && m.Latest.Again != nil:
		m.Phase = deciding // when it is resumed
		m.end(Final{End: Denied, Why: m.Latest.Again.twice(m.Plan.Client)})
	case d.End == "":
		m.next()
	case d.End == Asked && m.Plan.Await && m.over().After(m.At) && m.Stopping == "":
		m.wait(Pending{Until: m.over(), Why: d.Why, Resume: deciding, Kind: forAnswer})
	default:
		m.end(Final{End: d.End, Rule: d.Rule, Why: d.Why})
	}
}
