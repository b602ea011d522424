// Package workspace finds the project that an event belongs to, and whether loops are
// switched off there. It looks at names of files, at whose they are, and at the files that lead
// from a git worktree to its main tree. It knows neither hosts nor policies.
//
// Start with [Find], which answers for an event, or [Above], which answers for a folder.
package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Error says why there is no project root for an event.
type Error struct {
	Dir    string // what was tried, "" if the event names no directory
	Reason string
}

// Error says it in a sentence.
func (e *Error) Error() string {
	if e.Dir == "" {
		return "no project directory: " + e.Reason
	}
	return fmt.Sprintf("the project directory %s cannot be used: %s", e.Dir, e.Reason)
}

// Quiet says that the error is no failure of a hook, see package host.
func (e *Error) Quiet() bool { return true }

// Find returns the project root of an event in the directory cwd: flag if it is given, else
// CLAUDE_PROJECT_DIR where that is a directory other than the root of the file system, else
// the project that cwd belongs to, see [Above] also for files. The host sets the variable to the project that
// the session was started in; cwd follows the agent, also out of the project.
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

// Named gives the project root that is known without an event, "" if there is none: flag
// if it is given, else CLAUDE_PROJECT_DIR.
func Named(flag string, getenv func(string) string) string {
	if flag == "" {
		return ofSession(getenv)
	}
	dir, _ := directory(flag)
	return dir
}

// ofSession gives the directory that CLAUDE_PROJECT_DIR names, "" if there is none. The root
// of the file system is no project: every path of a policy would be one of the machine.
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

// OffEarly reports whether loops are switched off, as far as that is known without an
// event: what cannot be understood is not reported then.
func OffEarly(flag string, getenv func(string) string) bool {
	_, off := Off(Named(flag, getenv), getenv)
	return off
}

// OffFile switches all loops of a project off by its presence.
const OffFile = ".ralph/off"

// Off reports whether loops are switched off, and by what: the variable RALPH_OFF
// (not empty, 0 or false) or the file .ralph/off of the project. With an empty root
// only the variable is asked.
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

// Beneath reports whether a directory, whose links are resolved, is another one or in it.
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

// DefaultPolicy is the policy of those who name none.
const DefaultPolicy = ".ralph/policy.yaml"

// OrDefault returns the names of policies, or that of the default one if there are none.
func OrDefault(policies []string) []string {
	if len(policies) == 0 {
		return []string{DefaultPolicy}
	}
	return policies
}
