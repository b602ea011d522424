package store

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"time"
)

const (
	pauseDir      = "pauses"
	maxPausesSize = 1 << 20
)

// A Pause is what a user paused in a project: a policy in every session, every policy in a
// session, or one policy in one session.
type Pause struct {
	Policy  string    `json:"policy,omitempty"`  // "" is every policy
	Session string    `json:"session,omitempty"` // "" is every session
	At      time.Time `json:"at"`
}

// Covers reports whether a policy is paused in a session.
func (p Pause) Covers(policy, session string) bool {
	return (p.Policy == "" || p.Policy == policy) && (p.Session == "" || p.Session == session)
}

// pausesFile is what is kept for one project.
type pausesFile struct {
	V      int     `json:"v"`
	Root   string  `json:"root"`
	Paused []Pause `json:"paused"`
}

var errNoPauses = errors.New("it does not hold what ralph pause writes; remove it, or run: ralph resume")

// Pauses lists what is paused in a project, the oldest first. The error is an [*Error].
func (s *Store) Pauses(root string) ([]Pause, error) {
	if s.dir == "" {
		return nil, nil
	}
	path := s.pausesPath(root)
	data, err := readFile(path, maxPausesSize)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, failed("read", path, err)
	}
	var kept pausesFile
	if json.Unmarshal(data, &kept) != nil || kept.V != 1 || kept.Root != root {
		return nil, failed("read", path, errNoPauses)
	}
	return kept.Paused, nil
}

// ChangePauses replaces what is paused in a project by what change makes of it. A file that
// cannot be read counts as empty. Processes that change it at once wait for one another; the
// file is there as a whole or not at all. The error is an [*Error].
func (s *Store) ChangePauses(ctx context.Context, root string, change func([]Pause) []Pause) error {
	unlock, err := s.Lock(ctx, []string{"pauses\x00" + root})
	if err != nil {
		return err
	}
	defer unlock()
	paused, _ := s.Pauses(root)
	paused = change(paused)
	path := s.pausesPath(root)
	if len(paused) == 0 {
		return failed("write", path, remove(path))
	}
	data, err := json.MarshalIndent(pausesFile{V: 1, Root: root, Paused: paused}, "", "  ")
	if err != nil {
		return failed("write", path, err)
	}
	return s.write("write", append(data, '\n'), maxPausesSize, pauseDir, filepath.Base(path))
}

func (s *Store) pausesPath(root string) string { return s.path(pauseDir, fileName(root, ".json")) }
