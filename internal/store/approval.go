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
	trustDir     = "trust"
	trustSuffix  = ".json"
	maxTrustSize = 64 << 10
)

// An Approval says that a user let one policy of one project run programs and ask
// models, and all that this covers. A policy of a project has at most one. One without
// a policy says that the user trusts the project.
type Approval struct {
	Root     string            `json:"root"`               // of the project, absolute and without links
	Policy   string            `json:"policy"`             // its name: relative to the root, or absolute
	Files    []Covered         `json:"files,omitempty"`    // the policy first
	Params   map[string]string `json:"params,omitempty"`   // values that the project's configuration gives
	Programs []Covered         `json:"programs,omitempty"` // files of the project that are run
	At       time.Time         `json:"at"`
}

// Covered is a file with a digest of its content.
type Covered struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// Approve keeps an approval in the place of an earlier one of the same policy and
// project. The error is an [*Error].
func (s *Store) Approve(a Approval) error {
	const op = "approve"
	if s.dir == "" {
		return &Error{Op: op, Err: errNoStore}
	}
	if err := s.Refused(a.Root); err != nil {
		return err
	}
	path := s.approvalPath(a.Root, a.Policy)
	data, err := json.MarshalIndent(a, "", "  ")
	if err == nil && len(data) >= maxTrustSize {
		err = fmt.Errorf("the approval is too large: %d bytes, the limit is %d", len(data)+1, maxTrustSize)
	}
	if err != nil {
		return &Error{Path: path, Op: op, Err: err}
	}
	if err := s.ensure(op, trustDir); err != nil {
		return err
	}
	if err := replace(path, append(data, '\n')); err != nil {
		return &Error{Path: path, Op: op, Err: err}
	}
	return nil
}

// Approval gives the approval of a policy in a project. One that cannot be read,
// that has the name of another, or that is in a directory which is [Store.Refused], does not count.
func (s *Store) Approval(root, policy string) (a Approval, ok bool) {
	if s.dir == "" || s.Refused(root) != nil {
		return a, false
	}
	a, err := s.readApproval(filepath.Base(s.approvalPath(root, policy)))
	return a, err == nil && a.Root == root && a.Policy == policy
}

// Trust keeps that the user trusts a project, and reports whether that is new. The error is an [*Error].
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

// Approvals lists what was approved, the latest first. Files of the directory
// that are no approvals are passed over. The error is an [*Error].
func (s *Store) Approvals() ([]Approval, error) {
	if s.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(s.path(trustDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, &Error{Path: s.path(trustDir), Op: "list", Err: err}
	}
	var all []Approval
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), trustSuffix) {
			continue
		}
		if a, err := s.readApproval(entry.Name()); err == nil {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b Approval) int { return b.At.Compare(a.At) })
	return all, nil
}

// Revoke takes the approval of a policy in a project back and reports whether there
// was one. The error is an [*Error].
func (s *Store) Revoke(root, policy string) (bool, error) {
	const op = "revoke"
	if s.dir == "" {
		return false, &Error{Op: op, Err: errNoStore}
	}
	path := s.approvalPath(root, policy)
	switch err := os.Remove(path); {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	default:
		return false, &Error{Path: path, Op: op, Err: err}
	}
}

func (s *Store) approvalPath(root, policy string) string {
	return s.path(trustDir, fileName(root+"\x00"+policy, trustSuffix))
}

// readApproval reads a file of the directory. Its name must be that of what it holds.
func (s *Store) readApproval(name string) (Approval, error) {
	var a Approval
	errNone := errors.New("is no approval")
	f, _, err := openFile(s.path(trustDir, name), os.O_RDONLY)
	if err != nil {
		return a, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTrustSize+1))
	if err != nil {
		return a, err
	}
	if len(data) > maxTrustSize {
		return a, errNone
	}
	if err := json.Unmarshal(data, &a); err != nil {
		return a, err
	}
	if filepath.Base(s.approvalPath(a.Root, a.Policy)) != name {
		return a, errNone
	}
	return a, nil
}
