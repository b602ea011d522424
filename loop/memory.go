package loop

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/rules"
)

// memory is the loop memory of one event.
type memory struct {
	store   Store
	keys    [2]Key   // of the session, of the project
	entries [2]Entry // on which the decision was made
	problem string   // why some could not be read
}

// memoryOf returns the memory of an event, which is not yet loaded.
func memoryOf(s Store, ev host.Event, root, policy string) memory {
	return memory{store: s, keys: [2]Key{
		{Root: root, Policy: policy, Host: ev.Host, Session: ev.SessionID, Agent: ev.AgentID},
		{Root: root, Policy: policy, Project: true},
	}}
}

// load reads the memories. One that cannot be read counts as empty and is reported: a damaged file of ralph must not
// block a loop.
func (m *memory) load(ctx context.Context) error {
	entries, err := m.store.Load(ctx, m.keys[:]...)
	if len(entries) != len(m.keys) {
		return fmt.Errorf("the memory of the loop cannot be read: %w", cmp.Or(err, fmt.Errorf("Store.Load returned %d entries for %d keys", len(entries), len(m.keys))))
	}
	m.problem = ""
	if err != nil {
		m.problem = err.Error()
	}
	copy(m.entries[:], entries)
	return nil
}

// after returns the entries to save for a verdict.
func (m *memory) after(v *rules.Verdict) []Entry {
	if !v.Changed {
		return nil
	}
	out := []Entry{{m.keys[0], v.Memory, m.entries[0].Version}}
	if !reflect.DeepEqual(&v.Project, &m.entries[1].Memory) {
		out = append(out, Entry{m.keys[1], v.Project, m.entries[1].Version})
	}
	return out
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
		i := 0
		if e.Key.Project {
			i = 1
		}
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
