package run

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run/step"
)

// making is a decision under way: the state on which it is made, and the memories of the run.
type making struct {
	State step.State
	memory
}

// memory is what a run keeps for its loop.
type memory struct {
	Memory  *loop.Entry `json:"memory,omitempty"`
	Counted *loop.Entry `json:"counted,omitempty"` // what the run's session counts for all policies
	Project *loop.Entry `json:"project,omitempty"` // what loops of the project share, without WithStore
}

// Decide carries out [step.Decide] or [step.Look] of a run, and returns its answer. It never fails: a failure is an
// input. A Runner decides one at a time.
func (r *Runner) Decide(ctx context.Context, s step.State) step.Input {
	in := step.Input{Kind: step.NotStarted, Key: s.Due.Key}
	m, err := r.make(s)
	if err != nil {
		in.Why = err.Error()
		return in
	}
	var d *step.Decision
	if s.Due.Kind == step.Look {
		d = r.look(ctx, r.event(s), m)
	} else {
		d = r.ask(ctx, r.stop(s), m)
	}
	if ctx.Err() != nil {
		in.Why = ctx.Err().Error() // evaluate again when the run is resumed
		return in
	}
	memory, err := json.Marshal(m.memory)
	if err != nil {
		in.Why = fmt.Sprintf("the memory of the run cannot be kept: %v", err)
		return in
	}
	d.Memory = r.put(string(memory))
	in.Kind, in.Decision = step.Decided, d
	return in
}

// make begins a decision, or a look at what a rule waits for.
func (r *Runner) make(s step.State) (*making, error) {
	r.making = &making{State: s}
	if kept := r.saved.text(s.Memory); kept != "" {
		if err := json.Unmarshal([]byte(kept), &r.making.memory); err != nil {
			return nil, fmt.Errorf("the memory of the run cannot be read: %w", err)
		}
	}
	return r.making, nil
}

// Await carries out [step.Await] of a run, and returns its answer: whether the rule still waits. What cannot be evaluated is
// for the next decision to report. Nothing is recorded.
func (r *Runner) Await(ctx context.Context, s step.State) step.Input {
	in := step.Input{Kind: step.Awaited, Key: s.Due.Key}
	if _, err := r.make(s); err != nil {
		return in
	}
	waits, err := r.loop.Awaits(ctx, r.stop(s), s.Due.Rule)
	if ctx.Err() != nil {
		return step.Input{Kind: step.NotStarted, Key: s.Due.Key, Why: ctx.Err().Error()}
	}
	in.Waits = waits && err == nil
	return in
}

// look makes the user's prompt the first one. Look tries no rule, so record here that a loop exists: the agent may remove
// it when it is done.
func (r *Runner) look(ctx context.Context, ev host.Event, m *making) *step.Decision {
	v, err := r.loop.Look(ctx, ev)
	switch {
	case err != nil:
		return &step.Decision{End: Failed, Why: err.Error()}
	case v.Cause.Loop(), v.Cause == rules.Off, v.Cause == rules.FaultMemory:
		return &step.Decision{End: Failed, Why: v.Reason}
	}
	m.memory.Memory = &loop.Entry{Memory: v.Memory}
	return &step.Decision{Prompt: r.waiting(m.State, r.saved.text(m.State.Plan.Prompt))}
}

// waiting returns a prompt with the line that the run waits for, and why it did not count in the last iteration.
func (r *Runner) waiting(s step.State, prompt string) step.Text {
	if said := s.Plan.Said; said != "" {
		prompt += "\n\n" + cmp.Or(host.Said.Missed([]string{r.saved.text(s.Latest.Text)}, said, r.shown(s)...), host.Said.Show(said))
	}
	return r.put(prompt)
}

// shown returns the digests for the line that the run waits for, of the prompt of the last iteration.
func (r *Runner) shown(s step.State) []string {
	return host.Said.Shown(r.saved.text(s.Prompt), s.Plan.Said)
}

// event returns the end of an iteration as the policy sees it. The run is the session, and its iterations are one turn;
// resuming a run that ended begins another turn.
func (r *Runner) event(s step.State) host.Event {
	turn := fmt.Sprintf("%s-%d", s.Plan.ID, s.Resumed)
	return host.Event{Host: r.adapter.Host(), Name: host.Stop, ID: s.Due.Key, Run: s.Plan.ID, Iteration: s.Iterations, SessionID: Session(s.Plan.ID), Cwd: s.Plan.Root, HostTurn: turn, Turn: turn}
}

// stop returns the end of the last iteration, with the agent's words.
func (r *Runner) stop(s step.State) host.Event {
	ev := r.event(s)
	if s.Iterations > 0 {
		ev.LastAssistantMessage, ev.TranscriptPath = r.saved.text(s.Latest.Text), s.Latest.Transcript
	}
	return ev
}

// Session returns the session name of a run in events and decision records.
func Session(id string) string { return "run:" + id }

// ask evaluates the policy. Its text is the next prompt, or it ends the run.
func (r *Runner) ask(ctx context.Context, ev host.Event, m *making) *step.Decision {
	d := r.loop.Preview(ctx, ev)
	d, err := r.loop.Apply(ctx, d)
	v := d.Verdict
	out := &step.Decision{Action: v.Action.String(), Rule: v.Rule, Notices: slices.Clone(d.Notices)}
	out.Answered = err == nil && v.Cause == "" // otherwise nothing was decided with it
	for _, f := range d.Failures {
		out.Notices = append(out.Notices, f.String())
	}
	if p := v.Measure; p != nil {
		out.Done, out.Total = &p.Done, &p.Total
	}
	if v.Action == rules.Continue {
		out.Prompt = r.waiting(m.State, v.Reason)
		return out
	}
	out.Why = v.Reason
	if v.Action == rules.Wait && err == nil {
		out.Wait = &step.Awaiting{Until: v.Wait.Until, Every: v.Wait.Every}
		return out
	}
	switch {
	case err != nil:
		out.End, out.Why = Failed, err.Error()
	case v.Cause == rules.NotListed, v.Cause == rules.NotFor, v.Cause == rules.Paused:
		out.End = Stopped
	case v.Cause != "":
		out.End = Failed
	default:
		out.End, out.Why = endOf(v)
	}
	return out
}

// endOf returns how a verdict ends a run, and why.
func endOf(v *rules.Verdict) (End, string) {
	switch {
	case v.Bound == "repeats":
		return NoProgress, v.Reason
	case v.Bound != "":
		return AtLimit, v.Reason
	case v.Action == rules.Ask:
		return Asked, v.Reason
	case v.Success:
		return Success, v.Reason
	}
	if v.Rule == "" && v.Reason == "" {
		return Stopped, "no rule of the policy continues"
	}
	return Stopped, v.Reason
}

// stored returns the options of the run's loop for what it keeps.
func (r *Runner) stored() []loop.Option {
	k := r.kept.runs
	if k == nil {
		return []loop.Option{loop.WithStore(memories{r})}
	}
	opts := []loop.Option{loop.WithStore(sharing{memories{r}, k.docs, k.leases})}
	if k.scope != "" {
		opts = append(opts, loop.WithScope(k.scope))
	}
	if to, ok := k.store.(loop.Recorder); ok {
		opts = append(opts, loop.WithRecorder(to))
	}
	return opts
}

// sharing is the store of the loop of a run that is kept: what persons order is in the store of the run.
type sharing struct {
	memories
	loop.Documents
	loop.Leases
}

// memories is the store of the run's loop. It keeps the loop's memory with the run, so that a verdict and its count are
// saved in one step and a decision that is made twice counts once, and memory that loops of a project share in the store of
// the run, if it has one.
type memories struct{ r *Runner }

func (m memories) Load(ctx context.Context, keys ...loop.Key) ([]loop.Entry, error) {
	out := make([]loop.Entry, len(keys))
	var others []loop.Key
	for i, k := range keys {
		switch out[i].Key = k; {
		case m.shared(k):
			others = append(others, k)
		default:
			if kept := *m.kept(k); kept != nil {
				out[i] = *kept
				out[i].Key, out[i].Version = k, "kept"
			}
		}
	}
	if len(others) == 0 {
		return out, nil
	}
	entries, err := m.r.kept.runs.load(ctx, others)
	if err != nil {
		return nil, err
	}
	for i, k := range keys {
		if m.shared(k) {
			out[i], entries = entries[0], entries[1:]
		}
	}
	return out, nil
}

func (m memories) Save(ctx context.Context, w loop.Write) error {
	for i, e := range w.Entries {
		if m.shared(e.Key) {
			if err := m.r.kept.runs.store.Save(ctx, loop.Write{Entries: w.Entries[i : i+1]}); err != nil {
				return err
			}
		}
	}
	for i, e := range w.Entries {
		if !m.shared(e.Key) {
			w.Entries[i].Version = "kept"
			*m.kept(e.Key) = &e
		}
	}
	return nil
}

// shared reports whether the store of the run has what is under a key.
func (m memories) shared(k loop.Key) bool {
	return (k.Project || k.Name != "") && m.r.kept.runs != nil
}

// kept is where the run keeps a memory of its own: of its loop, of its session, or of its project.
func (m memories) kept(k loop.Key) **loop.Entry {
	switch {
	case k.Project:
		return &m.r.making.Project
	case k.Policy == "":
		return &m.r.making.Counted
	}
	return &m.r.making.Memory
}

// facts returns the world with run.NAME. transcript.failed is nil: the outcome has the failure.
func (r *Runner) facts(_ host.Event, world rules.Facts) rules.Facts { return facts{world, r} }

type facts struct {
	rules.Facts
	r *Runner
}

// Concurrent reports whether the world's facts may be gathered at the same time.
func (f facts) Concurrent() bool {
	c, ok := f.Facts.(rules.ConcurrentFacts)
	return ok && c.Concurrent()
}

func (f facts) Name(ctx context.Context, name string) any {
	s := f.r.making.State
	t, l := s.Totals(f.r.clock.now()), s.Latest
	var cost any
	if t.Cost != nil {
		cost = *t.Cost
	}
	denied := []any{}
	for _, d := range l.Denied {
		denied = append(denied, map[string]any{"tool": d.Tool, "input": d.Input})
	}
	own := map[string]any{
		vocab.RunStarting: s.Iterations == 0, vocab.RunOutcome: string(l.Outcome), vocab.RunIteration: s.Iterations, vocab.RunElapsed: t.Elapsed,
		vocab.Answer: f.r.saved.text(s.Answer), vocab.RunTokens: t.Tokens, vocab.RunCost: cost, vocab.RunExitCode: l.Exit, vocab.RunSessionID: l.Session, vocab.RunResetsAt: l.ResetsAt,
		vocab.RunDenied: denied, vocab.TranscriptFailed: nil,
	}
	if v, ok := own[name]; ok {
		return v
	}
	return f.Facts.Name(ctx, name)
}
