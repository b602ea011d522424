package loop

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/home"
)

// claudeDir returns the directory of Claude Code's files, "" if unknown.
func claudeDir(getenv func(string) string) string {
	h, _ := host.Lookup(host.ClaudeCode)
	return h.Settings.Dir.In(getenv, homeDir(getenv))
}

// homeDir returns the user's home directory: from the loop's environment, otherwise from the process; "" if unknown.
func homeDir(getenv func(string) string) string { return cmp.Or(home.Dir(getenv), home.OfProcess()) }

// isName reports whether s, which comes from outside, names one file of a directory and cannot lead out of it.
func isName(s string) bool {
	return s != "" && len(s) <= 200 && s[0] != '.' && !strings.ContainsAny(s, "/\\:\x00") && filepath.IsLocal(s)
}

// sessionFile returns the file of a session whose hook input does not name it, or "". Claude Code has one directory a
// project, with names that only it can derive from the path.
func sessionFile(session string, getenv func(string) string) string {
	dir := claudeDir(getenv)
	if dir == "" || !isName(session) {
		return ""
	}
	projects := filepath.Join(dir, "projects")
	entries, err := os.ReadDir(projects)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		file := filepath.Join(projects, e.Name(), session+".jsonl")
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			return file
		}
	}
	return ""
}
