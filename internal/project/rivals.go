package project

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/state"
)

// rival is a plugin of Claude Code, or the program of a hook, that answers events as a shipped policy does, or in another loop.
type rival struct {
	name   string // of a plugin with @, without its marketplace; else of a program
	policy string // "": ralph ships none instead of it
	state  string // what it works on in a project, "." for everything; "": it competes only with its policy
	off    string // the file in which enabled: false switches off its hook alone
}

var rivals = []rival{
	{"ralph-speckit@", "speckit", ".specify/.current-feature", ".claude/ralph-speckit.local.md"},
	{"ralph-specum@", "specum", "specs/.current-spec", ".claude/ralph-specum.local.md"},
	{"ralph-wiggum@", "ralph-wiggum", ".claude/ralph-loop.local.md", ""},
	{"ralph-loop@", "ralph-wiggum", ".claude/ralph-loop.local.md", ""},
	{plugin, "ralph-wiggum", "", ""},
	{"double-shot-latte@", "double-shot-latte", ".", ""},
	{"oh-my-claudecode@", "", ".omc", ""},
	{"planning-with-files@", "", "task_plan.md", ""},
	{"stop_hook.py", "stravinsky", ".stravinsky/continuation-loop.md", ""},
	{"todo_continuation.py", "todo-reminder", "", ""},
	{"unified-stop-gate.sh", "system3", ".", ""},
}

// rivals returns the plugins and hooks in settings that answer the same events as installed hooks of ralph. Of the settings of a host the
// first that names a plugin count.
func (p Project) rivals(files []SettingsFile, hooks []Status) (all []Status) {
	seen := map[string]bool{}
	for _, f := range files {
		in := f.Host.Peek(f.Bytes)
		words := strings.FieldsFunc(string(in.Hooks), func(c rune) bool { return strings.ContainsRune(`/\"' `, c) })
		for plugin, on := range in.EnabledPlugins {
			if on && !seen[plugin] {
				words = append(words, plugin)
			}
			seen[plugin] = true
		}
		for _, r := range rivals {
			name := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, r.name) })
			own := slices.IndexFunc(hooks, func(s Status) bool {
				return s.Host == f.Host.Name && s.Policy == r.policy && (s.again != "" || r.name != plugin)
			})
			beside := r.state != "" && exists(filepath.Join(p.Root, r.state)) && slices.ContainsFunc(hooks, func(s Status) bool { return s.Host == f.Host.Name })
			if name < 0 || own < 0 && !beside || p.switchedOff(r.off) {
				continue
			}
			fix := "take it out of " + f.Path
			switch {
			case r.off != "" && own >= 0:
				fix = fmt.Sprintf("write enabled: false in the front matter of %s, and run %s --set follow=false", r.off, hooks[own].again)
			case r.off != "":
				fix = "write enabled: false in the front matter of " + r.off
			case strings.Contains(words[name], "@"):
				fix = fmt.Sprintf("claude plugin disable %s --scope %s", words[name], f.Scope)
			}
			all = append(all, Status{Policy: words[name], State: Beside, Host: f.Host.Name, Settings: f.Path,
				Problems: []Problem{{"it answers the same events as an installed hook", fix}}})
		}
	}
	return all
}

// switchedOff reports whether a file switches off the hook of its plugin.
func (p Project) switchedOff(file string) bool {
	b, err := state.ReadRegular(filepath.Join(p.Root, filepath.FromSlash(file)))
	return err == nil && regexp.MustCompile(`(?m)^enabled:\s*["']?false["']?\s*$`).Match(b)
}
