package main

import (
	"path/filepath"

	"github.com/ralph-sdk/ralph/internal/home"
	"github.com/ralph-sdk/ralph/loop/host"
)

// The scopes of a host's settings.
const (
	scopeProject = "project" // for everybody who works on the project
	scopeLocal   = "local"   // for this user in this project
	scopeUser    = "user"    // for this user in all projects
)

// An agent is a host whose settings file ralph can edit.
type agent struct {
	host  string
	title string
	// files gives the settings file of each scope, relative to the project, or
	// absolute for the user's own.
	files map[string]string
	argv  bool // a hook can be a program with a list of arguments, without a shell
	after string
}

// agents lists the hosts that ralph can be installed in. home is the user's home
// directory, "" if there is none.
func agents(home string, getenv func(string) string) []agent {
	own := func(variable, dir, file string) string {
		switch base := getenv(variable); {
		case base != "":
			return filepath.Join(base, file)
		case home != "":
			return filepath.Join(home, dir, file)
		}
		return ""
	}
	return []agent{
		{
			host: host.ClaudeCode, title: "Claude Code", argv: true,
			files: map[string]string{
				scopeProject: ".claude/settings.json",
				scopeLocal:   ".claude/settings.local.json",
				scopeUser:    own("CLAUDE_CONFIG_DIR", ".claude", "settings.json"),
			},
			after: "New sessions use it.",
		},
		{
			host: host.Codex, title: "Codex",
			files: map[string]string{
				scopeProject: ".codex/hooks.json",
				scopeUser:    own("CODEX_HOME", ".codex", "hooks.json"),
			},
			after: "Codex skips it until you approve it: start codex and enter /hooks.",
		},
	}
}

// scopes lists the scopes that a host has.
func (g agent) scopes() []string {
	var names []string
	for _, s := range []string{scopeProject, scopeLocal, scopeUser} {
		if g.files[s] != "" {
			names = append(names, s)
		}
	}
	return names
}

// homeDir is the user's home directory, "" if there is none.
func (a *app) homeDir() string { return home.Dir(a.getenv) }
