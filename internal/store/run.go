package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// The kept runs are documents, and a run that is under way is a lease.
const (
	runDir  = "runs"
	endName = "-end" // after the ID: the end of the run was requested
)

// ErrNoRun reports that no run with this ID is kept.
var ErrNoRun = errors.New("no run has this ID")

var errRunID = errors.New("a run ID must consist of letters, digits and hyphens")

// SaveRun saves the progress of a run in place of before, what was saved last, or nil. It returns [ErrChanged] if another
// process has saved the run since. Its ID must have only letters, digits and hyphens. Like a memory it is not synced to disk.
func (o Orders) SaveRun(ctx context.Context, id string, line, before []byte) error {
	if !isRunID(id) {
		return errRunID
	}
	now, version, err := o.docs.Document(o.kind(runDir), id)
	switch {
	case err != nil:
		return err
	case version != "" && !bytes.Equal(now, before):
		return fmt.Errorf("the run %w", ErrChanged)
	}
	return o.docs.PutDocument(ctx, o.kind(runDir), id, line, version)
}

// LoadRun returns the saved progress of a run. The error wraps [ErrNoRun].
func (o Orders) LoadRun(id string) ([]byte, error) {
	if !isRunID(id) {
		return nil, errRunID
	}
	line, version, err := o.docs.Document(o.kind(runDir), id)
	if err == nil && version == "" {
		err = ErrNoRun
	}
	return line, err
}

// Runs returns the IDs of the runs that are kept, the latest first.
func (o Orders) Runs() (ids []string, err error) {
	for name, err := range o.docs.DocumentNames(o.kind(runDir)) {
		if err != nil && name == "" {
			return nil, err
		}
		if isRunID(name) && !strings.HasSuffix(name, endName) {
			ids = append(ids, name)
		}
	}
	slices.Sort(ids)
	slices.Reverse(ids)
	return ids, nil
}

// EndRun requests the end of a run, or with end false withdraws that.
func (o Orders) EndRun(id string, end bool) (err error) {
	switch {
	case !isRunID(id + endName):
		return errRunID
	case end:
		_, err = o.create(o.kind(runDir), id+endName, true)
	default:
		_, err = o.remove(o.kind(runDir), id+endName)
	}
	return err
}

// EndName returns the document that requests the end of a run.
func (o Orders) EndName(id string) Name { return Name{o.kind(runDir), id + endName} }

// RemoveRun removes a run.
func (o Orders) RemoveRun(id string) error {
	if !isRunID(id) {
		return errRunID
	}
	if _, err := o.remove(o.kind(runDir), id); err != nil {
		return err
	}
	return o.EndRun(id, false)
}

func isRunID(id string) bool {
	return id != "" && len(id) <= 64 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// RunLease returns the lease that a run of a policy in a project holds.
func (o Orders) RunLease(root, policy string) string { return joined(o.scope, "run", root, policy) }

// ChangeLease returns the lease of who starts or stops loops of a project.
func (o Orders) ChangeLease(root string) string { return joined(o.scope, "loops", root) }
