package loop

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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

// inside reports whether a path is in a directory, also by links.
func inside(dir, path string) bool {
	for _, p := range []string{path, real(path)} {
		if rel, err := filepath.Rel(dir, p); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

func real(path string) string {
	if p, err := filepath.EvalSymlinks(path); err == nil {
		return p
	}
	return path
}

// below returns a directory below the root, which no link leaves.
func below(root, dir string) (string, error) {
	if dir == "" {
		return root, nil
	}
	path := filepath.FromSlash(dir)
	if !filepath.IsLocal(path) || strings.ContainsRune(path, 0) {
		return "", fmt.Errorf("dir %q is not below the project", dir)
	}
	path, err := filepath.EvalSymlinks(filepath.Join(root, path))
	if err != nil {
		return "", err
	}
	if !inside(root, path) {
		return "", fmt.Errorf("dir %q leaves the project", dir)
	}
	return path, nil
}
