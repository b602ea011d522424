package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
)

// memory is the loop memory of one event.
type memory struct {
	store   Store
	keys    [3]Key  // of the loop, of the project, of the session
	entries []Entry // of these keys, on which the decision was made
	latest  *Entry  // of the loop, as far as is known what the store has
}

// begin makes m the memory of an event in a project, which is not yet loaded.
func (m *memory) begin(l *Loop, ev *host.Event, root string) {
	m.store = l.kept.store
	mine, project, session := &m.keys[0], &m.keys[1], &m.keys[2]
	mine.Scope, mine.Root, mine.Policy, mine.Host, mine.Session, mine.Agent = l.scope, root, l.name, ev.Host, ev.SessionID, ev.AgentID
	project.Scope, project.Root, project.Policy, project.Project = l.scope, root, l.name, true
	session.Scope, session.Host, session.Session = l.scope, ev.Host, ev.SessionID
	if ev.SessionID == "" { // each project has one session of the events that name none
		mine.Session, session.Session, session.Root = store.NoSession, store.NoSession, root
	}
}

// mine returns the entry of the loop on which the decision was made, an empty one before it is loaded.
func (m *memory) mine() *Entry {
	if len(m.entries) == 0 {
		return new(Entry)
	}
	return &m.entries[0]
}

// A memoryError reports that what was counted is unknown, or cannot be stored.
type memoryError struct{ err error }

func (e memoryError) Error() string { return e.err.Error() }
func (e memoryError) Unwrap() error { return e.err }

// load reads the memories, and in the same Load the entries of more keys. If one cannot be read, nothing is known to be
// counted.
func (m *memory) load(ctx context.Context, more ...Key) ([]Entry, error) {
	keys := m.keys[:]
	if len(more) > 0 {
		keys = slices.Concat(keys, more)
	}
	entries, err := m.store.Load(ctx, keys...)
	if err == nil && len(entries) != len(keys) {
		err = fmt.Errorf("Store.Load returned %d entries for %d keys", len(entries), len(keys))
	}
	if err != nil {
		what := "how often the loop was continued"
		if len(more) > 0 {
			what += ", and whether it is stopped or paused"
		}
		return nil, memoryError{fmt.Errorf("it is not known %s: %w", what, err)}
	}
	m.entries, m.latest = entries[:len(m.keys)], &entries[0]
	return entries[len(m.keys):], nil
}

// after returns the entries to save for a decision: what it changed, its answer if the event has an ID, and its calls.
func (m *memory) after(d *Decision) []Entry {
	v := d.Verdict
	d.calls = d.toMake()
	answers := d.answers()
	d.answer = Answer{}
	if !v.Changed && len(d.calls) == 0 && !answers {
		return nil
	}
	out := make([]Entry, 1, 2) // of the loop, and that of the session if it continues
	mine := &out[0]
	*mine = *m.mine()
	if v.Changed {
		mine.Memory = v.Memory
	}
	for _, c := range d.calls {
		if c.Effect.Private && !changes(c.Effect) {
			continue // what is private is not kept, so it is made at most once
		}
		if c.Effect.Private {
			c.Effect.Old, c.Effect.Value = nil, nil // a redelivery cannot make it
		}
		mine.Pending = append(slices.Clip(mine.Pending), c)
	}
	d.Failures = nil
	if more := len(mine.Pending) - maxPending; more > 0 {
		for _, c := range mine.Pending[:more] {
			d.Failures = append(d.Failures, Failure{Call: c, Error: fmt.Sprintf("more than %d effects of the session wait", maxPending), Dead: true})
		}
		mine.Pending = mine.Pending[more:]
	}
	if answers {
		d.answer = d.toAnswer()
		open := d.answer
		open.Open = len(d.calls) > 0 && changes(d.calls[0].Effect)
		mine.Answers = withAnswer(mine.Answers, open)
	}
	if v.ProjectChanged {
		out = append(out, m.entries[1])
		out[len(out)-1].Memory = v.Project
	}
	if v.SessionChanged {
		out = append(out, m.entries[2])
		out[len(out)-1].Memory = v.Session
	}
	return out
}

// save saves entries, and a record if the store keeps records.
func (m *memory) save(ctx context.Context, entries []Entry, r *Record) error {
	err := m.store.Save(ctx, Write{entries, r})
	if err != nil {
		return err
	}
	for i := range entries {
		if entries[i].Key == m.keys[0] {
			m.latest = &entries[i]
		}
	}
	return nil
}

// update changes the entry of the loop after its decision was saved, with what others have saved since, if change reports
// a change. The calls that change gets are a copy. Time may have run out, so it has a short limit of its own.
func (m *memory) update(ctx context.Context, r *Record, change func(*Entry) bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	for n := 1; ; n++ {
		e := *m.latest
		e.Pending = slices.Clone(e.Pending)
		if !change(&e) {
			return nil
		}
		err := m.save(ctx, []Entry{e}, r)
		if !errors.Is(err, ErrConflict) {
			return err
		}
		pause(ctx, n)
		if m.latest, err = m.one(ctx); err != nil {
			return err
		}
	}
}

// one loads the entry of the loop.
func (m *memory) one(ctx context.Context) (*Entry, error) {
	entries, err := m.store.Load(ctx, m.keys[0])
	if err == nil && len(entries) != 1 {
		err = fmt.Errorf("Store.Load returned %d entries for a key", len(entries))
	}
	if err != nil {
		return nil, err
	}
	return &entries[0], nil
}

// shared reports whether, since before, only the memory of the session has changed.
func (m *memory) shared(before []Entry) bool {
	return m.entries[0].Version == before[0].Version && m.entries[1].Version == before[1].Version
}

// takeBack restores the entries that saved replaced, because the verdict does not take effect. If another process
// saved in between, its entry stays, and the count may be one too high. Since time has usually run out, takeBack has a
// short time limit of its own.
func (m *memory) takeBack(ctx context.Context, saved []Entry) error {
	if len(saved) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	before := m.entries
	if _, err := m.load(ctx); err != nil {
		return err
	}
	var back []Entry
	for _, e := range saved {
		i := slices.Index(m.keys[:], e.Key)
		if sameEntry(m.entries[i], e) {
			e = before[i]
			e.Version = m.entries[i].Version
			back = append(back, e)
		}
	}
	if len(back) == 0 {
		return nil
	}
	if err := m.save(ctx, back, nil); err != nil {
		return err
	}
	_, err := m.load(ctx)
	return err
}

// sameEntry compares entries that a store may have encoded: times may have lost their location.
func sameEntry(a, b Entry) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// locked calls do, alone while others wait with what they save if the store can make them.
func (m *memory) locked(ctx context.Context, do func(alone bool) error) error {
	l, ok := m.store.(Locker)
	if !ok {
		return do(false)
	}
	held, unlock, err := l.Lock(ctx, m.keys[:]...)
	if err != nil {
		return memoryError{fmt.Errorf("the loop cannot be counted, so it ends: %w", err)}
	}
	free := m.store
	m.store = held
	defer func() { m.store = free; unlock() }()
	return do(true)
}
