package store

import (
	"encoding/json"
	"slices"
	"time"
)

const (
	trustDir     = "trust"
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

// name returns the name of its document.
func (a Approval) name() string {
	if a.Loop != nil {
		return joined(a.Root, a.Policy, "loop")
	}
	return joined(a.Root, a.Policy)
}

// Covered is a file with a digest of its content.
type Covered struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}

// Approve stores an approval, which replaces an earlier one of the same policy, or of its loop, in the project.
func (o Orders) Approve(a Approval) error {
	if err := o.refused(a.Root); err != nil {
		return err
	}
	return o.put(o.kind(trustDir), a.name(), a, maxTrustSize)
}

// Approval returns the approval of a policy in a project. One that cannot be read, has another name, or is in a
// [Store.Refused] directory does not count.
func (o Orders) Approval(root, policy string) (a Approval, ok bool) {
	return o.approval(Approval{Root: root, Policy: policy})
}

// StartedLoop reports whether ralph start wrote a loop of a policy. Only the latest one counts.
func (o Orders) StartedLoop(root, policy string, loop Covered) bool {
	a, ok := o.approval(Approval{Root: root, Policy: policy, Loop: &loop})
	return ok && *a.Loop == loop
}

// approval returns the approval with the name of another.
func (o Orders) approval(like Approval) (a Approval, ok bool) {
	if o.refused(like.Root) != nil {
		return a, false
	}
	return o.approvalCalled(like.name())
}

// approvalCalled returns the approval in a document, whose name must be its own.
func (o Orders) approvalCalled(name string) (a Approval, ok bool) {
	data, version, err := o.docs.Document(o.kind(trustDir), name)
	ok = err == nil && version != "" && json.Unmarshal(data, &a) == nil && a.name() == name
	return a, ok
}

// Trust records that the user trusts a project, and reports whether that is new.
func (o Orders) Trust(root string, at time.Time) (bool, error) {
	if o.Trusts(root) {
		return false, nil
	}
	err := o.Approve(Approval{Root: root, At: at.UTC()})
	return err == nil, err
}

// Trusts reports whether the user trusts a project: its loops and settings count for hooks of all projects.
func (o Orders) Trusts(root string) bool {
	_, ok := o.Approval(root, "")
	return ok
}

// Approvals returns all approvals, latest first. It ignores other documents.
func (o Orders) Approvals() ([]Approval, error) {
	var all []Approval
	for name, err := range o.docs.DocumentNames(o.kind(trustDir)) {
		if err != nil && name == "" {
			return nil, err
		}
		if a, ok := o.approvalCalled(name); ok {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b Approval) int { return b.At.Compare(a.At) })
	return all, nil
}

// Revoke withdraws the approvals of a policy and of its loop in a project, and reports whether there was one.
func (o Orders) Revoke(root, policy string) (any bool, err error) {
	for _, a := range []Approval{{Root: root, Policy: policy}, {Root: root, Policy: policy, Loop: &Covered{}}} {
		was, err := o.remove(o.kind(trustDir), a.name())
		if err != nil {
			return any, err
		}
		any = any || was
	}
	return any, nil
}
