package loop

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
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

// Entry is what a [Store] keeps under a key. Its JSON is one value with all but Key and Version, which a store keeps as it
// is; parsing anything else fails, so that nothing but a missing entry is empty.
type Entry struct {
	Key     Key          `json:"-"`
	Memory  rules.Memory `json:"memory"`
	Answers []Answer     `json:"answers,omitempty"` // to deliveries that have an ID, the oldest first
	Pending []Call       `json:"pending,omitempty"` // effects that decisions still have to make, in order
	Version string       `json:"-"`                 // opaque, for [Store.Save]; "" if the store has no entry
}

// UnmarshalJSON parses what json.Marshal wrote; Key and Version stay.
func (e *Entry) UnmarshalJSON(b []byte) error {
	var form struct {
		Memory  *rules.Memory `json:"memory"`
		Answers []Answer      `json:"answers"`
		Pending []Call        `json:"pending"`
	}
	if err := json.Unmarshal(b, &form); err != nil {
		return err
	}
	if form.Memory == nil {
		return errors.New("it has no memory")
	}
	e.Memory, e.Answers, e.Pending = *form.Memory, form.Answers, form.Pending
	return nil
}

// Write is what one decision saves.
type Write struct {
	Entries []Entry
	Record  *Record // of the decision, for a store that is also a [Recorder]; otherwise nil
}

// Store keeps the memories of loops. It must be safe for concurrent use, by several processes if they share its data.
// Its methods return an error if their context is done. A store that also is a [Recorder] receives each record, with the
// Write if there is one; one that is a [fmt.Stringer] is called that where it does not answer in time. Package looptest
// tests implementations.
type Store interface {
	// Load returns one entry for each key, in order; a key without an entry has a zero Memory and Version "". If it cannot
	// read one of them, it returns an error: what was counted is unknown, so the agent may stop, with
	// [rules.FaultMemory]. Nothing but a missing entry is empty.
	Load(ctx context.Context, keys ...Key) ([]Entry, error)

	// Save saves all of w in one transaction if each entry still has its Version, and sets the Version of each to the new
	// one. Otherwise it saves nothing and returns [ErrConflict], which may be wrapped. After any other error the agent may
	// stop, with [rules.FaultMemory]: a continuation is answered only once Save has returned nil.
	Save(ctx context.Context, w Write) error
}

// Locker is a [Store] that can make others wait. After a conflict a loop saves under it, so that no process starves on a
// memory that several share.
type Locker interface {
	// Lock waits until no other caller holds one of the keys. Until unlock is called, Save of anybody but held waits for the
	// entries of these keys. unlock may be called more than once.
	Lock(ctx context.Context, keys ...Key) (held Store, unlock func(), err error)
}

// Lister is a [Store] that can list what it keeps. Without it, [Loop.Drain] fails.
type Lister interface {
	// List returns the entries that fit. An error ends the list.
	List(ctx context.Context, f Filter) iter.Seq2[Entry, error]
}

// Filter selects entries of a [Lister]. The zero Filter selects all of ralph's own loops, those without a scope.
type Filter struct {
	Scope   string // exactly this
	Policy  string // "" is any
	Pending bool   // only entries with pending effects
}

// fits reports whether a filter selects an entry.
func (f Filter) fits(e Entry) bool {
	return f.Scope == e.Key.Scope && (f.Policy == "" || f.Policy == e.Key.Policy) && (!f.Pending || len(e.Pending) > 0)
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
		out[i].Key = key
		out[i] = copyOf(out[i])
	}
	return out, nil
}

// copyOf returns a copy that shares only values, which nothing changes.
func copyOf(e Entry) Entry {
	m := &e.Memory
	m.Said = maps.Clone(m.Said)
	for rule, all := range m.Said {
		m.Said[rule] = slices.Clone(all)
	}
	m.Of = maps.Clone(m.Of)
	m.Values, m.Private = maps.Clone(m.Values), slices.Clone(m.Private)
	m.Seen, m.Shown = slices.Clone(m.Seen), slices.Clone(m.Shown)
	e.Answers, e.Pending = slices.Clone(e.Answers), slices.Clone(e.Pending)
	for i, a := range e.Answers {
		e.Answers[i].Notices, e.Answers[i].Notes = slices.Clone(a.Notices), slices.Clone(a.Notes)
	}
	return e
}

func (s *inMemory) Save(ctx context.Context, w Write) error {
	if err := done(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, entry := range w.Entries {
		if s.kept[entry.Key].Version != entry.Version {
			return fmt.Errorf("the memory of %s: %w", entry.Key.Policy, ErrConflict)
		}
	}
	for i := range w.Entries {
		s.saves++
		entry := &w.Entries[i]
		entry.Version = strconv.Itoa(s.saves)
		s.kept[entry.Key] = copyOf(*entry)
	}
	if len(s.kept) > maxInMemory {
		maps.DeleteFunc(s.kept, func(_ Key, e Entry) bool {
			n, _ := strconv.Atoi(e.Version)
			return n <= s.saves-maxInMemory/2
		})
	}
	return nil
}

func (s *inMemory) List(ctx context.Context, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := done(ctx); err != nil {
			yield(Entry{}, err)
			return
		}
		s.mu.Lock()
		var all []Entry
		for _, e := range s.kept {
			if f.fits(e) {
				all = append(all, copyOf(e))
			}
		}
		s.mu.Unlock()
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}
