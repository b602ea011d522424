package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/home"
	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/shellwords"
)

// The scopes of a host's settings.
const (
	scopeProject = "project" // for everybody who works on the project
	scopeLocal   = "local"   // for this user in this project
	scopeUser    = "user"    // for this user in all projects
	scopeManaged = "managed" // of an administrator; ralph only reads it
)

// An agent is a host that ralph can be installed in: a row of the table below, which
// install, uninstall, doctor and the reference read.
type agent struct {
	host  string
	title string
	// files gives the settings file of each scope, relative to the project, or
	// absolute for the user's own.
	files map[string]string
	form  hookForm
	list  bool // a hook can be a program with a list of arguments, without a shell
	own   bool // the files hold ralph's hooks alone, so that uninstall removes them
	// beside are further files that the host needs, by their path from the settings file.
	beside map[string]string
	// events gives the host's name of an event, "" for one that it does not have. The
	// others have their own names.
	events map[string]string
	// reads lists the scopes of Claude Code's settings in which the host runs hooks too.
	reads      []string
	readsWhere string // a setting of the host that this needs, in words
	after      string // which sessions use a new entry, if not all new ones
	here       bool   // it reads the project's settings only where it is started, not in a subfolder
	// gates says what the host still asks for before it runs the hooks of a scope.
	gates func(ctx context.Context, q gateQuery) []gate
}

// A hookForm is how a host's settings hold its hooks.
type hookForm struct {
	flat    bool   // the list of an event holds the hooks themselves, not groups of hooks
	version int    // that a new file states, 0 for none
	command string // the key of a line for a shell, "command" if empty
	timeout string // the key of the time, "timeout" if empty, "-" if there is none
	unit    int    // of the time, in a second; 0 is 1
	loop    bool   // at a stop, the entry lifts the host's own limit by "loop_limit": null

	comments bool // the host takes comments in its settings
}

// agents lists the hosts that ralph can be installed in. home is the user's home
// directory, "" if there is none.
func agents(home string, getenv func(string) string) []agent {
	own := func(variable, dir, file string) string {
		base := ""
		if variable != "" {
			base = getenv(variable)
		}
		return orPath("", orPath(base, home, dir), file)
	}
	return []agent{
		{
			host: host.ClaudeCode, title: "Claude Code", list: true, here: true,
			files: map[string]string{
				scopeProject: ".claude/settings.json",
				scopeLocal:   ".claude/settings.local.json",
				scopeUser:    own("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
				scopeManaged: managedSettings(runtime.GOOS),
			},
		},
		{
			host: host.Codex, title: "Codex",
			files: map[string]string{
				scopeProject: ".codex/hooks.json",
				scopeUser:    own("CODEX_HOME", ".codex", "hooks.json"),
			},
			gates: codexGates,
		},
		{
			host: host.Gemini, title: "Gemini CLI", here: true,
			files: map[string]string{
				scopeProject: ".gemini/settings.json",
				scopeUser:    own("", ".gemini", "settings.json"),
			},
			form: hookForm{unit: 1000, comments: true},
			events: map[string]string{
				host.Stop: "AfterAgent", host.UserPromptSubmit: "BeforeAgent", host.PreCompact: "PreCompress",
				host.SubagentStop: "", host.StopFailure: "",
			},
			gates: geminiGates,
		},
		{
			host: host.Qwen, title: "Qwen Code", here: true,
			files: map[string]string{
				scopeProject: ".qwen/settings.json",
				scopeUser:    own("QWEN_HOME", ".qwen", "settings.json"),
			},
			form:  hookForm{comments: true},
			gates: qwenGates,
		},
		{
			host: host.Copilot, title: "Copilot CLI", own: true,
			files: map[string]string{
				scopeProject: ".github/hooks/ralph.json",
				scopeUser:    own("COPILOT_HOME", ".copilot", "hooks/ralph.json"),
			},
			form:   hookForm{flat: true, version: 1, command: copilotShell(runtime.GOOS), timeout: "timeoutSec"},
			events: map[string]string{host.StopFailure: ""},
			reads:  []string{scopeProject, scopeLocal},
			gates:  copilotGates,
		},
		{
			host: host.Cursor, title: "Cursor",
			files: map[string]string{
				scopeProject: ".cursor/hooks.json",
				scopeUser:    own("", ".cursor", "hooks.json"),
			},
			form: hookForm{flat: true, version: 1, timeout: "-", loop: true},
			events: map[string]string{
				host.Stop: "stop", host.StopFailure: "stop", host.SubagentStop: "subagentStop",
				host.UserPromptSubmit: "beforeSubmitPrompt", host.PreCompact: "preCompact", host.SessionEnd: "sessionEnd",
			},
			reads:      []string{scopeProject, scopeLocal, scopeUser},
			readsWhere: "if third-party hooks are on in Cursor's settings",
			after:      "Cursor uses it in trusted workspaces.",
		},
		{
			host: host.Droid, title: "Factory Droid",
			files: map[string]string{
				scopeProject: ".factory/settings.json",
				scopeLocal:   ".factory/settings.local.json",
				scopeUser:    own("", ".factory", "settings.json"),
			},
			events: map[string]string{host.StopFailure: ""},
		},
		{
			host: host.Goose, title: "Goose", own: true,
			files: map[string]string{
				scopeProject: ".agents/plugins/ralph/hooks/hooks.json",
				scopeUser:    own("", ".agents", "plugins/ralph/hooks/hooks.json"),
			},
			beside: map[string]string{"../plugin.json": goosePlugin},
			events: map[string]string{host.SubagentStop: "", host.StopFailure: "", host.PreCompact: ""},
			after:  "New sessions that are started in the project use it.",
		},
	}
}

// goosePlugin is what makes a folder a plugin.
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

// agentNamed finds a row of the table.
func (a *app) agentNamed(name string) (agent, error) {
	all := agents(a.homeDir(), a.getenv)
	if i := slices.IndexFunc(all, func(g agent) bool { return g.host == name }); i >= 0 {
		return all[i], nil
	}
	if meant := nearest.OrBeginning(name, agentNames(all)); meant != "" {
		return agent{}, fmt.Errorf("ralph knows no host %q; %s", name, meant)
	}
	return agent{}, fmt.Errorf("ralph cannot edit the settings of %q, only those of %s; "+
		"have the stop hook of another host run: ralph eval --policy NAME", name, wordList(agentNames(all), "and"))
}

func agentNames(all []agent) []string {
	var names []string
	for _, g := range all {
		names = append(names, g.host)
	}
	return names
}

// wordList joins words as a sentence does.
func wordList(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	n := len(words) - 1
	return strings.Join(words[:n], ", ") + " " + last + " " + words[n]
}

// scopes lists the scopes that ralph can be installed in.
func (g agent) scopes() []string {
	var names []string
	for _, s := range []string{scopeProject, scopeLocal, scopeUser} {
		if g.files[s] != "" {
			names = append(names, s)
		}
	}
	return names
}

// hostEvents gives the host's names of events, and the events that it does not have.
func (g agent) hostEvents(events []string) (names, absent []string) {
	for _, event := range events {
		name, ok := g.events[event]
		switch {
		case !ok:
			name = event
		case name == "":
			absent = append(absent, event)
			continue
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, absent
}

// stops reports whether an event of the host is a stop of the agent.
func (g agent) stops(name string) bool {
	return g.event(name) == host.Stop
}

// event returns the event that the host calls by that name, "" if it is none that ralph knows.
func (g agent) event(name string) string {
	if h, ok := host.Lookup(g.host); ok {
		if ev, err := h.Decode(fmt.Appendf(nil, `{"hook_event_name": %q}`, name)); err == nil {
			return ev.Name
		}
	}
	return ""
}

// homeDir is the user's home directory, "" if there is none.
func (a *app) homeDir() string { return home.Dir(a.getenv) }

// command gives what an entry says so that the host runs ralph with words, and with
// what a user added: a line for a shell, or a program and a list of arguments.
//
// A POSIX shell has the line behind the guard, unless the user wants status 2. On
// Windows, where hosts use different shells, the line is as plain as all of
// them read it. listed is whether the list may be used if there is no such line.
func (g agent) command(goos string, words []string, added []shellwords.Word, listed bool) (line string, args []string) {
	if goos == "windows" && g.list {
		// Git Bash takes a backslash for a quote; all shells take a slash in the path of a program.
		words = append([]string{strings.ReplaceAll(words[0], `\`, "/")}, words[1:]...)
		if listed && slices.ContainsFunc(words, func(word string) bool { return !plain(word, false) }) {
			for _, word := range added {
				words = append(words, word.Text)
			}
			return words[0], words[1:]
		}
	}
	var raw []string
	for _, word := range words {
		raw = append(raw, shellQuote(goos, word))
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
