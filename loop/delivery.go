package loop

import (
	"context"
	"time"

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
	Action  rules.Action `json:"action"`
	Rule    string       `json:"rule,omitempty"`
	Reason  string       `json:"reason,omitempty"`
	Notices []string     `json:"notices,omitempty"`
	Notes   []string     `json:"notes,omitempty"`
	Open    bool         `json:"open,omitempty"` // its effects on facts may not be made yet
}

// Call is one effect of the embedding program that a decision makes, see [WithEffect]. It is made at least once: a process
// that ends between an effect and its note makes it again, with the same ID.
type Call struct {
	ID      string       `json:"id"`      // of the decision and the effect's place in it, the same at each attempt: an idempotency key
	Attempt int          `json:"attempt"` // from 1
	Due     time.Time    `json:"due"`     // when the next attempt may begin; until then it belongs to whoever claimed it
	Scope   string       `json:"scope,omitempty"`
	Policy  string       `json:"policy"`
	Digest  string       `json:"digest,omitempty"` // of the policy that decided
	Rule    string       `json:"rule"`
	Host    string       `json:"host,omitempty"`
	Event   string       `json:"event"`
	EventID string       `json:"event_id,omitempty"`
	Session string       `json:"session,omitempty"`
	Agent   string       `json:"agent,omitempty"`
	Turn    string       `json:"turn,omitempty"`
	Run     string       `json:"run,omitempty"`
	Root    string       `json:"root,omitempty"`
	At      time.Time    `json:"at"` // of the decision
	Effect  rules.Effect `json:"effect"`
}

type deliveryKey struct{}

// WithDelivery returns a context for [Loop.Hook] and [Hook.Reply] that gives an event whose host names none an ID, such as
// that of the request that delivers it: delivered again, it gets the same answer.
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
