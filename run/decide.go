package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// firstPrompt sets the prompt to the user's, or to the policy's continue text.
func (r *Runner) firstPrompt(ctx context.Context) error {
	p := &r.progress
	if r.plan.Prompt == "" {
		return r.ask(ctx, r.event())
	}
	// Look tries no rule, so record here that a loop exists: the agent may remove it when it is done.
	v, err := r.loop.Look(ctx, r.event())
	switch {
	case ctx.Err() != nil:
		return r.user.interrupted(ctx)
	case err != nil:
		return endf(Failed, "%v", err)
	case v.Aside.Loop(), v.Aside == rules.Off, v.Fault == rules.FaultMemory:
		return endf(Failed, "%s", v.Reason)
	}
	p.Phase, p.Prompt, p.Memory = ready, r.waiting(r.plan.Prompt), &loop.Entry{Memory: v.Memory}
	return nil
}

// decide evaluates the policy after an iteration.
func (r *Runner) decide(ctx context.Context) error {
	if said := r.plan.Said; said != "" && r.progress.Outcome == OK && host.Said.In([]string{r.progress.Text}, said, r.shown()...) {
		return endf(Success, "the agent wrote %s", said)
	}
	return r.ask(ctx, r.stop())
}

// stop returns the end of the last iteration, with the agent's words.
func (r *Runner) stop() host.Event {
	ev := r.event()
	ev.LastAssistantMessage, ev.TranscriptPath = r.progress.Text, r.progress.Transcript
	return ev
}

// waiting returns a prompt with the line that the run waits for, and why it did not count in the last iteration.
func (r *Runner) waiting(prompt string) string {
	said := r.plan.Said
	if said == "" {
		return prompt
	}
	return prompt + "\n\n" + cmp.Or(host.Said.Missed([]string{r.progress.Text}, said, r.shown()...), host.Said.Show(said))
}

// shown returns the digests for the line that the run waits for, of the prompt of the last iteration.
func (r *Runner) shown() []string { return host.Said.Shown(r.progress.Prompt, r.plan.Said) }

// event returns the end of an iteration as the policy sees it. The run is the session, and its iterations are one turn;
// resuming a run that ended begins another turn.
func (r *Runner) event() host.Event {
	turn := fmt.Sprintf("%s-%d", r.plan.ID, r.progress.Resumed)
	return host.Event{Host: r.adapter.Host(), Name: host.Stop, Run: r.plan.ID, Iteration: r.progress.Iterations, SessionID: Session(r.plan.ID), Cwd: r.plan.Root, HostTurn: turn, Turn: turn}
}

// Session returns the session name of a run in events and decision records.
func Session(id string) string { return "run:" + id }

// ask evaluates the policy, and uses its text as the next prompt or ends the run.
func (r *Runner) ask(ctx context.Context, ev host.Event) error {
	d := r.loop.Preview(ctx, ev)
	d, err := r.loop.Apply(ctx, d)
	if ctx.Err() != nil {
		return r.user.interrupted(ctx) // evaluate again when the run is resumed
	}
	v, p := d.Verdict, &r.progress
	if err == nil && v.Fault == "" && v.Aside == "" { // otherwise nothing was decided with it
		p.Answer = ""
	}
	said := Event{Kind: VerdictMade, Iteration: p.Iterations, Action: v.Action.String(), Rule: v.Rule, Notices: d.Notices}
	for _, f := range d.Failures {
		said.Notices = append(slices.Clone(said.Notices), f.String())
	}
	if m := v.Measure; m != nil {
		said.Done, said.Total = &m.Done, &m.Total
	}
	p.Phase, p.Await = deciding, nil // when it is resumed
	switch v.Action {
	case rules.Continue:
		p.Phase, p.Prompt = ready, r.waiting(v.Reason)
	case rules.Wait:
		p.Phase, p.Await = waiting, &await{Rule: v.Rule, For: v.Reason, Until: v.Wait.Until, Every: v.Wait.Every}
	}
	if err := r.say(said); err != nil {
		return err
	}
	switch {
	case v.Action == rules.Continue, v.Action == rules.Wait:
		return nil
	case err != nil:
		return &ended{end: Failed, rule: v.Rule, why: err.Error()}
	}
	switch v.Aside {
	case "":
	case rules.NotListed, rules.NotFor, rules.Paused:
		return endf(Stopped, "%s", v.Reason)
	default:
		return endf(Failed, "%s", v.Reason)
	}
	return endOf(v)
}

// endOf returns how a verdict ends a run.
func endOf(v *rules.Verdict) *ended {
	e := &ended{end: Stopped, rule: v.Rule, why: v.Reason}
	switch {
	case v.Bound == "repeats":
		e.end = NoProgress
	case v.Bound != "":
		e.end = AtLimit
	case v.Action == rules.Ask:
		e.end = Asked
	case v.Success:
		e.end = Success
	case v.Rule == "" && e.why == "":
		e.why = "no rule of the policy continues"
	}
	return e
}

// memories is the store of the run's loop. It keeps the loop's memory with the run, so that a verdict and its count are
// saved in one step, and memory that loops of a project share in their store.
type memories struct{ r *Runner }

func (m memories) Load(ctx context.Context, keys ...loop.Key) ([]loop.Entry, error) {
	out := make([]loop.Entry, len(keys))
	for i, k := range keys {
		switch out[i].Key = k; {
		case k.Project:
			shared, err := m.r.kept.project.Load(ctx, k)
			if err == nil && len(shared) != 1 {
				err = fmt.Errorf("Store.Load returned %d entries for a key", len(shared))
			}
			if err != nil {
				return nil, err
			}
			out[i] = shared[0]
		default:
			if kept := *m.kept(k); kept != nil {
				out[i] = *kept
				out[i].Key, out[i].Version = k, "kept"
			}
		}
	}
	return out, nil
}

func (m memories) Save(ctx context.Context, w loop.Write) error {
	for i, e := range w.Entries {
		if e.Key.Project {
			if err := m.r.kept.project.Save(ctx, loop.Write{Entries: w.Entries[i : i+1]}); err != nil {
				return err
			}
		}
	}
	for i, e := range w.Entries {
		if !e.Key.Project {
			w.Entries[i].Version = "kept"
			*m.kept(e.Key) = &e
		}
	}
	return nil
}

// kept is where the run keeps a memory of its own: of its loop, or of its session.
func (m memories) kept(k loop.Key) **loop.Entry {
	if k.Policy == "" {
		return &m.r.progress.Counted
	}
	return &m.r.progress.Memory
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
	t, p := f.r.totals(), f.r.progress
	var cost any
	if p.Cost != nil {
		cost = *p.Cost
	}
	own := map[string]any{
		vocab.RunStarting: p.Iterations == 0, vocab.RunOutcome: string(p.Outcome), vocab.RunIteration: p.Iterations, vocab.RunElapsed: t.Elapsed,
		vocab.Answer: p.Answer, vocab.RunTokens: p.Tokens, vocab.RunCost: cost, vocab.RunExitCode: p.Exit, vocab.RunSessionID: p.Session, vocab.RunResetsAt: p.ResetsAt, vocab.TranscriptFailed: nil,
	}
	if v, ok := own[name]; ok {
		return v
	}
	return f.Facts.Name(ctx, name)
}
