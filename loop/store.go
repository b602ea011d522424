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
	"time"

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

	// With Kind and Name it is the key of a document of [Documents], and with only Name that of a lease of [Leases]; the other
	// fields are then empty. Load returns an entry for it that has no Memory, and a Version as long as the document exists,
	// whatever it holds, or the lease has a holder, whose name it then is. Nothing is saved under it.
	Kind string `json:",omitempty"`
	Name string `json:",omitempty"`
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

	// Expire removes the entries of all scopes that were saved before a time and have no pending effects, and returns how
	// many. Call it from a ticker, with a time some weeks ago: an entry that is removed begins again with nothing counted.
	Expire(ctx context.Context, before time.Time) (int, error)
}

// Filter selects entries of a [Lister]. The zero Filter selects all of ralph's own loops, those without a scope.
type Filter struct {
	Scope   string // exactly this
	Root    string // "" is any
	Policy  string // "" is any
	Pending bool   // only entries with pending effects
}

// fits reports whether a filter selects an entry.
func (f Filter) fits(e *Entry) bool {
	return f.Scope == e.Key.Scope && (f.Root == "" || f.Root == e.Key.Root) && (f.Policy == "" || f.Policy == e.Key.Policy) && (!f.Pending || len(e.Pending) > 0)
}

// Documents is a [Store] that keeps small documents: what persons stop, pause, hint and approve, and runs. The loop makes
// their kinds and names, with its scope in one of them. Both are any strings, also long ones.
type Documents interface {
	// Get returns a document and its version, "" if there is none. Of a document that exists and cannot be read it returns an
	// error, with a version if Put can remove it.
	Get(ctx context.Context, kind, name string) (data []byte, version string, err error)

	// Put replaces the document that has the version, and creates it if version is "". Without data it removes it. It returns
	// [ErrConflict], which may be wrapped, if the document has another version. Data is JSON, up to 32 MiB, and comes back
	// byte for byte.
	Put(ctx context.Context, kind, name string, data []byte, version string) error

	// Names returns the names of the documents of a kind, in any order. An error ends the list if it comes without a name;
	// with one, that document cannot be read.
	Names(ctx context.Context, kind string) iter.Seq2[string, error]
}

// Leases is a [Store] in which one owner at a time holds a name, such as a run that works with a policy in a project.
type Leases interface {
	// Hold makes owner the holder of a name until release is called, or until its process ends, however it ends, by the clock
	// of the store. If the name has a holder, Hold returns it at once, and release is nil. release may be called more than once.
	Hold(ctx context.Context, name, owner string) (release func(), holder string, err error)

	// Holder returns the holder of a name, or "".
	Holder(ctx context.Context, name string) (string, error)
}

// Log is a [Store] that is a [Recorder] and returns the records that it has.
type Log interface {
	// Records returns the records that fit, the latest first. Of records that have the same ID, event and loop it returns the
	// last one: a loop may record a decision again, when more is known of it. An error ends the list.
	Records(ctx context.Context, f LogFilter) iter.Seq2[*Record, error]
}

// LogFilter selects records of a [Log]. The zero LogFilter selects all of ralph's own loops, those without a scope.
type LogFilter struct {
	Scope   string    // exactly this
	Root    string    // "" is any
	Policy  string    // "" is any
	Session string    // "" is any
	ID      string    // "" is any
	Since   time.Time // of the decision, the zero Time is any
}

// fits reports whether a filter selects a record.
func (f LogFilter) fits(r *Record) bool {
	return f.Scope == r.Scope && (f.Root == "" || f.Root == r.Root) && (f.Policy == "" || f.Policy == r.Policy) &&
		(f.Session == "" || f.Session == r.Session) && (f.ID == "" || f.ID == r.ID) && !r.Time.Before(f.Since)
}

// InMemory returns a [Store] in the process, which also is a [Lister] and has [Documents] and [Leases]. It keeps the memories
// of 50,000 to 100,000 loops and discards those that were saved longest ago.
func InMemory() Store {
	return &inMemory{kept: map[Key]*saved{}, documents: map[[2]string]document{}, holders: map[string]*string{}}
}

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
	mu        sync.Mutex
	kept      map[Key]*saved
	documents map[[2]string]document // by kind and name
	holders   map[string]*string     // of leases
	saves     int                    // versions are their numbers
}

type saved struct {
	Entry
	at time.Time
}

type document struct {
	data    []byte
	version string
}

func (s *inMemory) Load(ctx context.Context, keys ...Key) ([]Entry, error) {
	if err := done(ctx); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Entry, len(keys))
	for i, key := range keys {
		switch {
		case key.Kind != "":
			out[i].Version = s.documents[[2]string{key.Kind, key.Name}].version
		case key.Name != "":
			if owner := s.holders[key.Name]; owner != nil {
				out[i].Version = *owner
			}
		default:
			if kept := s.kept[key]; kept != nil {
				out[i] = kept.Entry
				out[i].unshare()
			}
		}
		out[i].Key = key
	}
	return out, nil
}

// unshare copies what an entry refers to, but values, which nothing changes.
func (e *Entry) unshare() {
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
}

func (s *inMemory) Save(ctx context.Context, w Write) error {
	if err := done(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range w.Entries {
		entry := &w.Entries[i]
		version := ""
		if kept := s.kept[entry.Key]; kept != nil {
			version = kept.Version
		}
		if version != entry.Version {
			return fmt.Errorf("the memory of %s: %w", entry.Key.Policy, ErrConflict)
		}
	}
	now := time.Now()
	for i := range w.Entries {
		s.saves++
		entry := &w.Entries[i]
		entry.Version = strconv.Itoa(s.saves)
		kept := s.kept[entry.Key]
		if kept == nil {
			kept = new(saved)
			s.kept[entry.Key] = kept
		}
		kept.Entry, kept.at = *entry, now
		kept.unshare()
	}
	if len(s.kept) > maxInMemory {
		maps.DeleteFunc(s.kept, func(_ Key, e *saved) bool {
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
			if f.fits(&e.Entry) {
				all = append(all, e.Entry)
				all[len(all)-1].unshare()
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

func (s *inMemory) Expire(ctx context.Context, before time.Time) (n int, err error) {
	if err := done(ctx); err != nil {
		return 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.kept, func(_ Key, e *saved) bool {
		old := e.at.Before(before) && len(e.Pending) == 0
		if old {
			n++
		}
		return old
	})
	return n, nil
}

func (s *inMemory) Get(ctx context.Context, kind, name string) ([]byte, string, error) {
	if err := done(ctx); err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.documents[[2]string{kind, name}]
	return slices.Clone(d.data), d.version, nil
}

func (s *inMemory) Put(ctx context.Context, kind, name string, data []byte, version string) error {
	if err := done(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := [2]string{kind, name}
	if s.documents[key].version != version {
		return fmt.Errorf("the document %s: %w", name, ErrConflict)
	}
	if len(data) == 0 {
		delete(s.documents, key)
		return nil
	}
	s.saves++
	s.documents[key] = document{slices.Clone(data), strconv.Itoa(s.saves)}
	return nil
}

func (s *inMemory) Names(ctx context.Context, kind string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		if err := done(ctx); err != nil {
			yield("", err)
			return
		}
		s.mu.Lock()
		var all []string
		for key := range s.documents {
			if key[0] == kind {
				all = append(all, key[1])
			}
		}
		s.mu.Unlock()
		for _, name := range all {
			if !yield(name, nil) {
				return
			}
		}
	}
}

func (s *inMemory) Hold(ctx context.Context, name, owner string) (release func(), holder string, err error) {
	if err := done(ctx); err != nil {
		return nil, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if other := s.holders[name]; other != nil {
		return nil, *other, nil
	}
	s.holders[name] = &owner
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.holders[name] == &owner {
			delete(s.holders, name)
		}
	}, "", nil
}

func (s *inMemory) Holder(ctx context.Context, name string) (string, error) {
	if err := done(ctx); err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if owner := s.holders[name]; owner != nil {
		return *owner, nil
	}
	return "", nil
}
