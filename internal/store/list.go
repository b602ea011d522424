package store

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"time"
)

// The hints of a project are kept as a list in one file.
const (
	hintDir    = "hints"
	listSuffix = ".json"
	maxList    = 64 << 10
)

// A Hint is what the user has to add to the next matching continuation.
type Hint struct {
	Text    string    `json:"text"`
	Policy  string    `json:"policy,omitempty"`  // "" fits any
	Session string    `json:"session,omitempty"` // "" fits any
	At      time.Time `json:"at"`
}

// Fits reports whether a continuation of a session by a policy may show the hint.
func (h Hint) Fits(policy, session string) bool {
	return Pause{Policy: h.Policy, Session: h.Session}.Covers(policy, session)
}

// Hints returns the hints of a project that wait, the oldest first. The error is an [*Error].
func (s *Store) Hints(root string) ([]Hint, error) { return load[Hint](s, hintDir, root) }

// ChangeHints replaces the hints of a project with the result of change. A file that cannot be read counts as empty. The
// change is atomic, and processes wait for one another. The error is an [*Error].
func (s *Store) ChangeHints(ctx context.Context, root string, change func([]Hint) []Hint) error {
	return replaceList(ctx, s, hintDir, root, change)
}

// list is what is kept for one project.
type list[T any] struct {
	V     int    `json:"v"`
	Root  string `json:"root"`
	Items []T    `json:"items"`
}

var errNoList = errors.New("it is damaged; remove it")

func load[T any](s *Store, dir, root string) ([]T, error) {
	if s.dir == "" {
		return nil, nil
	}
	path := s.path(dir, fileName(root, listSuffix))
	data, err := readFile(path, maxList)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var kept list[T]
	if err == nil && (json.Unmarshal(data, &kept) != nil || kept.V != 1 || kept.Root != root) {
		return nil, failed("read", path, errNoList)
	}
	return kept.Items, failed("read", path, err)
}

func replaceList[T any](ctx context.Context, s *Store, dir, root string, change func([]T) []T) error {
	name := fileName(root, listSuffix)
	unlock, err := s.Lock(ctx, []string{lockOf(dir, name)})
	if err != nil {
		return err
	}
	defer unlock()
	items, _ := load[T](s, dir, root)
	if items = change(items); len(items) == 0 {
		return failed("write", s.path(dir, name), remove(s.path(dir, name)))
	}
	return s.save("write", list[T]{V: 1, Root: root, Items: items}, maxList, dir, name)
}
