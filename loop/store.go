package loop

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/ralph-sdk/ralph/rules"
)

// Key identifies a memory: that of a policy in a session, with Project the one that all loops of a policy in a project
// share, or without Policy the one that all policies of a session share, in whatever directory. Fields may be empty: events
// without a project are one loop. Events without a session are those of the session "-" of their project.
type Key struct {
	Scope   string // of [WithScope], "" for ralph's own loops
	Root    string // the project root
	Policy  string // the name of the policy: editing it does not start another loop
	Host    string
	Session string
	Agent   string // the subagent
	Project bool   // with it, Host, Session and Agent are empty
}

// Entry is the memory that a [Store] keeps under a key.
type Entry struct {
	Key     Key
	Memory  rules.Memory
	Version string // opaque, for [Store.Save]; "" if the store has no entry
}

// Store keeps the memories of loops. It must be safe for concurrent use, by several processes if they share its data.
// Both methods return an error if their context is done. Package looptest tests implementations.
type Store interface {
	// Load returns one entry for each key, in order; a key without an entry has a zero Memory and Version "". If it cannot
	// read one of them, it returns an error: what was counted is unknown, so the agent may stop, with
	// [rules.FaultMemory]. Nothing but a missing entry is empty.
	Load(ctx context.Context, keys ...Key) ([]Entry, error)

	// Save saves all entries if each still has its Version. Otherwise it saves none and returns [ErrConflict], which
	// may be wrapped. After any other error the agent may stop, with [rules.FaultMemory]: a continuation is answered only
	// once Save has returned nil.
	Save(ctx context.Context, entries ...Entry) error
}

// InMemory returns a [Store] in the process. It keeps the memories of 50,000 to 100,000 loops and discards those that
// were saved longest ago.
func InMemory() Store { return &inMemory{kept: map[Key]Entry{}} }

// done returns why a context is done, or an error for a nil context.
func done(ctx context.Context) error {
	if ctx == nil {
		return errNoContext
	}
	return context.Cause(ctx)
}

// maxInMemory bounds the memories kept in the process.
const maxInMemory = 200_000 // that of a loop, and what its session counts

type inMemory struct {
	mu    sync.Mutex
	kept  map[Key]Entry // versions are numbers of saves
	saves int
}

func (s *inMemory) Load(ctx context.Context, keys ...Key) ([]Entry, error) {
	if err := done(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Entry, len(keys))
	for i, key := range keys {
		out[i] = s.kept[key]
		out[i].Key, out[i].Memory = key, copyOf(out[i].Memory)
	}
	return out, nil
}

// copyOf returns a copy that shares only values, which nothing changes.
func copyOf(m rules.Memory) rules.Memory {
	m.Said = maps.Clone(m.Said)
	for rule, all := range m.Said {
		m.Said[rule] = slices.Clone(all)
	}
	m.Of = maps.Clone(m.Of)
	m.Values, m.Private = maps.Clone(m.Values), slices.Clone(m.Private)
	return m
}

func (s *inMemory) Save(ctx context.Context, entries ...Entry) error {
	if err := done(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, entry := range entries {
		if s.kept[entry.Key].Version != entry.Version {
			return fmt.Errorf("the memory of %s: %w", entry.Key.Policy, ErrConflict)
		}
	}
	for _, entry := range entries {
		s.saves++
		s.kept[entry.Key] = Entry{entry.Key, copyOf(entry.Memory), strconv.Itoa(s.saves)}
	}
	if len(s.kept) > maxInMemory {
		maps.DeleteFunc(s.kept, func(_ Key, e Entry) bool {
			n, _ := strconv.Atoi(e.Version)
			return n <= s.saves-maxInMemory/2
		})
	}
	return nil
}
