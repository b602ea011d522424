// Package workspace finds the project that an event belongs to, and whether loops are
// switched off there. It reads folder names only, and knows neither hosts nor policies.
//
// Start with [Find].
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

// Find gives the project root of an event in the directory cwd: flag if it is given, else
// CLAUDE_PROJECT_DIR where the event's directory lies in it (agents change their
// directory, the session's project stays), else the event's directory. It does
// not search upwards: a file of some parent folder must not run a loop here.
func Find(cwd, flag string, getenv func(string) string) (string, error) {
	if flag != "" {
		return directory(flag)
	}
	if cwd == "" {
		return "", &Error{Reason: "the hook input has no cwd; --project names one"}
	}
	at, err := directory(cwd)
	if session := getenv("CLAUDE_PROJECT_DIR"); session != "" {
		dir, sessionErr := directory(session)
		switch {
		case sessionErr != nil:
		case err == nil && beneath(dir, at):
			return dir, nil
		case err != nil && (beneath(dir, cwd) || beneath(session, cwd)):
			return dir, nil // the agent removed the directory that it is in
		}
	}
	return at, err
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

// beneath reports whether dir is root or lies in it.
func beneath(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
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
