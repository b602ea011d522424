package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/workspace"
)

// LocalStore returns a [Store] in a directory of ralph, as [WithState] uses, for all processes of a machine. It is a
// [Locker], [Lister], [Recorder] and [Log], and has [Documents] and [Leases]. A process that is killed while saving loses
// nothing.
func LocalStore(dir string) Store { return localStore{dir: store.Open(dir)} }

// localStore keeps memories as files.
type localStore struct {
	dir  *store.Store
	held bool // the locks of the saved entries are held
}

func (s localStore) String() string { return "the directory " + s.dir.Dir() }

// file returns the key of the memory's file.
func (k Key) file() store.MemoryKey {
	rest := fmt.Sprintf("%q", []string{k.Host, k.Agent}) // quoted, so that no two keys are equal
	if k.Project {
		rest = "project"
	}
	if k.Scope != "" {
		rest = fmt.Sprintf("%q in %s", k.Scope, rest)
	}
	return store.MemoryKey{Root: k.Root, Policy: k.Policy, Session: k.Session, Rest: rest}
}

// reset returns the command that moves the memory away.
func (k Key) reset() string {
	words := []string{"ralph", "reset"}
	if k.Policy != "" {
		words = append(words, workspace.PolicyName(k.Policy))
	}
	if !k.Project {
		words = append(words, "--session", k.Session)
	}
	return shellwords.Line(words)
}

func (s localStore) Load(ctx context.Context, keys ...Key) ([]Entry, error) {
	if err := done(ctx); err != nil {
		return nil, err
	}
	out := make([]Entry, len(keys))
	for i, key := range keys {
		out[i].Key = key
		if key.Name != "" {
			var err error
			if out[i].Version, err = s.present(key); err != nil {
				return nil, err
			}
			continue
		}
		line, version, err := s.dir.LoadMemory(key.file())
		if err == nil && version != "" {
			err = json.Unmarshal(line, &out[i])
		}
		if err != nil {
			return nil, fmt.Errorf("%w; run `%s` to begin again with nothing counted", err, key.reset())
		}
		out[i].Version = version
	}
	return out, nil
}

// present returns the version of a document or a lease in [Store.Load].
func (s localStore) present(key Key) (version string, err error) {
	if key.Kind == "" {
		return s.dir.Holder(key.Name)
	}
	there, err := s.dir.HasDocument(key.Kind, key.Name)
	if there {
		version = "there"
	}
	return version, err
}

func (s localStore) Save(ctx context.Context, w Write) error {
	entries := w.Entries
	if ctx == nil {
		return errNoContext
	}
	if !s.held {
		keys := make([]Key, len(entries))
		for i, e := range entries {
			keys[i] = e.Key
		}
		_, unlock, err := s.Lock(ctx, keys...)
		if err != nil {
			return err
		}
		defer unlock()
	}
	for _, e := range entries { // all or none
		_, version, err := s.dir.LoadMemory(e.Key.file())
		if err == nil && version != e.Version {
			return fmt.Errorf("the memory of %s: %w", e.Key.Policy, ErrConflict)
		}
	}
	// If the disk fails halfway, the loop ends: a count that is one too high ends it early the next time, never late.
	for i, e := range entries {
		line, err := json.Marshal(struct {
			Key Key `json:"key"`
			Entry
		}{e.Key, e})
		if err == nil {
			err = s.dir.SaveMemory(e.Key.file(), line, e.Version)
			entries[i].Version = store.MemoryVersion(line)
		}
		if errors.Is(err, store.ErrChanged) {
			err = fmt.Errorf("%w: %w", ErrConflict, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Lock takes the locks of these memories, so that processes that count the same thing wait for one another instead of
// deciding again. The store that it returns holds them.
func (s localStore) Lock(ctx context.Context, keys ...Key) (Store, func(), error) {
	names := make([]string, len(keys))
	for i, k := range keys {
		if err := s.dir.Refused(k.Root); err != nil {
			return nil, nil, err
		}
		names[i] = store.MemoryLock(k.file())
	}
	unlock, err := s.dir.Lock(ctx, names)
	if err != nil {
		return nil, nil, err
	}
	return localStore{s.dir, true}, unlock, nil
}

// List returns what is kept in the directory, in no order.
func (s localStore) List(ctx context.Context, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for line, version := range s.dir.Memories() {
			var key struct {
				Key Key `json:"key"`
			}
			err := done(ctx)
			if err != nil {
				yield(Entry{}, err)
				return
			}
			e := Entry{Version: version}
			if json.Unmarshal(line, &key) != nil || json.Unmarshal(line, &e) != nil {
				continue // the next event of its session reports it
			}
			e.Key = key.Key
			if f.fits(&e) && !yield(e, nil) {
				return
			}
		}
	}
}

// Expire removes memories that were not used since a time.
func (s localStore) Expire(ctx context.Context, before time.Time) (int, error) {
	if err := done(ctx); err != nil {
		return 0, err
	}
	return s.dir.ExpireMemories(before, func(line []byte) bool {
		var e Entry
		return json.Unmarshal(line, &e) == nil && len(e.Pending) > 0
	})
}

func (s localStore) Get(ctx context.Context, kind, name string) ([]byte, string, error) {
	if err := done(ctx); err != nil {
		return nil, "", err
	}
	return s.dir.Document(kind, name)
}

func (s localStore) Put(ctx context.Context, kind, name string, data []byte, version string) error {
	if err := done(ctx); err != nil {
		return err
	}
	err := s.dir.PutDocument(ctx, kind, name, data, version)
	if errors.Is(err, store.ErrChanged) {
		err = fmt.Errorf("%w: %w", ErrConflict, err)
	}
	return err
}

func (s localStore) Names(ctx context.Context, kind string) iter.Seq2[string, error] {
	if err := done(ctx); err != nil {
		return func(yield func(string, error) bool) { yield("", err) }
	}
	return s.dir.DocumentNames(kind)
}

// Refused returns why the directory must not be used for a project.
func (s localStore) Refused(root string) error { return s.dir.Refused(root) }

func (s localStore) Hold(ctx context.Context, name, owner string) (release func(), holder string, err error) {
	if err := done(ctx); err != nil {
		return nil, "", err
	}
	return s.dir.Hold(ctx, name, owner)
}

func (s localStore) Holder(ctx context.Context, name string) (string, error) {
	if err := done(ctx); err != nil {
		return "", err
	}
	return s.dir.Holder(name)
}

// Record appends a record to the decision log.
func (s localStore) Record(_ context.Context, r *Record) error {
	line, err := logLine(*r)
	if err = cmp.Or(err, s.dir.Refused(r.Root)); err != nil {
		return err
	}
	return s.dir.AppendLog(line)
}

// lateRecord is how long after its time a record may be appended to the log.
const lateRecord = time.Hour

// Records reads the decision log from its end.
func (s localStore) Records(ctx context.Context, f LogFilter) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		if err := done(ctx); err != nil {
			yield(nil, err)
			return
		}
		more, seen := true, map[string]bool{}
		err := s.dir.Decisions(func(line []byte) bool {
			r := new(Record)
			switch err := json.Unmarshal(line, r); {
			case err != nil || r.V != 1:
			case r.Time.Before(f.Since.Add(-lateRecord)):
				return false
			case f.fits(r):
				of := fmt.Sprintf("%q", []string{r.Root, r.Policy, r.Host, r.Session, r.Agent, r.Event, r.ID})
				if !seen[of] {
					seen[of], more = true, yield(r, nil)
				}
			}
			return more && ctx.Err() == nil
		})
		if err == nil {
			err = done(ctx)
		}
		if err != nil && more {
			yield(nil, err)
		}
	}
}
