package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	hintDir    = "hints"
	hintSuffix = ".json"
	maxHint    = 16 << 10
)

// A Hint is a text of the user that waits for the next continuation that it fits.
type Hint struct {
	ID      string    `json:"id"`
	Root    string    `json:"root"`              // of the project
	Policy  string    `json:"policy,omitempty"`  // "" fits any
	Session string    `json:"session,omitempty"` // "" fits any
	Text    string    `json:"text"`
	At      time.Time `json:"at"`
}

// Fits reports whether a continuation of a session by a policy may show the hint.
func (h Hint) Fits(policy, session string) bool {
	return (h.Policy == "" || h.Policy == policy) && (h.Session == "" || h.Session == session)
}

// AddHint keeps a hint until it is taken. The error is an [*Error].
func (s *Store) AddHint(h Hint) error {
	const op = "write"
	h.ID = LineID(h.At)
	path := s.path(hintDir, fileName(h.Root, ""), h.ID+hintSuffix)
	data, err := json.Marshal(h)
	if err == nil && len(data) > maxHint {
		err = fmt.Errorf("the hint is too long: %d bytes, the limit is %d", len(data), maxHint)
	}
	if err != nil {
		return &Error{Path: path, Op: op, Err: err}
	}
	if err := s.ensure(op, hintDir, fileName(h.Root, "")); err != nil {
		return err
	}
	if err := replace(path, append(data, '\n')); err != nil {
		return &Error{Path: path, Op: op, Err: err}
	}
	return nil
}

// Hints lists the hints of a project that wait, the oldest first. Files that are no
// hints are passed over. The error is an [*Error].
func (s *Store) Hints(root string) ([]Hint, error) {
	if s.dir == "" {
		return nil, nil
	}
	dir := s.path(hintDir, fileName(root, ""))
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{Path: dir, Op: "list", Err: err}
	}
	var all []Hint
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), hintSuffix) {
			continue
		}
		if h, err := readHint(filepath.Join(dir, entry.Name())); err == nil && h.Root == root && h.ID+hintSuffix == entry.Name() {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b Hint) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

// TakeHint removes a hint and reports whether it was there: of several processes that
// take the same one, one gets it.
func (s *Store) TakeHint(h Hint) bool {
	return os.Remove(s.path(hintDir, fileName(h.Root, ""), h.ID+hintSuffix)) == nil
}

func readHint(path string) (h Hint, err error) {
	f, _, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return h, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxHint+2))
	if err == nil {
		err = json.Unmarshal(data, &h)
	}
	return h, err
}
