package loop

import (
	"errors"
	"fmt"
	"slices"
)

// all names every class of WithAllow.
const all = "all"

// classes are what reaches beyond the project.
var classes = []string{"exec", "run", "judge", "env", "home"}

// errUnapproved reports something that only a person may allow. Its text may reach the agent, so it does not say how.
var errUnapproved = errors.New("it needs a person's approval")

// may reports why a class of things is not permitted.
func (w *work) may(class string) error {
	if slices.Contains(w.allow, class) || slices.Contains(w.allow, all) {
		return nil
	}
	return w.approved(class)
}

// approved asks for approval, once.
func (w *work) approved(what string) error {
	switch {
	case w.asked:
	case w.approval == nil:
		w.refused = fmt.Sprintf("%s: %s is not allowed: see loop.WithAllow and loop.WithApproval", w.policy.Name, what)
	default:
		w.refused = w.approval()
	}
	w.asked = true
	if w.refused != "" {
		return errUnapproved
	}
	return nil
}
