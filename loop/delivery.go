package loop

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/rules"
)

// Answer is what a loop answered to an event that has an ID, see [host.Event.ID]. The same ID gets it again.
type Answer struct {
	ID      string       `json:"id"`
	Event   string       `json:"event"`
	At      time.Time    `json:"at"`
	Policy  string       `json:"policy,omitempty"`
	Digest  string       `json:"digest,omitempty"` // of the policy that decided
	Outcome Outcome      `json:"outcome,omitempty"`
	Cause   rules.Cause  `json:"cause,omitempty"`
	Action  rules.Action `json:"action"`
	Rule    string       `json:"rule,omitempty"`
	Reason  string       `json:"reason,omitempty"`
	Notices []string     `json:"notices,omitempty"`
	Notes   []string     `json:"notes,omitempty"`
	Open    bool         `json:"open,omitempty"` // its effects on facts may not be made yet
}

type deliveryKey struct{}

// WithDelivery returns a context for [Loop.Hook] and [Hook.Reply] with the ID of an event whose host sends none, such as that
// of the request that delivers it: delivered again, it gets the same answer.
func WithDelivery(ctx context.Context, id string) context.Context {
	if ctx == nil {
		return nil // the hook reports it
	}
	return context.WithValue(ctx, deliveryKey{}, id)
}

// delivery returns the ID of [WithDelivery], or "".
func delivery(ctx context.Context) string {
	id, _ := ctx.Value(deliveryKey{}).(string)
	return id
}

// How many answers a session keeps for a policy, how long, and how much of them.
const (
	maxAnswers     = 8
	answerAge      = 24 * time.Hour
	maxAnswerText  = 4 << 10
	maxAnswersSize = 16 << 10
)

// answered makes the decision the one that was made on the first delivery of its event, if there is one.
func (d *Decision) answered() bool {
	i := d.answerIn(d.gatherer.mem.mine().Answers)
	if i < 0 {
		return false
	}
	a := d.gatherer.mem.mine().Answers[i]
	d.Repeated, d.answer = true, a
	d.Verdict = &rules.Verdict{Action: a.Action, Rule: a.Rule, Reason: a.Reason}
	d.Notices, d.Notes, d.Log, d.texts = a.Notices, a.Notes, nil, texts{prefix: d.texts.prefix}
	return true
}

// answerIn returns the index of the answer to the decision's delivery, or -1.
func (d *Decision) answerIn(all []Answer) int {
	return slices.IndexFunc(all, func(a Answer) bool {
		return d.Event.ID != "" && a.ID == d.Event.ID && a.Event == d.Event.Name && d.Time.Sub(a.At) < answerAge
	})
}

// answers reports whether the decision is kept for the next delivery of its event: one that failed is tried again.
func (d *Decision) answers() bool {
	o := d.Outcome()
	return d.Event.ID != "" && o != Failed && o != Skipped
}

// toAnswer returns the answer of the decision as it is now.
func (d *Decision) toAnswer() Answer {
	v := d.Verdict
	a := Answer{
		ID: d.Event.ID, Event: d.Event.Name, At: d.Time, Policy: d.Policy, Digest: d.digest(), Outcome: d.Outcome(), Cause: d.Cause(),
		Action: v.Action, Rule: v.Rule, Reason: cutBytes(v.Reason, maxAnswerText),
	}
	for _, n := range d.Notices {
		a.Notices = append(a.Notices, cutBytes(n, maxAnswerText))
	}
	for _, n := range d.Notes {
		a.Notes = append(a.Notes, cutBytes(n, maxAnswerText))
	}
	for _, texts := range []*[]string{&a.Notices, &a.Notes} { // the reason is what the agent needs
		for len(*texts) > 0 && a.size() > maxAnswersSize {
			*texts = (*texts)[:len(*texts)-1]
		}
	}
	return a
}

// size returns the length of the answer's texts.
func (a Answer) size() int {
	n := len(a.ID) + len(a.Rule) + len(a.Reason)
	for _, text := range slices.Concat(a.Notices, a.Notes) {
		n += len(text)
	}
	return n
}

// digest is that of a program, which has more files once the rest of a lazy one is loaded.
type digest struct {
	program *rules.Program
	files   int
	key     string
}

// digest returns the digest of the policy that decides.
func (d *Decision) digest() string {
	if d.program == nil {
		return ""
	}
	files := d.program.Files()
	if known := d.loop.digest.Load(); known != nil && known.program == d.program && known.files == len(files) {
		return known.key
	}
	now := &digest{d.program, len(files), approval.Key(files)}
	d.loop.digest.Store(now)
	return now.key
}

// withAnswer adds an answer, or replaces that of its ID, and drops the oldest within the bounds.
func withAnswer(all []Answer, a Answer) []Answer {
	all = slices.DeleteFunc(slices.Clone(all), func(o Answer) bool {
		return o.ID == a.ID && o.Event == a.Event || a.At.Sub(o.At) >= answerAge
	})
	all = append(all, a)
	size := 0
	for i, o := range slices.Backward(all) {
		if size += o.size(); len(all)-i > maxAnswers || size > maxAnswersSize {
			return all[i+1:]
		}
	}
	return all
}

// reopen makes the effects on facts of an answer whose process ended before it had made them.
func (d *Decision) reopen(ctx context.Context) error {
	if !d.answer.Open {
		return nil
	}
	id, event := d.Event.ID, d.Event.Name
	err := d.remake(ctx, d.gatherer.mem.mine().Pending, id, event)
	if err != nil {
		err = fmt.Errorf("the effects of the first delivery can no longer be made: %w", err)
	}
	closed := d.gatherer.mem.update(ctx, nil, func(e *Entry) bool {
		e.made(id, event, err)
		return true
	})
	if err == nil && closed != nil {
		err = memoryError{closed}
	}
	return err
}

// made takes the effects on facts of a decision from what is pending. Those that could not be made take the decision's
// answer and its other effects with them: it did not take effect.
func (e *Entry) made(id, event string, err error) {
	e.Pending = slices.DeleteFunc(e.Pending, func(c Call) bool { return c.of(id, event) && (err != nil || changes(c.Effect)) })
	e.Answers = slices.Clone(e.Answers)
	i := slices.IndexFunc(e.Answers, func(a Answer) bool { return a.ID == id && a.Event == event })
	switch {
	case i < 0:
	case err != nil:
		e.Answers = slices.Delete(e.Answers, i, i+1)
	default:
		e.Answers[i].Open = false
	}
}
