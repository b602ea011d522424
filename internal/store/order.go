package store

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// What a person stopped or paused in a project is one file each. It counts while the file exists, whatever that holds, so
// that no damage continues a loop; its text is for lists.
const (
	orderDir    = "orders"
	pauseSuffix = ".pause"
	stopSuffix  = ".stop"
	maxOrder    = 64 << 10
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

// file returns the name of the pause's file.
func (p Pause) file() string { return part(p.Policy) + "-" + part(p.Session) + pauseSuffix }

// Ordered reports whether a person stopped a policy's loop, and whether the policy is paused in a session. The error is an
// [*Error].
func (s *Store) Ordered(root, policy, session string) (stopped, paused bool, err error) {
	if s.dir == "" {
		return false, false, nil
	}
	dir := s.path(orderDir, part(root))
	if any, err := there(dir); !any { // as in most projects
		return false, false, err
	}
	stopped, err = there(s.stopPath(root, policy))
	for _, p := range []Pause{{Policy: policy}, {Session: session}, {Policy: policy, Session: session}} {
		if p != (Pause{}) && !paused && err == nil {
			paused, err = there(filepath.Join(dir, p.file()))
		}
	}
	return stopped, paused, err
}

// Pauses returns what is paused in a project, the oldest first. The error is an [*Error]; it is about pauses that cannot be
// read, which count all the same.
func (s *Store) Pauses(root string) (all []Pause, err error) {
	files, err := s.list(pauseSuffix, orderDir, part(root))
	for _, path := range files {
		var p Pause
		data, failure := readFile(path, maxOrder)
		if failure == nil && (json.Unmarshal(data, &p) != nil || p.file() != filepath.Base(path)) {
			failure = errors.New("it is damaged, and counts as a pause")
		}
		if failure != nil {
			err = errors.Join(err, failed("read", path, failure))
			continue
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b Pause) int { return a.At.Compare(b.At) })
	return all, err
}

// Pause pauses something in a project, and reports whether it was not paused. The error is an [*Error].
func (s *Store) Pause(root string, p Pause) (changed bool, err error) {
	return s.order(p, orderDir, part(root), p.file())
}

// Resume undoes one pause, and reports whether there was one. The error is an [*Error].
func (s *Store) Resume(root string, p Pause) (changed bool, err error) {
	return withdraw(s.path(orderDir, part(root), p.file()))
}

// ResumeUnreadable undoes the pauses that cannot be read. The error is an [*Error].
func (s *Store) ResumeUnreadable(root string) error {
	files, err := s.list(pauseSuffix, orderDir, part(root))
	known, _ := s.Pauses(root)
	for _, path := range files {
		if !slices.ContainsFunc(known, func(p Pause) bool { return p.file() == filepath.Base(path) }) {
			_, failure := withdraw(path)
			err = errors.Join(err, failure)
		}
	}
	return err
}

// StopLoop stops the loop of a policy in a project until [Store.StartLoop]. The error is an [*Error].
func (s *Store) StopLoop(root, policy string, at time.Time) error {
	_, err := s.order(Pause{Policy: policy, At: at}, orderDir, part(root), part(policy)+stopSuffix)
	return err
}

// StartLoop undoes [Store.StopLoop].
func (s *Store) StartLoop(root, policy string) error {
	_, err := withdraw(s.stopPath(root, policy))
	return err
}

func (s *Store) stopPath(root, policy string) string {
	return s.path(orderDir, part(root), part(policy)+stopSuffix)
}

// order makes the file of an order, which then counts, and writes its text. It reports whether there was no such file.
func (s *Store) order(p Pause, names ...string) (changed bool, err error) {
	if err := s.ensure("write", names[:len(names)-1]...); err != nil {
		return false, err
	}
	path := s.path(names...)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|openNonblocking, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, failed("write", path, err)
	}
	text, err := json.Marshal(p)
	if err == nil {
		_, err = f.Write(text)
	}
	return true, failed("write", path, errors.Join(err, f.Close()))
}

// withdraw removes the file of an order, or whatever is at its path, and reports whether there was one.
func withdraw(path string) (changed bool, err error) {
	was, err := there(path)
	if was {
		err = failed("remove", path, os.RemoveAll(path))
	}
	return was && err == nil, err
}

// there reports whether there is anything at a path. The error is an [*Error].
func there(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, failed("read", path, err)
}
