package loop

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/home"
)

// claudeDir is where Claude Code keeps its files, "" if that is not known.
func claudeDir(getenv func(string) string) string {
	h, _ := host.Lookup(host.ClaudeCode)
	return h.Settings.Dir.In(getenv, homeDir(getenv))
}

// homeDir is the user's home directory, that of the process where the environment of
// the loop names none; "" if there is none.
func homeDir(getenv func(string) string) string { return cmp.Or(home.Dir(getenv), home.OfProcess()) }

// isName reports whether a text from outside names one file of a folder and
// cannot lead out of it.
func isName(s string) bool {
	return s != "" && len(s) <= 200 && s[0] != '.' && !strings.ContainsAny(s, "/\\:\x00") && filepath.IsLocal(s)
}

// sessionFile finds the file of a session whose hook input does not name it, ""
// if there is none. Claude Code has one folder a project, and names them after
// their path in a way of its own.
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
