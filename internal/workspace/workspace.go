// Package workspace finds the project of an event, and whether loops are switched off in it. It reads names and owners
// of files, and the files that link a git worktree to its main tree. It leaves out hosts and policies.
//
// Start with [Find] for an event, or [Above] for a directory.
package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Error is why an event has no project root.
type Error struct {
	Dir    string // the directory tried, "" if the event has none
	Reason string
}

// Error returns the message.
func (e *Error) Error() string {
	if e.Dir == "" {
		return "no project directory: " + e.Reason
	}
	return fmt.Sprintf("the project directory %s cannot be used: %s", e.Dir, e.Reason)
}

// Quiet reports that the error is no failure of a hook, see package host.
func (e *Error) Quiet() bool { return true }

// Find returns the project root of an event in the directory cwd: flag if set, otherwise CLAUDE_PROJECT_DIR if that is
// a directory other than the root of the file system, otherwise the project of cwd, see [Above] also for files. The
// host sets the variable to the project in which the session started; cwd follows the agent, also out of the project.
func Find(cwd, flag string, files []string, getenv func(string) string) (string, error) {
	if flag != "" {
		return directory(flag)
	}
	if dir := ofSession(getenv); dir != "" {
		return dir, nil
	}
	if cwd == "" {
		return "", &Error{Reason: "the hook input has no cwd and CLAUDE_PROJECT_DIR names none; use --project"}
	}
	dir, err := directory(cwd)
	if err != nil {
		return "", err
	}
	return Above(dir, files, getenv), nil
}

// Named returns the project root that is known without an event: flag if set, otherwise CLAUDE_PROJECT_DIR, or "".
func Named(flag string, getenv func(string) string) string {
	if flag == "" {
		return ofSession(getenv)
	}
	dir, _ := directory(flag)
	return dir
}

// ofSession returns the directory in CLAUDE_PROJECT_DIR, or "". The root of the file system is not a project: every
// path of a policy would be one of the machine.
func ofSession(getenv func(string) string) string {
	name := getenv("CLAUDE_PROJECT_DIR")
	if name == "" {
		return ""
	}
	dir, err := directory(name)
	if err != nil || dir == filepath.Dir(dir) {
		return ""
	}
	return dir
}

func directory(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", &Error{Dir: dir, Reason: "it cannot be made absolute"}
	}
	resolved, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return "", &Error{Dir: dir, Reason: "it does not exist"}
	}
	if info, err := os.Stat(resolved); err != nil || !info.IsDir() {
		return "", &Error{Dir: dir, Reason: "it is not a directory"}
	}
	return resolved, nil
}

// OffFile switches off all loops of a project if it exists.
const OffFile = ".ralph/off"

// Off reports whether loops are switched off, and by what: the variable RALPH_OFF (not empty, 0 or false) or the
// project's file .ralph/off. With an empty root only the variable counts.
func Off(root string, getenv func(string) string) (string, bool) {
	switch v := strings.ToLower(strings.TrimSpace(getenv("RALPH_OFF"))); v {
	case "", "0", "false":
	default:
		return "RALPH_OFF is set", true
	}
	if root == "" {
		return "", false
	}
	if _, err := os.Lstat(filepath.Join(root, filepath.FromSlash(OffFile))); err == nil {
		return "the file " + OffFile + " exists", true
	}
	return "", false
}

// Beneath reports whether a directory without links is top or below it.
func Beneath(top, dir string) bool {
	if resolved, err := filepath.EvalSymlinks(top); err == nil {
		top = resolved
	}
	rel, err := filepath.Rel(top, dir)
	return err == nil && (rel == "." || filepath.IsLocal(rel))
}

// SameFile reports whether two paths lead to one file or directory.
func SameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// DefaultPolicy is the policy if none is named.
const DefaultPolicy = ".ralph/policy.yaml"

// OrDefault returns policies, or the default one if there are none.
func OrDefault(policies []string) []string {
	if len(policies) == 0 {
		return []string{DefaultPolicy}
	}
	return policies
}
