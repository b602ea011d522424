package loop

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/rules"
)

// Call is one effect of the embedding program that a decision makes, see [WithEffect]. It is saved with the decision and made
// at least once: after a process that ended between an effect and its note it is made again, with the same ID. An effect with
// private values is not saved, so it is made at most once.
type Call struct {
	ID      string       `json:"id"`      // of the decision and the effect's place in it, the same at each attempt: an idempotency key
	Attempt int          `json:"attempt"` // from 1
	Due     time.Time    `json:"due"`     // when the next attempt may begin; until then it belongs to the process that claimed it
	Scope   string       `json:"scope,omitempty"`
	Policy  string       `json:"policy"`
	Digest  string       `json:"digest,omitempty"` // of the policy that decided
	Rule    string       `json:"rule"`
	Host    string       `json:"host,omitempty"`
	Event   string       `json:"event"`
	EventID string       `json:"event_id,omitempty"` // of the event that was decided
	Session string       `json:"session,omitempty"`
	Agent   string       `json:"agent,omitempty"`
	Turn    string       `json:"turn,omitempty"`
	Run     string       `json:"run,omitempty"`
	Root    string       `json:"root,omitempty"`
	At      time.Time    `json:"at"` // of the decision
	Effect  rules.Effect `json:"effect"`
}

// Failure is an effect after a verdict that was not made.
type Failure struct {
	Call  Call   `json:"call"`
	Error string `json:"error"`
	Dead  bool   `json:"dead,omitempty"` // it is not tried again

	private bool // the error may quote private values
}

// String returns a sentence for the user.
func (f Failure) String() string {
	s := "rule " + f.Call.Rule + ": "
	if f.Call.Effect.Kind == rules.OwnEffect {
		s += f.Call.Effect.Name + " was not carried out: "
	}
	return s + f.Error
}

// When a call is tried again, after a second at first and then after four times as long, and when it is given up.
const (
	firstBackoff = time.Second
	maxBackoff   = time.Hour
	maxAttempts  = 10
	callAge      = 7 * 24 * time.Hour
	maxPending   = 100 // of one policy in one session; more would grow its memory with each decision
)

// of reports whether the call is of the decision on an event with an ID.
func (c Call) of(id, event string) bool { return c.EventID == id && c.Event == event }

// decision returns the ID of the call's decision.
func (c Call) decision() string { return c.ID[:max(0, strings.LastIndexByte(c.ID, '-'))] }

// claimTime is how long a claimed call belongs to one process.
func (l *Loop) claimTime() time.Duration { return max(time.Minute, l.bounds.deadline+5*time.Second) }

// toMake returns the calls that the decision saves before it makes them: effects of the embedding program, and before
// them the effects on facts if the event has an ID, since a redelivery makes them then.
func (d *Decision) toMake() (calls []Call) {
	var facts, own []rules.Part
	for _, part := range d.Verdict.Parts {
		for _, e := range part.Effects {
			one := rules.Part{Rule: part.Rule, Effects: []rules.Effect{e}}
			switch {
			case e.Kind == rules.OwnEffect:
				own = append(own, one)
			case changes(e) && d.Event.ID != "" && d.Event.Name != host.UserPromptSubmit:
				facts = append(facts, one)
			}
		}
	}
	for i, part := range append(facts, own...) {
		calls = append(calls, d.call(i, part.Rule, part.Effects[0]))
	}
	return calls
}

// call returns the first attempt of an effect.
func (d *Decision) call(i int, rule string, e rules.Effect) Call {
	ev := d.Event
	key, _ := json.Marshal(d.gatherer.mem.keys[0])
	of := sha256.Sum256(key) // an ID of an event may be that of another session too
	return Call{
		ID: fmt.Sprintf("%s-%s-%d", d.ID(), hex.EncodeToString(of[:4]), i), Attempt: 1, Due: d.Time.Add(d.loop.claimTime()),
		Scope: d.Scope, Policy: d.Policy, Digest: d.digest(), Rule: rule, Host: ev.Host, Event: ev.Name, EventID: ev.ID, Session: ev.SessionID,
		Agent: ev.AgentID, Turn: ev.Turn, Run: ev.Run, Root: d.Root, At: d.Time, Effect: e,
	}
}

// carryOut makes an effect of the embedding program.
func (l *Loop) carryOut(ctx context.Context, c Call) error {
	if ctx.Err() != nil {
		return interrupted(ctx)
	}
	v, ok := l.extensions.effects[c.Effect.Name]
	if !ok {
		return errors.New("this program has no such effect")
	}
	return guarded("it", func() error { return v.do(ctx, c) })
}

// failed keeps the failure of an effect.
func (d *Decision) failed(c Call, err error, private bool) {
	d.Failures = append(d.Failures, Failure{Call: c, Error: err.Error(), Dead: c.Effect.Private || c.Effect.Kind == rules.RunEffect, private: private})
}

// settle saves what became of the decision's calls, and closes its answer.
func (d *Decision) settle(ctx context.Context) {
	if len(d.calls) == 0 && d.Event.ID == "" { // as in every hook
		return
	}
	final := d.answer
	if d.answers() {
		final = d.toAnswer()
	}
	if len(d.calls) > 0 || !reflect.DeepEqual(final, d.answer) {
		d.note(ctx, final)
	}
}

// note saves the final answer, and what became of the calls.
func (d *Decision) note(ctx context.Context, final Answer) {
	now := d.loop.now()
	record := d.record()
	err := d.gatherer.mem.update(ctx, record, func(e *Entry) bool {
		e.Pending = slices.DeleteFunc(e.Pending, func(c Call) bool { return d.owns(c) && (changes(c.Effect) || slices.Contains(d.done, c.ID)) })
		for i := range e.Pending {
			if c := &e.Pending[i]; d.owns(*c) {
				c.Due = now // once those before it are done
			}
		}
		for i := range d.Failures {
			e.retry(&d.Failures[i], now)
		}
		if final.ID != "" {
			e.Answers = withAnswer(e.Answers, final)
		}
		return true
	})
	if err == nil && record != nil {
		d.sent = d.told()
	}
	if err != nil {
		d.problem("it cannot be saved which effects were made, so they are made again: " + err.Error())
	}
}

// owns reports whether a call is one that the decision saved.
func (d *Decision) owns(c Call) bool {
	return slices.ContainsFunc(d.calls, func(o Call) bool { return o.ID == c.ID })
}

// retry notes a failed attempt. A call that is not tried again leaves what is pending.
func (e *Entry) retry(f *Failure, now time.Time) {
	i := slices.IndexFunc(e.Pending, func(c Call) bool { return c.ID == f.Call.ID })
	if i < 0 {
		return
	}
	c := &e.Pending[i]
	c.Due = now.Add(min(firstBackoff<<min(2*(c.Attempt-1), 20), maxBackoff))
	if f.Dead = c.Attempt >= maxAttempts || now.Sub(c.At) >= callAge; f.Dead {
		e.Pending = slices.Delete(e.Pending, i, i+1)
	}
}

// remake makes the effects on facts of a decision again, each by compare-and-set: one that was made stays.
func (d *Decision) remake(ctx context.Context, pending []Call, id, event string) error {
	if d.program == nil {
		return d.loop.broken
	}
	if err := d.gatherer.open(); err != nil {
		return err
	}
	defer d.gatherer.files.release()
	byFact := map[string][]rules.Effect{}
	var order []string
	for _, c := range pending {
		if c.of(id, event) && changes(c.Effect) {
			k := c.Effect.Fact + "\x00" + c.Effect.File
			if byFact[k] == nil {
				order = append(order, k)
			}
			byFact[k] = append(byFact[k], c.Effect)
		}
	}
	for _, k := range order {
		if slices.ContainsFunc(byFact[k], func(e rules.Effect) bool { return e.Private }) {
			return errors.New("they have private values, which are not kept")
		}
		if err := d.share(byFact[k]...).write(ctx); err != nil && !(errors.Is(err, ErrConflict) && d.isMade(ctx, byFact[k])) {
			return err
		}
	}
	return nil
}

// isMade reports whether facts are as effects would make them.
func (d *Decision) isMade(ctx context.Context, effects []rules.Effect) bool {
	g := d.gatherer
	for _, e := range effects {
		i := slices.IndexFunc(d.program.Facts(), func(f *rules.Fact) bool { return f.Name == e.Fact })
		if i < 0 {
			return false
		}
		fact := d.program.Facts()[i]
		args := fact.Args
		if e.File != "" {
			args = []string{e.File}
		}
		v := g.gather(ctx, fact, args).Whole(ctx)
		if e.Kind != rules.SetEffect {
			if v.Status != rules.Missing {
				return false
			}
			continue
		}
		if v.Status != rules.OK || !holds(v.V, e.Path, e.Value) {
			return false
		}
	}
	return true
}

// holds reports whether a document has a value at a path.
func holds(doc any, path []any, want any) bool {
	b, err := json.Marshal(doc)
	for _, step := range path {
		var list []json.RawMessage
		var object map[string]json.RawMessage
		switch step := step.(type) {
		case string:
			err = errors.Join(err, json.Unmarshal(b, &object))
			b = object[step]
		case int:
			if err = errors.Join(err, json.Unmarshal(b, &list)); step < 0 || step >= len(list) {
				return false
			}
			b = list[step]
		}
	}
	w, errWant := json.Marshal(want)
	return err == nil && errWant == nil && bytes.Equal(b, w)
}

// overdue makes effects of earlier decisions of the session that are due.
func (d *Decision) overdue(ctx context.Context) {
	if d.gatherer == nil || !slices.ContainsFunc(d.gatherer.mem.latest.Pending, func(c Call) bool { return !c.Due.After(d.loop.now()) }) {
		return
	}
	_, failures, err := d.loop.drain(ctx, d.gatherer.mem.keys[0])
	d.Failures = append(d.Failures, failures...)
	if err != nil {
		d.problem("effects of earlier decisions are not made: " + err.Error())
	}
}

// Drain makes the effects of the embedding program that decisions of this loop left: of all sessions, as far as they are
// due. It returns how many are left, for a later call. The error names each that is given up, after 10 attempts or 7 days,
// and what kept others from being tried; the store must be a [Lister]. Call it from a ticker: otherwise an effect waits
// for the next event of its session. Several processes may call it at the same time.
func (l *Loop) Drain(ctx context.Context) (left int, err error) {
	if err := l.usable(); err != nil {
		return 0, err
	}
	if ctx == nil {
		return 0, errNoContext
	}
	lister, ok := l.kept.store.(Lister)
	if !ok {
		return 0, errors.New("this store does not list what it keeps: give WithStore a store that is a loop.Lister")
	}
	for e, failed := range lister.List(ctx, Filter{Scope: l.scope, Policy: l.name, Pending: true}) {
		if failed != nil {
			return left, errors.Join(err, failed)
		}
		n, failures, failed := l.drain(ctx, e.Key)
		left += n
		for _, f := range failures {
			if f.Dead {
				failed = errors.Join(failed, fmt.Errorf("%s was given up after %d attempts: %s", f.Call.ID, f.Call.Attempt, f.Error))
			}
		}
		err = errors.Join(err, failed)
	}
	return left, err
}

// drain makes the calls of one entry that are due: of each decision in order, so that one that failed holds up those after
// it. A process claims each call before it begins, and nothing begins once ctx is done.
func (l *Loop) drain(ctx context.Context, key Key) (left int, failures []Failure, err error) {
	m := memory{store: l.kept.store, keys: [3]Key{key}}
	if m.latest, err = m.one(ctx); err != nil {
		return 0, nil, err
	}
	var note func(e *Entry, now time.Time) // what became of the last call
	for {
		var next *Call
		var pending []Call
		err := m.update(ctx, nil, func(e *Entry) bool {
			now := l.now()
			if next = nil; note != nil {
				note(e, now)
			}
			if ctx.Err() == nil {
				next = e.claim(now, l.claimTime())
			}
			left, pending = len(e.Pending), e.Pending
			return note != nil || next != nil
		})
		if err != nil || next == nil {
			return left, failures, err
		}
		var failed error
		if changes(next.Effect) {
			failed = l.remake(ctx, *next, pending)
			note = func(e *Entry, _ time.Time) { e.made(next.EventID, next.Event, failed) }
			if failed != nil {
				failures = append(failures, Failure{Call: *next, Error: failed.Error(), Dead: true})
			}
			continue
		}
		if failed = l.carryOut(ctx, *next); failed == nil {
			note = func(e *Entry, _ time.Time) {
				e.Pending = slices.DeleteFunc(e.Pending, func(c Call) bool { return c.ID == next.ID })
			}
			continue
		}
		failures = append(failures, Failure{Call: *next, Error: failed.Error(), private: next.Effect.Private})
		note = func(e *Entry, now time.Time) { e.retry(&failures[len(failures)-1], now) }
	}
}

// claim returns the next call that is due, which no other process begins until its claim ends.
func (e *Entry) claim(now time.Time, long time.Duration) *Call {
	first := map[string]bool{}
	for i := range e.Pending {
		c := &e.Pending[i]
		if of := c.decision(); first[of] || c.Due.After(now) {
			first[of] = true
			continue
		}
		c.Attempt++
		c.Due = now.Add(long)
		next := *c
		return &next
	}
	return nil
}

// remake makes the effects on facts of a decision whose process ended before it had made them.
func (l *Loop) remake(ctx context.Context, c Call, pending []Call) error {
	d := l.decision(host.Event{Host: c.Host, Name: c.Event, ID: c.EventID, SessionID: c.Session, AgentID: c.Agent, Turn: c.Turn, Run: c.Run})
	d.Time, d.Root = l.now(), c.Root
	if err := d.meet(); err != nil {
		return err
	}
	defer d.close()
	return d.remake(ctx, pending, c.EventID, c.Event)
}
