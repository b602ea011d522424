package setup

import (
	"path"
	"slices"
	"strings"
)

// An Original is a plugin or hook that a shipped policy replaces, or another loop.
type Original struct {
	Policy  string   // "" if no shipped policy replaces it
	plugins []string // of Claude Code, which answer events themselves
	hooks   []string // their programs, without the extension
	Needed  bool     // the policy needs the plugin's commands
}

// Originals returns the known originals.
func Originals() []Original {
	return []Original{
		{"ralph-wiggum", []string{"ralph-wiggum", "ralph-loop"}, []string{"stop-hook"}, false},
		{"specum", []string{"ralph-specum"}, []string{"stop-watcher"}, true},
		{"speckit", []string{"ralph-speckit"}, []string{"stop-watcher"}, true},
		{"stravinsky", nil, []string{"stop_hook"}, false},
		{"todo-reminder", nil, []string{"todo_continuation"}, false},
		{"system3", nil, []string{"unified-stop-gate"}, false},
		{"double-shot-latte", []string{"double-shot-latte"}, []string{"claude-judge-continuation"}, false},
		{"", []string{"oh-my-claudecode"}, []string{"persistent-mode"}, false},
		{"", []string{"planning-with-files"}, []string{"gate-stop"}, false},
	}
}

// OriginalOf returns the original whose program a command runs.
func OriginalOf(command string) (Original, bool) {
	words := strings.FieldsFunc(command, func(r rune) bool { return strings.ContainsRune(" \t\n\"'`/\\;&|()<>=", r) })
	for _, o := range Originals() {
		for _, w := range words {
			if slices.Contains(o.hooks, strings.TrimSuffix(w, path.Ext(w))) {
				return o, true
			}
		}
	}
	return Original{}, false
}

// EnabledField is the switch in a plugin's settings file.
const EnabledField = "enabled"

// HookReadsOff reports whether the hooks of such plugins read their settings as off. They do not parse YAML: the first
// line enabled: between lines that are exactly --- counts, without blanks and quotes.
func HookReadsOff(src string) bool {
	inside := false
	for line := range strings.SplitSeq(src, "\n") {
		value, ok := strings.CutPrefix(line, EnabledField+":")
		switch {
		case line == "---":
			inside = !inside
		case inside && ok:
			return strings.EqualFold(strings.NewReplacer(" ", "", "\t", "", `"`, "", "'", "").Replace(value), "false")
		}
	}
	return false
}
