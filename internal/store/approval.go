package store

import (
	"encoding/json"
	"errors"
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

// An Approval is that a person let a policy run programs and ask models. It
// holds for one content only.
type Approval struct {
	Key   string    `json:"key"`   // of the content, as the caller works it out: hexadecimal digits
	Names []string  `json:"names"` // the files that were approved, the policy first
	At    time.Time `json:"at"`
}

// Approve keeps an approval. Approving twice is no error. The error is a
// [*Error].
func (s *Store) Approve(a Approval) error {
	const op = "approve"
	path, err := s.approvalPath(op, a.Key)
	if err != nil {
		return err
	}
	data, err := json.MarshalIndent(a, "", "  ")
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

// Approved reports whether a content was approved. Whatever cannot be read was not.
func (s *Store) Approved(key string) bool {
	path, err := s.approvalPath("look up", key)
	if err != nil {
		return false
	}
	a, err := readApproval(path)
	return err == nil && a.Key == key
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
		key, ok := strings.CutSuffix(entry.Name(), trustSuffix)
		if !ok {
			continue
		}
		if a, err := readApproval(filepath.Join(s.path(trustDir), entry.Name())); err == nil && a.Key == key {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b Approval) int { return b.At.Compare(a.At) })
	return all, nil
}

// Revoke takes an approval back and reports whether there was one. The error is
// an [*Error].
func (s *Store) Revoke(key string) (bool, error) {
	const op = "revoke"
	path, err := s.approvalPath(op, key)
	if err != nil {
		return false, err
	}
	switch err := os.Remove(path); {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	default:
		return false, &Error{Path: path, Op: op, Err: err}
	}
}

func (s *Store) approvalPath(op, key string) (string, error) {
	if s.dir == "" {
		return "", &Error{Op: op, Err: errNoStore}
	}
	if len(key) < 16 || len(key) > 128 || strings.Trim(key, "0123456789abcdef") != "" {
		return "", &Error{Op: op, Err: errors.New("the key of a content is 16 to 128 hexadecimal digits")}
	}
	return s.path(trustDir, key+trustSuffix), nil
}

func readApproval(path string) (Approval, error) {
	var a Approval
	info, err := os.Stat(path)
	if err != nil {
		return a, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxTrustSize {
		return a, errors.New("is no approval")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal(data, &a)
}
