package loop

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
)

// memories is where loop memory is kept, with the locks on it and on the files that
// a decision changes. A [store.Store] has it on disk.
type memories interface {
	Lock(ctx context.Context, names []string) (unlock func(), err error)
	LoadMemory(key string) (m store.Memory, version string, err error)
	SaveMemory(key string, m store.Memory, version string) error
	Clean(now time.Time, older time.Duration) error
}

// inProcess keeps memories as long as the process lasts. The zero inProcess is empty.
type inProcess struct {
	mu    sync.Mutex
	kept  map[string]keptMemory
	saves int
	locks map[string]*nameLock
}

type keptMemory struct {
	store.Memory
	version string
}

// nameLock is a lock that goes when nobody holds it or waits for it.
type nameLock struct {
	held chan struct{} // has room for one
	uses int
}

func (s *inProcess) Lock(ctx context.Context, names []string) (unlock func(), err error) {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	n := 0
	release := func() {
		for _, name := range names[:n] {
			l := s.lock(name, 0)
			<-l.held
			s.lock(name, -1)
		}
		n = 0
	}
	for _, name := range names {
		select {
		case s.lock(name, 1).held <- struct{}{}:
			n++
		case <-ctx.Done():
			s.lock(name, -1)
			release()
			return nil, ctx.Err()
		}
	}
	return release, nil
}

// lock gives the lock of a name, which has so many uses more.
func (s *inProcess) lock(name string, uses int) *nameLock {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.locks[name]
	if l == nil {
		l = &nameLock{held: make(chan struct{}, 1)}
		if s.locks == nil {
			s.locks = map[string]*nameLock{}
		}
		s.locks[name] = l
	}
	if l.uses += uses; l.uses == 0 {
		delete(s.locks, name)
	}
	return l
}

func (s *inProcess) LoadMemory(key string) (store.Memory, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.kept[key]
	return k.Memory, k.version, nil
}

func (s *inProcess) SaveMemory(key string, m store.Memory, version string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept[key].version != version {
		return store.ErrChanged
	}
	if s.kept == nil {
		s.kept = map[string]keptMemory{}
	}
	s.saves++
	s.kept[key] = keptMemory{m, strconv.Itoa(s.saves)}
	return nil
}

// Clean removes nothing.
func (s *inProcess) Clean(time.Time, time.Duration) error { return nil }
