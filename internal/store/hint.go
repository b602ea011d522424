package store

import (
	"encoding/json"
	"os"
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
	h.ID = LineID(h.At)
	data, err := json.Marshal(h)
	if err != nil {
		return failed("write", s.hintPath(h), err)
	}
	return s.write("write", append(data, '\n'), maxHint, hintDir, fileName(h.Root, ""), h.ID+hintSuffix)
}

func (s *Store) hintPath(h Hint) string {
	return s.path(hintDir, fileName(h.Root, ""), h.ID+hintSuffix)
}

// Hints lists the hints of a project that wait, the oldest first. Files that are no
// hints are passed over. The error is an [*Error].
func (s *Store) Hints(root string) ([]Hint, error) {
	files, err := s.list(hintSuffix, hintDir, fileName(root, ""))
	if err != nil {
		return nil, err
	}
	var all []Hint
	for _, path := range files {
		var h Hint
		data, err := readFile(path, maxHint)
		if err == nil && json.Unmarshal(data, &h) == nil && h.Root == root && s.hintPath(h) == path {
			all = append(all, h)
		}
	}
	return all, nil
}

// TakeHint removes a hint and reports whether it was there: of several processes that
// take the same one, one gets it.
func (s *Store) TakeHint(h Hint) bool {
	return os.Remove(s.hintPath(h)) == nil
}
