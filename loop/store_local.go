package loop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ralph-sdk/ralph/internal/store"
)

// LocalStore returns a [Store] in a directory of ralph, as [WithState] uses, for all processes of a machine. A process
// that is killed while saving loses nothing.
func LocalStore(dir string) Store { return localStore{dir: store.Open(dir)} }

// localStore keeps memories as files.
type localStore struct {
	dir  *store.Store
	held bool // the locks of the saved entries are held
}

// name returns the name of the file of a key.
func (k Key) name() string {
	parts := []string{"session", k.Host, k.Session, k.Agent, k.Root, k.Policy}
	if k.Project {
		parts = []string{"project", k.Root, k.Policy}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q", parts)) // quoted, so that no two keys are equal
	return hex.EncodeToString(sum[:12])
}

func (s localStore) Load(ctx context.Context, keys ...Key) ([]Entry, error) {
	if err := done(ctx); err != nil {
		return nil, err
	}
	out := make([]Entry, len(keys))
	var problems []error
	for i, key := range keys {
		out[i].Key = key
		line, version, err := s.dir.LoadMemory(key.name())
		out[i].Version = version
		if err == nil && version != "" {
			if err = json.Unmarshal(line, &out[i].Memory); err != nil {
				err = fmt.Errorf("the memory of this loop is damaged and starts empty: %w", err)
			}
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	return out, errors.Join(problems...)
}

func (s localStore) Save(ctx context.Context, entries ...Entry) error {
	if ctx == nil {
		return errNoContext
	}
	if !s.held {
		keys := make([]Key, len(entries))
		for i, e := range entries {
			keys[i] = e.Key
		}
		_, unlock, err := s.lock(ctx, keys...)
		if err != nil {
			return err
		}
		defer unlock()
	}
	for _, e := range entries { // all or none
		_, version, err := s.dir.LoadMemory(e.Key.name())
		if err == nil && version != e.Version {
			return fmt.Errorf("the memory of %s: %w", e.Key.Policy, ErrConflict)
		}
	}
	// If the disk fails halfway, the loop ends: a count that is one too high ends it early the next time, never late.
	for _, e := range entries {
		line, err := json.Marshal(e.Memory)
		if err == nil {
			err = s.dir.SaveMemory(e.Key.name(), line, e.Version)
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

// lock takes the locks of these memories, so that processes that count the same thing wait for one another instead of
// deciding again. The store that it returns holds them.
func (s localStore) lock(ctx context.Context, keys ...Key) (Store, func(), error) {
	names := make([]string, len(keys))
	for i, k := range keys {
		if err := s.dir.Refused(k.Root); err != nil {
			return nil, nil, err
		}
		names[i] = store.MemoryLock(k.name())
	}
	unlock, err := s.dir.Lock(ctx, names)
	if err != nil {
		return nil, nil, err
	}
	return localStore{s.dir, true}, unlock, nil
}
