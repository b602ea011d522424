package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// The hints of a project are a list in one document.
const (
	hintDir = "hints"
	maxList = 64 << 10
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

// hints is what is kept for one project.
type hints struct {
	V     int    `json:"v"`
	Root  string `json:"root"`
	Items []Hint `json:"items"`
}

// HintName returns the document of a project's hints.
func (o Orders) HintName(root string) Name { return Name{o.kind(hintDir), root} }

// Hints returns the hints of a project that wait, the oldest first.
func (o Orders) Hints(root string) ([]Hint, error) {
	all, _, err := o.hints(root)
	return all, err
}

func (o Orders) hints(root string) (all []Hint, version string, err error) {
	n := o.HintName(root)
	data, version, err := o.docs.Document(n.Kind, n.Name)
	if err != nil || version == "" {
		return nil, version, err
	}
	var kept hints
	if json.Unmarshal(data, &kept) != nil || kept.V != 1 || kept.Root != root {
		return nil, version, fmt.Errorf("the hints of %s are damaged; run `ralph hint --revoke`", root)
	}
	return kept.Items, version, nil
}

// ChangeHints replaces the hints of a project with the result of change. A document that cannot be read counts as empty. The
// change is atomic: change is called again if another was faster.
func (o Orders) ChangeHints(ctx context.Context, root string, change func([]Hint) []Hint) error {
	n := o.HintName(root)
	for {
		items, version, err := o.hints(root)
		if err != nil && version == "" {
			return err
		}
		before, damaged := slices.Clone(items), err != nil
		if items = change(items); slices.Equal(items, before) && !damaged {
			return nil
		}
		var data []byte
		if len(items) > 0 {
			if data, err = asJSON(hints{V: 1, Root: root, Items: items}, maxList); err != nil {
				return fmt.Errorf("the hints of %s cannot be kept: %w", root, err)
			}
		}
		if err = o.docs.PutDocument(ctx, n.Kind, n.Name, data, version); !errors.Is(err, ErrChanged) {
			return err
		}
	}
}
