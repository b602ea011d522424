package loop

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

const (
	prompt      = "UserPromptSubmit"
	evaluations = 4 // of one decision, while files change under it
)

// errLate is why a decision ends that takes longer than its deadline.
var errLate = errors.New("the time of the decision is over")

// Decide decides one event: gathers, evaluates, changes files, counts, records. The error is for a misuse by the program, such as a
// value that it forgot; with any error the agent may stop.
func (l *Loop) Decide(ctx context.Context, ev Event) (Decision, error) { return l.decide(ctx, ev, nil) }

// Refuse is the decision of an event whose policy cannot be used, such as one that does not parse: the agent may stop. The person sees
// why once a prompt. The loop's own policy has only the name of that one, by which it is counted, recorded and stopped.
func (l *Loop) Refuse(ctx context.Context, ev Event, why error) Decision {
	d, _ := l.decide(ctx, ev, why)
	return d
}

// Explain evaluates an event as Decide would do now, and changes and counts nothing. Sources are asked, programs too if the loop allows
// them. The verdict has its trace.
func (l *Loop) Explain(ctx context.Context, ev Event) (v rules.Verdict, err error) {
	err = l.within(ctx, ev, func(ctx context.Context, w *work) error {
		d, err := l.load(ctx, w.key)
		if err != nil {
			return err
		}
		c := cmp.Or(d.Policies[w.counts], &counts{})
		w.memory = c.begin(w.ev)
		in := w.input(d.Total)
		in.Trace = true
		if v, err = l.policy.Eval(ctx, in); err != nil {
			return misuse("%w", err)
		}
		return nil
	})
	return v, err
}

// decide decides, by the policy unless it is broken.
func (l *Loop) decide(ctx context.Context, ev Event, broken error) (d Decision, err error) {
	err = l.within(ctx, ev, func(ctx context.Context, w *work) error {
		w.broken = broken
		err := w.decide(ctx)
		d = w.answer
		return err
	})
	if err == nil {
		return d, nil
	}
	if d.Err == nil {
		d = l.failed(err)
	}
	if f := new(Fault); errors.As(err, &f) && f.Kind != "program" {
		err = nil
	}
	return d, err
}

// decide makes the answer. With an error the agent may stop.
func (w *work) decide(ctx context.Context) error {
	if w.broken == nil && w.ev.Name != prompt && !slices.Contains(w.policy.Events, w.ev.Name) {
		w.answer = Decision{Outcome: rules.Idle, Policy: w.policy.Name}
		return nil
	}
	why, err := w.off(ctx, w.ev.Run)
	if err != nil {
		return err
	}
	if why != "" {
		w.isOff(ctx, why)
		return nil
	}
	err = w.update(ctx, w.key, func(d *document) error { return w.change(ctx, d) })
	switch {
	case err != nil:
		w.answer, w.verdict = w.failed(err), rules.Verdict{}
	case w.repeated:
		return nil
	}
	w.after(ctx)
	w.keepRecord(ctx)
	return err
}

// isOff makes the answer to an event that is not decided. It is recorded once a session for each reason.
func (w *work) isOff(ctx context.Context, why string) {
	w.answer = Decision{Outcome: Off, Policy: w.policy.Name, Reason: why}
	if w.record == nil {
		return
	}
	mark, first := w.policy.Name+": "+why, false
	err := w.update(ctx, w.key, func(d *document) error {
		if first = !slices.Contains(d.Off, mark); first {
			d.Off = append(d.Off, mark)
		}
		return nil
	})
	if err == nil && first {
		w.keepRecord(ctx)
	}
}

// change makes the answer with the document of the session. Everything in it happens while no other decision of the session is made.
func (w *work) change(ctx context.Context, d *document) (err error) {
	c := cmp.Or(d.Policies[w.counts], &counts{})
	d.Policies[w.counts] = c
	if w.answer, w.repeated = c.repeated(w.ev); w.repeated {
		return nil
	}
	w.memory = c.begin(w.ev)
	w.verdict = rules.Verdict{Outcome: rules.Failed, Memory: w.memory, Err: w.broken}
	switch {
	case w.broken != nil:
		w.verdict.Reason = w.broken.Error()
	case w.ev.Failed != "":
		w.verdict.Reason = "the turn failed: " + w.ev.Failed
	default:
		if w.verdict, err = w.evaluate(ctx, d.Total); err != nil {
			return err
		}
	}
	c.Memory = w.verdict.Memory
	if w.verdict.Outcome == rules.Continued {
		d.Total++
	}
	w.answer = w.decision(c)
	c.keep(w.ev, w.answer)
	if w.counts != w.policy.Name && !w.answer.Continue() {
		delete(d.Policies, w.counts) // a subagent ends once
	}
	return nil
}

// evaluate makes the verdict and its changes of files; again if a file changed in between. The error is a misuse by the program, or that
// the time is over.
func (w *work) evaluate(ctx context.Context, total int) (rules.Verdict, error) {
	for try := 1; ; try++ {
		v, err := w.policy.Eval(ctx, w.input(total))
		if ctx.Err() != nil {
			return v, context.Cause(ctx)
		}
		if err != nil {
			return v, misuse("%w", err)
		}
		err = w.apply(v.Effects)
		if err == nil {
			return v, nil
		}
		if !errors.Is(err, state.ErrChanged) || try == evaluations {
			err = &Fault{"files", errors.Is(err, state.ErrChanged), err}
			return rules.Verdict{Outcome: rules.Failed, Rule: v.Rule, Reason: err.Error(), Err: err, Memory: w.memory, Trace: v.Trace}, nil
		}
	}
}

func (w *work) input(total int) rules.Input {
	return rules.Input{
		Event: w.ev.Name, Values: w.ev.Values, World: w, Memory: w.memory, Total: total,
		Now: w.now, Limits: w.ceilings, Run: w.ev.Run, Trace: w.record != nil,
	}
}

// decision turns the verdict into the answer.
func (w *work) decision(c *counts) Decision {
	v := &w.verdict
	d := Decision{
		Outcome: v.Outcome, Policy: w.policy.Name, Rule: v.Rule, Reason: text.Clean(v.Reason), Err: v.Err,
		Note: text.Clean(strings.Join(v.Notes, "\n\n")),
	}
	for _, line := range v.Logs {
		d.Log = append(d.Log, text.Clean(line))
	}
	for _, e := range v.Effects {
		if e.Kind == "run" && w.effects["run"] == nil {
			_ = w.may("run") // asks now, while the notice is still to come
		}
	}
	var notices []string
	if v.Outcome != rules.Stopped || v.Err == nil || c.show("refused") { // else why it is not done was shown
		notices = append(notices, v.Notices...)
	}
	if end := c.end(v, w.memory.Continuations > 0 && w.ev.Name != prompt); end != "" {
		notices = append(notices, w.policy.Name+": "+end)
	}
	if w.refused != "" && c.show("approval") {
		notices = append(notices, w.refused)
	}
	d.Notice = text.Clean(strings.Join(notices, "\n"))
	return d
}

// Continue reports whether the agent goes on.
func (d Decision) Continue() bool { return d.Outcome == rules.Continued }

// end returns what the person sees of the end of a loop beside the notices of the rules: each kind of end once a prompt. The ends that
// mean nothing without a continuation before are silent without one.
func (c *counts) end(v *rules.Verdict, continued bool) string {
	kind, line := string(v.Outcome), ""
	switch {
	case v.Outcome == rules.Done && continued && len(v.Notices) == 0:
		line = strings.TrimSuffix("done: "+v.Reason, ": ")
	case v.Outcome == rules.Idle && continued:
		line = "no rule decides, so the agent may stop"
	case v.Outcome == rules.Limit:
		line = "the agent may stop: " + v.Reason
	case v.Outcome == rules.Failed && (continued || v.Err != nil): // that a turn failed is shown by its host
		line = "the agent may stop: " + cmp.Or(v.Reason, fmt.Sprint(v.Err))
		kind = line
	}
	if line == "" || !c.show(kind) {
		return ""
	}
	return line
}

// show reports whether the person has not seen an end in this prompt. A memory holds no texts, so of one it is the hash.
func (c *counts) show(kind string) bool {
	if strings.Contains(kind, " ") {
		kind = fmt.Sprintf("%.8x", sha256.Sum256([]byte(kind)))
	}
	if slices.Contains(c.Shown, kind) {
		return false
	}
	c.Shown = append(c.Shown, kind)
	return true
}
