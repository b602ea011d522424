// Package setup, which may change in any version, reads and writes the settings in which hosts run ralph as a hook: where they
// are, what an entry says, what a host asks its user for before it runs one, and which plugins answer the same events.
//
// Start with [Env.Host] or [Env.Read]. Nothing is written but by [File.Replace].
package setup

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/shellwords"
)

// The scopes of a host's settings.
const (
	ScopeProject = "project" // for everybody who works on the project
	ScopeLocal   = "local"   // for this user in this project
	ScopeUser    = "user"    // for this user in all projects
	ScopeManaged = "managed" // of an administrator; ralph only reads it
)

// An Env is for whom settings are read and written: a user in a project.
type Env struct {
	Project  string              // directory, without links
	Home     string              // "" if there is none
	Getenv   func(string) string // nil is an empty environment
	Deadline time.Duration       // of ralph, where an entry states none
}

func (in Env) getenv(name string) string {
	if in.Getenv == nil {
		return ""
	}
	return in.Getenv(name)
}

// A Host is a host that ralph can be installed in, for the user and the project of an [Env].
type Host struct {
	Name  string
	Title string
	// Files are the settings file of each scope, relative to the project, or absolute for the user's own.
	Files map[string]string
	// Reads lists the scopes of Claude Code's settings in which the host runs hooks too.
	Reads      []string
	ReadsWhere string // a setting of the host that this needs, in words
	After      string // which sessions use a new entry, if not all new ones
	Here       bool   // it reads the project's settings only where it is started, not in a subdirectory

	env    Env
	form   form
	list   bool              // a hook can be a program with a list of arguments, without a shell
	beside map[string]string // further files that the host needs, by their path from the settings file
	// events are the host's names of events, "" for one that it does not have. The others have their own names.
	events map[string]string
	gates  func(ctx context.Context, q gateQuery) []Gate // see [Host.Gates]
}

// A form is how a host's settings hold its hooks.
type form struct {
	flat    bool   // the list of an event holds the hooks themselves, not groups of hooks
	version int    // that a new file states, 0 for none
	command string // the key of a line for a shell, "command" if empty
	timeout string // the key of the time, "timeout" if empty, "-" if there is none
	unit    int    // of the time, in a second; 0 is 1
	loop    bool   // at a stop, the entry lifts the host's own limit by "loop_limit": null

	comments bool // the host takes comments in its settings
}

// Hosts returns the hosts that ralph can be installed in.
func (in Env) Hosts() []Host {
	own := func(variable, dir, file string) string {
		return orPath("", orPath(in.getenv(variable), in.Home, dir), file)
	}
	all := []Host{
		{
			Name: host.ClaudeCode, Title: "Claude Code", list: true, Here: true,
			Files: map[string]string{
				ScopeProject: ".claude/settings.json",
				ScopeLocal:   ".claude/settings.local.json",
				ScopeUser:    own("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
				ScopeManaged: managedSettings(runtime.GOOS),
			},
		},
		{
			Name: host.Codex, Title: "Codex",
			Files: map[string]string{
				ScopeProject: ".codex/hooks.json",
				ScopeUser:    own("CODEX_HOME", ".codex", "hooks.json"),
			},
			gates: codexGates,
		},
		{
			Name: host.Gemini, Title: "Gemini CLI", Here: true,
			Files: map[string]string{
				ScopeProject: ".gemini/settings.json",
				ScopeUser:    own("", ".gemini", "settings.json"),
			},
			form: form{unit: 1000, comments: true},
			events: map[string]string{
				host.Stop: "AfterAgent", host.UserPromptSubmit: "BeforeAgent", host.PreCompact: "PreCompress",
				host.SubagentStop: "", host.StopFailure: "",
			},
			gates: geminiGates,
		},
		{
			Name: host.Qwen, Title: "Qwen Code", Here: true,
			Files: map[string]string{
				ScopeProject: ".qwen/settings.json",
				ScopeUser:    own("QWEN_HOME", ".qwen", "settings.json"),
			},
			form:  form{comments: true},
			gates: qwenGates,
		},
		{
			Name: host.Copilot, Title: "Copilot CLI",
			Files: map[string]string{
				ScopeProject: ".github/hooks/ralph.json",
				ScopeUser:    own("COPILOT_HOME", ".copilot", "hooks/ralph.json"),
			},
			form:   form{flat: true, version: 1, command: copilotShell(runtime.GOOS), timeout: "timeoutSec"},
			events: map[string]string{host.StopFailure: ""},
			Reads:  []string{ScopeProject, ScopeLocal},
			gates:  copilotGates,
		},
		{
			Name: host.Cursor, Title: "Cursor",
			Files: map[string]string{
				ScopeProject: ".cursor/hooks.json",
				ScopeUser:    own("", ".cursor", "hooks.json"),
			},
			form: form{flat: true, version: 1, timeout: "-", loop: true},
			events: map[string]string{
				host.Stop: "stop", host.StopFailure: "stop", host.SubagentStop: "subagentStop",
				host.UserPromptSubmit: "beforeSubmitPrompt", host.PreCompact: "preCompact", host.SessionEnd: "sessionEnd",
			},
			Reads:      []string{ScopeProject, ScopeLocal, ScopeUser},
			ReadsWhere: "if third-party hooks are on in Cursor's settings",
			After:      "Cursor uses it in trusted workspaces.",
		},
		{
			Name: host.Droid, Title: "Factory Droid",
			Files: map[string]string{
				ScopeProject: ".factory/settings.json",
				ScopeLocal:   ".factory/settings.local.json",
				ScopeUser:    own("", ".factory", "settings.json"),
			},
			events: map[string]string{host.StopFailure: ""},
		},
		{
			Name: host.Goose, Title: "Goose",
			Files: map[string]string{
				ScopeProject: ".agents/plugins/ralph/hooks/hooks.json",
				ScopeUser:    own("", ".agents", "plugins/ralph/hooks/hooks.json"),
			},
			beside: map[string]string{"../plugin.json": goosePlugin},
			events: map[string]string{host.SubagentStop: "", host.StopFailure: "", host.PreCompact: ""},
			After:  "New sessions that are started in the project use it.",
		},
	}
	for i := range all {
		all[i].env = in
	}
	return all
}

// goosePlugin is what makes a directory a plugin.
const goosePlugin = `{
  "name": "ralph",
  "version": "1.0.0",
  "description": "Asks ralph whether the agent may stop."
}
`

// managedSettings is where administrators set what Claude Code does.
func managedSettings(goos string) string {
	switch goos {
	case "darwin":
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		return `C:\Program Files\ClaudeCode\managed-settings.json`
	}
	return "/etc/claude-code/managed-settings.json"
}

// copilotShell is the key of a line for the shell that Copilot has on a system.
func copilotShell(goos string) string {
	if goos == "windows" {
		return "powershell"
	}
	return "bash"
}

// Host returns the host of that name.
func (in Env) Host(name string) (Host, error) {
	all := in.Hosts()
	if i := slices.IndexFunc(all, func(g Host) bool { return g.Name == name }); i >= 0 {
		return all[i], nil
	}
	if meant := nearest.OrBeginning(name, Names()); meant != "" {
		return Host{}, fmt.Errorf("ralph knows no host %q; %s", name, meant)
	}
	return Host{}, fmt.Errorf("ralph cannot edit the settings of %q, only those of %s; "+
		"have the stop hook of another host run: ralph eval --policy NAME", name, strings.Join(Names(), ", "))
}

// Names returns the names of the hosts that ralph can be installed in.
func Names() (names []string) {
	for _, g := range (Env{}).Hosts() {
		names = append(names, g.Name)
	}
	return names
}

// Scopes returns the scopes that ralph can be installed in.
func (g Host) Scopes() []string {
	var names []string
	for _, s := range []string{ScopeProject, ScopeLocal, ScopeUser} {
		if g.Files[s] != "" {
			names = append(names, s)
		}
	}
	return names
}

// Events returns the host's names of events, and the events that it does not have.
func (g Host) Events(events []string) (names, missing []string) {
	for _, event := range events {
		name, ok := g.events[event]
		switch {
		case !ok:
			name = event
		case name == "":
			missing = append(missing, event)
			continue
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, missing
}

// Stops reports whether an event of the host is a stop of the agent.
func (g Host) Stops(name string) bool {
	return g.Event(name) == host.Stop
}

// Event returns the event that the host calls by that name, "" if it is none that ralph knows.
func (g Host) Event(name string) string {
	if h, ok := host.Lookup(g.Name); ok {
		if ev, err := h.Decode(fmt.Appendf(nil, `{"hook_event_name": %q}`, name)); err == nil {
			return ev.Name
		}
	}
	return ""
}

// command returns what an entry says so that the host runs ralph with words, and with
// what a user added: a line for a shell, or a program and a list of arguments.
//
// A POSIX shell has the line behind the guard, unless the user wants status 2. On
// Windows, where hosts use different shells, the line is as plain as all of
// them read it. listed is whether the list may be used if there is no such line.
func (g Host) command(goos string, words []string, added []shellwords.Word, listed bool) (line string, args []string) {
	if goos == "windows" && g.list {
		// Git Bash takes a backslash for a quote; all shells take a slash in the path of a program.
		words = append([]string{strings.ReplaceAll(words[0], `\`, "/")}, words[1:]...)
		if listed && slices.ContainsFunc(words, func(word string) bool { return !shellwords.Plain(word, false) }) {
			for _, word := range added {
				words = append(words, word.Text)
			}
			return words[0], words[1:]
		}
	}
	var raw []string
	for _, word := range words {
		raw = append(raw, shellwords.Quote(goos, word))
	}
	for _, word := range added {
		raw = append(raw, word.Raw)
	}
	line = strings.Join(raw, " ")
	if goos != "windows" && !answersByStatus(added) {
		line = guard + line
	}
	return line, nil
}
