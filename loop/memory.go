package loop

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/rules"
)

// memory is the loop memory of one event.
type memory struct {
	store   Store
	keys    [3]Key   // of the loop, of the project, of the session
	entries [3]Entry // on which the decision was made
}

// memory returns the memory of an event in a project, which is not yet loaded.
func (l *Loop) memory(ev host.Event, root string) memory {
	mine := Key{Scope: l.scope, Root: root, Policy: l.name, Host: ev.Host, Session: ev.SessionID, Agent: ev.AgentID}
	all := Key{Scope: l.scope, Host: ev.Host, Session: ev.SessionID}
	if ev.SessionID == "" { // each project has one session of the events that name none
		mine.Session, all.Session, all.Root = store.NoSession, store.NoSession, root
	}
	return memory{store: l.kept.store, keys: [3]Key{mine, {Scope: l.scope, Root: root, Policy: l.name, Project: true}, all}}
}

// A memoryError reports that what was counted is unknown, or cannot be stored.
type memoryError struct{ err error }

func (e memoryError) Error() string { return e.err.Error() }
func (e memoryError) Unwrap() error { return e.err }

// load reads the memories. If one cannot be read, nothing is known to be counted.
func (m *memory) load(ctx context.Context) error {
	entries, err := m.store.Load(ctx, m.keys[:]...)
	if err == nil && len(entries) != len(m.keys) {
		err = fmt.Errorf("Store.Load returned %d entries for %d keys", len(entries), len(m.keys))
	}
	if err != nil {
		return memoryError{fmt.Errorf("it is not known how often the loop was continued: %w", err)}
	}
	copy(m.entries[:], entries)
	return nil
}

// after returns the entries to save for a verdict.
func (m *memory) after(v *rules.Verdict) []Entry {
	if !v.Changed {
		return nil
	}
	out := make([]Entry, 1, 2) // of the loop, and that of the session if it continues
	out[0] = Entry{m.keys[0], v.Memory, m.entries[0].Version}
	for i, next := range []*rules.Memory{1: &v.Project, 2: &v.Session} {
		if i > 0 && !reflect.DeepEqual(next, &m.entries[i].Memory) {
			out = append(out, Entry{m.keys[i], *next, m.entries[i].Version})
		}
	}
	return out
}

// shared reports whether, since before, only the memory of the session has changed.
func (m *memory) shared(before [3]Entry) bool {
	return m.entries[0].Version == before[0].Version && m.entries[1].Version == before[1].Version
}

// takeBack restores the memories that saved replaced, because the verdict does not take effect. If another process
// saved in between, its memory stays, and the count may be one too high. Since time has usually run out, takeBack has a
// short time limit of its own.
func (m *memory) takeBack(ctx context.Context, saved []Entry) error {
	if len(saved) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	before := m.entries
	if err := m.load(ctx); err != nil {
		return err
	}
	var back []Entry
	for _, e := range saved {
		i := slices.Index(m.keys[:], e.Key)
		if sameMemory(m.entries[i].Memory, e.Memory) {
			m.entries[i].Memory = before[i].Memory
			back = append(back, m.entries[i])
		}
	}
	if len(back) == 0 {
		return nil
	}
	if err := m.store.Save(ctx, back...); err != nil {
		return err
	}
	return m.load(ctx)
}

// sameMemory compares memories that a store may have encoded: times may have lost their location.
func sameMemory(a, b rules.Memory) bool {
	x, errX := a.MarshalJSON()
	y, errY := b.MarshalJSON()
	return errX == nil && errY == nil && string(x) == string(y)
}

// locker is a store that can make other processes wait.
type locker interface {
	lock(ctx context.Context, keys ...Key) (Store, func(), error)
}

// lock makes other processes wait, if the store can.
func (m *memory) lock(ctx context.Context) (unlock func(), err error) {
	l, ok := m.store.(locker)
	if !ok {
		return func() {}, nil
	}
	held, release, err := l.lock(ctx, m.keys[:]...)
	if err != nil {
		return nil, err
	}
	free := m.store
	m.store = held
	return func() { m.store = free; release() }, nil
}
