package main

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/home"
	"github.com/ralph-sdk/ralph/loop/host"
)

// The scopes of a host's settings.
const (
	scopeProject = "project" // for everybody who works on the project
	scopeLocal   = "local"   // for this user in this project
	scopeUser    = "user"    // for this user in all projects
	scopeManaged = "managed" // of an administrator; ralph only reads it
)

// An agent is a host whose settings file ralph can edit.
type agent struct {
	host  string
	title string
	// files gives the settings file of each scope, relative to the project, or
	// absolute for the user's own.
	files map[string]string
	list  bool // a hook can be a program with a list of arguments, without a shell
	after string
}

// command gives what an entry says so that the host runs ralph with words, and with
// what a user added: a line for a shell, or a program and a list of arguments.
//
// A POSIX shell has the line behind the guard, unless the user wants status 2. On
// Windows, where hosts use different shells, the line is as plain as all of
// them read it. listed is whether the list may be used if there is no such line.
func (g agent) command(goos string, words []string, added []shellWord, listed bool) (line string, args []string) {
	if goos == "windows" && g.list {
		// Git Bash takes a backslash for a quote; all shells take a slash in the path of a program.
		words = append([]string{strings.ReplaceAll(words[0], `\`, "/")}, words[1:]...)
		if listed && slices.ContainsFunc(words, func(word string) bool { return !plain(word, false) }) {
			for _, word := range added {
				words = append(words, word.text)
			}
			return words[0], words[1:]
		}
	}
	var raw []string
	for _, word := range words {
		raw = append(raw, shellQuote(goos, word))
	}
	for _, word := range added {
		raw = append(raw, word.raw)
	}
	line = strings.Join(raw, " ")
	if goos != "windows" && !answersByStatus(added) {
		line = guard + line
	}
	return line, nil
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
			host: host.ClaudeCode, title: "Claude Code", list: true,
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
