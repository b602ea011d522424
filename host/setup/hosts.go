// Package setup reads and writes the settings in which hosts run ralph as a hook: their files, their entries, the
// confirmations that a host needs from its user, and plugins that answer the same events. It may change in any version.
//
// It leaves out printing and the choice of policies. Only [File.Replace] writes. Start with [Env.Host] or [Env.Read].
package setup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/hookfile"
	"github.com/ralph-sdk/ralph/internal/nearest"
	"github.com/ralph-sdk/ralph/internal/shellwords"
)

// The scopes of a host's settings.
const (
	ScopeProject = hookfile.Project
	ScopeLocal   = hookfile.Local
	ScopeUser    = hookfile.User
	ScopeManaged = hookfile.Managed
)

// An Env is a user in a project, for whom settings are read and written.
type Env struct {
	Project  string              // directory, without links
	Home     string              // "" if unknown
	Getenv   func(string) string // nil is an empty environment
	Deadline time.Duration       // ralph's, if an entry has none
}

func (in Env) getenv(name string) string {
	if in.Getenv == nil {
		return ""
	}
	return in.Getenv(name)
}

// A Host is a host into which ralph can be installed, for the user and the project of an [Env].
type Host struct {
	*host.Host
	// Files has the settings file of each scope, relative to the project, or absolute for the user's own.
	Files map[string]string

	env Env
}

// Hosts returns the hosts that ralph can be installed in.
func (in Env) Hosts() (all []Host) {
	for _, name := range host.Names() {
		h, _ := host.Lookup(name)
		s := h.Settings
		if s.Program == "" {
			continue
		}
		files := map[string]string{ScopeProject: s.Project, ScopeLocal: s.Local, ScopeUser: in.path(hookfile.Path{Name: s.User}, in.dir(h))}
		if s.Managed != nil {
			files[ScopeManaged] = s.Managed(runtime.GOOS)
		}
		all = append(all, Host{h, files, in})
	}
	return all
}

// dir returns the directory of a host's own files, "" if unknown.
func (in Env) dir(h *host.Host) string {
	return in.path(h.Settings.Dir, in.Home)
}

// path returns a file of the user: at the path in a variable, or in dir.
func (in Env) path(p hookfile.Path, dir string) string {
	return p.In(in.getenv, dir)
}

// Host returns the host of that name.
func (in Env) Host(name string) (Host, error) {
	all := in.Hosts()
	if i := slices.IndexFunc(all, func(g Host) bool { return g.Name == name }); i >= 0 {
		return all[i], nil
	}
	if meant := nearest.OrBeginning(name, Names()); meant != "" {
		return Host{}, fmt.Errorf("unknown host %q; %s", name, meant)
	}
	return Host{}, fmt.Errorf("unknown host %q: ralph can edit the settings of %s; "+
		"for another host, set its Stop hook to `ralph eval --policy NAME`", name, strings.Join(Names(), ", "))
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

// Present returns the hosts that the user has: those that were used, otherwise those whose program is found.
func (in Env) Present() []Host {
	used := slices.DeleteFunc(in.Hosts(), func(g Host) bool { return !g.used() })
	if len(used) > 0 {
		return used
	}
	return slices.DeleteFunc(in.Hosts(), func(g Host) bool {
		_, err := exec.LookPath(g.Settings.Program)
		return err != nil
	})
}

// used reports whether the directory of the host's own files exists, or its settings in the project.
func (g Host) used() bool {
	var dirs []string
	if file := g.Files[ScopeProject]; file != "" {
		dirs = append(dirs, filepath.Join(g.env.Project, filepath.Dir(file)))
	}
	if g.Settings.Dir.Name != "" {
		dirs = append(dirs, g.env.dir(g.Host))
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		info, err := os.Stat(dir)
		return err == nil && info.IsDir()
	})
}

// Events returns the host's names of events, and the events that it lacks.
func (g Host) Events(events []string) (names, missing []string) {
	for _, event := range events {
		switch name := g.EventName(event); {
		case name == "":
			missing = append(missing, event)
		case !slices.Contains(names, name):
			names = append(names, name)
		}
	}
	return names, missing
}

// command returns the command of an entry that runs ralph with words and the user's additions: a line for a shell, or a
// program and a list of arguments.
//
// For a POSIX shell the line begins with the guard, unless the user wants status 2. On Windows, where hosts use
// different shells, it is plain enough for all of them. listed says whether a list may be used if no such line is
// possible.
func (g Host) command(goos string, words []string, added []shellwords.Word, listed bool) (line string, args []string) {
	if goos == "windows" && g.Settings.List {
		// Git Bash treats a backslash as a quote; all shells accept slashes in the path of a program.
		words = append([]string{strings.ReplaceAll(words[0], `\`, "/")}, words[1:]...)
		if listed && slices.ContainsFunc(words, func(word string) bool { return !shellwords.Plain(word, false) }) {
			for _, word := range added {
				words = append(words, word.Text)
			}
			return words[0], words[1:]
		}
	}
	raw := []string{shellwords.Program(goos, words[0])}
	for _, word := range words[1:] {
		raw = append(raw, shellwords.Quote(goos, word))
	}
	for _, word := range added {
		raw = append(raw, word.Raw)
	}
	line = strings.Join(raw, " ")
	if goos != "windows" && !answersByStatus(flagsOf(texts(added))) {
		line = guard + line
	}
	return line, nil
}
