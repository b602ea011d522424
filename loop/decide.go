package loop

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/state"
)

const (
	stop         = "Stop"
	subagentStop = "SubagentStop"
	prompt       = "UserPromptSubmit"

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

func (l *Loop) decide(ctx context.Context, ev Event, broken error) (answer Decision, err error) {
	began := time.Now()
	defer func() {
		if err != nil {
			answer = l.failed(err)
		}
	}()
	defer caught(&err)
	ctx, w, err := l.work(ctx, ev)
	if err != nil {
		return answer, err
	}
	defer w.close()
	w.broken = broken
	if broken == nil && w.ev.Name != prompt && !slices.Contains(w.policy.Events, w.ev.Name) {
		return Decision{Outcome: rules.Idle, Policy: w.policy.Name}, nil
	}
	why, err := w.off(ctx, w.ev.Run)
	if err != nil {
		return w.failed(w.fault(w.key, err)), nil
	}
	if why != "" {
		return w.isOff(ctx, why), nil
	}
	var d made
	err = l.store.Update(ctx, w.key, func(old []byte) (b []byte, err error) {
		d, b, err = w.change(ctx, old)
		return b, err
	})
	switch {
	case d.misuse != nil:
		return answer, d.misuse
	case err != nil:
		d = made{Decision: w.failed(w.fault(w.key, err))}
	case d.repeated:
		return d.Decision, nil
	}
	w.after(ctx, &d)
	w.keepRecord(ctx, &d, began)
	return d.Decision, nil
}

// work prepares a decision. Its context has the deadline.
func (l *Loop) work(ctx context.Context, ev Event) (context.Context, *work, error) {
	ev.Name = cmp.Or(ev.Name, stop)
	key, err := l.sessionKey(ev)
	if err != nil {
		return ctx, nil, err
	}
	ctx, cancel := context.WithTimeoutCause(cmp.Or(ctx, context.Background()), l.Deadline(), errLate)
	w := &work{Loop: l, policy: l.Policy(), ev: ev, key: key, now: l.now(), cancel: cancel}
	w.talk.ev, w.counts = &w.ev, w.policy.Name
	if agent, _ := ev.Names["agent_id"].(string); agent != "" && ev.Name == subagentStop {
		w.counts += "/" + agent
	}
	return ctx, w, nil
}

// made is a decision while it is made.
type made struct {
	Decision
	verdict  rules.Verdict
	misuse   error // by the program
	repeated bool  // it is the answer of an earlier delivery
}

// change decides with the document of the session, and returns the new one. Everything in it happens while no other decision of the
// session is made.
func (w *work) change(ctx context.Context, old []byte) (d made, new []byte, err error) {
	s, err := w.sessions.take(w.key, old)
	if err != nil {
		return d, nil, err
	}
	defer func() {
		if err == nil {
			w.sessions.keep(w.key, s)
		}
	}()
	c := s.of(w.counts)
	if d.Decision, d.repeated = c.repeated(w.ev); d.repeated {
		new, err = s.bytes()
		return d, new, err
	}
	c.begin(w.ev)
	w.memory = c.Memory
	if w.broken != nil {
		d.Decision = w.failed(w.broken)
		if d.Notice = text.Clean("ralph: the policy " + d.Policy + " lets the agent stop: " + d.Reason); !c.show(d.Notice) {
			d.Notice = ""
		}
		new, err = s.bytes()
		return d, new, err
	}
	if w.ev.Failed != "" {
		d.verdict = rules.Verdict{Outcome: rules.Failed, Reason: "the turn failed: " + w.ev.Failed, Memory: c.Memory}
	} else if d.verdict, err = w.verdict(ctx, s.Total); err != nil {
		if ctx.Err() == nil {
			d.misuse = misuse("%w", err)
		}
		return d, nil, err
	}
	continued := c.Memory.Continuations > 0
	c.Memory = d.verdict.Memory
	if d.verdict.Outcome == rules.Continued {
		s.Total++
	}
	d.Decision = w.decision(d.verdict, c, continued)
	c.keep(w.ev, d.Decision)
	if w.counts != w.policy.Name && !d.Continue() {
		delete(s.Policies, w.counts) // a subagent ends once
	}
	new, err = s.bytes()
	return d, new, err
}

// verdict evaluates, and makes the changes of files; again if a file changed in between. The error is a misuse by the program, or that
// the time is over.
func (w *work) verdict(ctx context.Context, total int) (rules.Verdict, error) {
	for try := 1; ; try++ {
		v, err := w.policy.Eval(ctx, w.input(total))
		if ctx.Err() != nil {
			return v, context.Cause(ctx)
		}
		if err != nil {
			return v, err
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

// decision turns a verdict into the answer.
func (w *work) decision(v rules.Verdict, c *counts, continued bool) Decision {
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
	notices := v.Notices
	if v.Outcome == rules.Stopped && v.Err != nil && !c.show("refused") {
		notices = nil // why it is not done was shown
	}
	if end := c.end(v, continued && w.ev.Name != prompt); end != "" {
		notices = append(slices.Clip(notices), w.policy.Name+": "+end)
	}
	if w.refused != "" && c.show("approval") {
		notices = append(slices.Clip(notices), w.refused)
	}
	d.Notice = text.Clean(strings.Join(notices, "\n"))
	return d
}

// Continue reports whether the agent goes on.
func (d Decision) Continue() bool { return d.Outcome == rules.Continued }

// end returns what the person sees of the end of a loop beside the notices of the rules: each kind of end once a prompt. The ends that
// mean nothing without a continuation before are silent without one.
func (c *counts) end(v rules.Verdict, continued bool) string {
	kind, line := string(v.Outcome), ""
	switch v.Outcome {
	case rules.Done:
		if continued && len(v.Notices) == 0 {
			line = "done" + after(": ", v.Reason)
		}
	case rules.Idle:
		if continued {
			line = "no rule decides, so the agent may stop"
		}
	case rules.Limit:
		line = "the agent may stop" + after(": ", v.Reason)
	case rules.Failed:
		if !continued && v.Err == nil { // the turn failed, which its host shows
			break
		}
		line = "the agent may stop: " + cmp.Or(v.Reason, fmt.Sprint(v.Err))
		kind = line
	}
	if line != "" && c.show(kind) {
		return line
	}
	return ""
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

func after(sep, s string) string {
	if s == "" {
		return ""
	}
	return sep + s
}
