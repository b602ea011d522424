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

// Key names the memory of one loop: that of a policy in a session, or with Project
// the one that all loops of a policy in a project share. Fields may be empty: events
// without a session are one loop, and so are events without a project.
type Key struct {
	Root    string // project root
	Policy  string // name of the policy: a loop that is edited while it runs is the same loop
	Host    string
	Session string
	Agent   string // subagent
	Project bool   // Host, Session and Agent are empty then
}

// Entry is what a [Store] keeps under a key.
type Entry struct {
	Key     Key
	Memory  rules.Memory
	Version string // opaque, for [Store.Save]; "" if nothing is kept
}

// Store keeps the memories of loops. It must be safe for concurrent use, also by
// several processes if they share what is behind it. The package looptest has tests
// for implementations.
type Store interface {
	// Load gives an entry for each key, in their order; what is not kept is a zero
	// Memory with Version "". An error beside all entries says that some could not be
	// read: those begin anew, and the error is reported to the user.
	Load(ctx context.Context, keys ...Key) ([]Entry, error)

	// Save keeps all entries, if each is still of its Version, else none: then it
	// gives [ErrConflict], which may be wrapped.
	Save(ctx context.Context, entries ...Entry) error
}

// InMemory is a [Store] in the process. It keeps the memories of 50,000 to 100,000
// loops: those that were saved longest ago are forgotten first.
func InMemory() Store { return &inMemory{kept: map[Key]Entry{}} }

// done returns why a context is done, or that there is none.
func done(ctx context.Context) error {
	if ctx == nil {
		return errNoContext
	}
	return context.Cause(ctx)
}

// maxInMemory is how many memories are kept in the process.
const maxInMemory = 100_000

type inMemory struct {
	mu    sync.Mutex
	kept  map[Key]Entry // their versions are numbers of saves
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

// copyOf shares nothing with m but what lies within a value, which nothing changes.
func copyOf(m rules.Memory) rules.Memory {
	m.Said = maps.Clone(m.Said)
	for rule, all := range m.Said {
		m.Said[rule] = slices.Clone(all)
	}
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
