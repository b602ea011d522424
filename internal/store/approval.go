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

const (
	trustDir     = "trust"
	trustSuffix  = ".json"
	maxTrustSize = 64 << 10
)

// An Approval allows one policy of one project to run programs and call models, and records everything that it covers.
// A policy of a project has at most one. One without a policy means that the user trusts the project, and one with a
// loop covers only a loop of the policy for hooks of all projects.
type Approval struct {
	Root     string            `json:"root"`               // of the project, absolute and without links
	Policy   string            `json:"policy"`             // its name: relative to the root, or absolute
	Files    []Covered         `json:"files,omitempty"`    // the policy first
	Params   map[string]string `json:"params,omitempty"`   // values that the project's configuration gives
	Programs []Covered         `json:"programs,omitempty"` // files of the project that are run
	Loop     *Covered          `json:"loop,omitempty"`     // the loop that ralph start wrote
	At       time.Time         `json:"at"`
}

// name returns the name of its file.
func (a Approval) name() string {
	if a.Loop != nil {
		return approvalName(a.Root, a.Policy+"\x00loop")
	}
	return approvalName(a.Root, a.Policy)
}

// Covered is a file with a digest of its content.
type Covered struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// Approve stores an approval, which replaces an earlier one of the same policy, or of its loop, in the project. The error
// is an [*Error].
func (s *Store) Approve(a Approval) error {
	const op = "approve"
	if err := s.Refused(a.Root); err != nil {
		return err
	}
	return s.save(op, a, maxTrustSize, trustDir, a.name())
}

// Approval returns the approval of a policy in a project. One that cannot be read, has another name, or is in a
// [Store.Refused] directory does not count.
func (s *Store) Approval(root, policy string) (a Approval, ok bool) {
	if s.dir == "" || s.Refused(root) != nil {
		return a, false
	}
	a, err := readApproval(s.path(trustDir, approvalName(root, policy)))
	return a, err == nil && a.Root == root && a.Policy == policy
}

// StartedLoop reports whether ralph start wrote a loop of a policy. Only the latest one counts.
func (s *Store) StartedLoop(root, policy string, loop Covered) bool {
	if s.dir == "" || s.Refused(root) != nil {
		return false
	}
	a, err := readApproval(s.path(trustDir, Approval{Root: root, Policy: policy, Loop: &loop}.name()))
	return err == nil && a.Root == root && a.Policy == policy && a.Loop != nil && *a.Loop == loop
}

// Trust records that the user trusts a project, and reports whether that is new. The error is an [*Error].
func (s *Store) Trust(root string, at time.Time) (bool, error) {
	if s.Trusts(root) {
		return false, nil
	}
	err := s.Approve(Approval{Root: root, At: at.UTC()})
	return err == nil, err
}

// Trusts reports whether the user trusts a project: its loops and settings count for hooks of all projects.
func (s *Store) Trusts(root string) bool {
	_, ok := s.Approval(root, "")
	return ok
}

// Approvals returns all approvals, latest first. It ignores other files. The error is an [*Error].
func (s *Store) Approvals() ([]Approval, error) {
	files, err := s.list(trustSuffix, trustDir)
	if err != nil {
		return nil, err
	}
	var all []Approval
	for _, path := range files {
		if a, err := readApproval(path); err == nil {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b Approval) int { return b.At.Compare(a.At) })
	return all, nil
}

// Revoke withdraws the approvals of a policy and of its loop in a project, and reports whether there was one. The error is
// an [*Error].
func (s *Store) Revoke(root, policy string) (bool, error) {
	const op = "revoke"
	if s.dir == "" {
		return false, &Error{Op: op, Err: errNoStore}
	}
	any := false
	for _, a := range []Approval{{Root: root, Policy: policy}, {Root: root, Policy: policy, Loop: &Covered{}}} {
		path := s.path(trustDir, a.name())
		err := os.Remove(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return any, failed(op, path, err)
		}
		any = any || err == nil
	}
	return any, nil
}

func approvalName(root, policy string) string { return fileName(root+"\x00"+policy, trustSuffix) }

// readApproval reads an approval. The name of its file must be that of what it holds.
func readApproval(path string) (a Approval, err error) {
	data, err := readFile(path, maxTrustSize)
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if err == nil && filepath.Base(path) != a.name() {
		err = errors.New("it is the approval of another policy")
	}
	return a, err
}
