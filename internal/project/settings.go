package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/git"
	"github.com/ralph-sdk/ralph/state"
)

// The scopes of a host's settings.
const (
	ScopeProject = "project" // all who work on the project
	ScopeLocal   = "local"   // one person in the project
	ScopeUser    = "user"    // one person in all projects
)

// SettingsFile is a file with settings of a host.
type SettingsFile struct {
	Host  *host.Host
	Scope string
	Path  string
	Bytes []byte // as it is; nil: there is none

	project Project
	plugged bool // they enable ralph's plugin
}

// plugin is ralph's plugin for Claude Code, below packaging. Its hook is not in the settings: it is asEntry.
const plugin = "ralph@ralph"

var asEntry = host.Entry{Host: host.ClaudeCode, Program: "ralph", Policies: []string{"ralph-wiggum"}, OnlyApproved: true}

// Settings reads the settings of a host in a scope.
func (p Project) Settings(h *host.Host, scope string, getenv func(string) string) (SettingsFile, error) {
	names := map[string]string{ScopeProject: h.Settings.Project, ScopeLocal: h.Settings.Local, ScopeUser: h.Settings.User}
	f := SettingsFile{Host: h, Scope: scope, Path: h.UserFile(getenv), project: p}
	name, ok := names[scope]
	switch {
	case !ok:
		return f, fmt.Errorf("there is no scope %q: write project, local or user", scope)
	case !h.Installable():
		return f, fmt.Errorf("ralph knows no settings of %s: set its hook to ralph eval --host %s", h.Title, h.Name)
	case name == "":
		maps.DeleteFunc(names, func(_, name string) bool { return name == "" })
		return f, fmt.Errorf("%s has no settings of the scope %s: write --scope with %s", h.Title, scope, strings.Join(slices.Sorted(maps.Keys(names)), " or "))
	case scope != ScopeUser:
		f.Path = filepath.Join(p.Root, filepath.FromSlash(name))
	case f.Path == "":
		return f, fmt.Errorf("there is no home directory, so the settings of %s are not known: set HOME", h.Title)
	}
	var err error
	if f.Bytes, err = state.ReadRegular(f.Path); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return f, err
}

// AllSettings reads the settings of every host that has some, in all scopes. Files that cannot be read are left out.
func (p Project) AllSettings(getenv func(string) string) (files []SettingsFile) {
	known := false // the first settings that name the plugin count
	for _, name := range host.Names() {
		h, _ := host.Lookup(name)
		for _, scope := range []string{ScopeLocal, ScopeProject, ScopeUser} {
			if f, err := p.Settings(h, scope, getenv); err == nil && f.Bytes != nil {
				if on, ok := h.Peek(f.Bytes).EnabledPlugins[plugin]; ok && !known {
					f.plugged, known = on, true
				}
				files = append(files, f)
			}
		}
	}
	return files
}

// Entries returns the entries of a settings file that ask ralph in this project.
func (p Project) Entries(f SettingsFile) ([]host.Entry, error) {
	all, err := host.Installed(f.Host.Name, f.Bytes)
	var entries []host.Entry
	for _, e := range all {
		if e.Project == "" || p.Is(e.Project) {
			entries = append(entries, e)
		}
	}
	return entries, err
}

// Hooks returns the entries of a settings file, and that of a plugin which it enables.
func (p Project) Hooks(f SettingsFile) ([]host.Entry, error) {
	entries, err := p.Entries(f)
	if f.plugged {
		entries = append(entries, asEntry)
	}
	return entries, err
}

// Write replaces a settings file as a whole; nil removes it. What the host needs beside entries is written too, and removed with the last
// one, unless a person changed it. A link stays one: its target is replaced, which is in the project unless the scope is user.
func (f SettingsFile) Write(b []byte) error {
	entries, _ := host.Installed(f.Host.Name, b) // b is what Install or Uninstall returned
	for _, beside := range f.Host.Settings.Beside {
		if err := writeBeside(filepath.Join(filepath.Dir(f.Path), filepath.FromSlash(beside.Name)), beside.Text, len(entries) > 0); err != nil {
			return err
		}
	}
	path := f.Path
	if to := withoutLinks(git.Looks{}, path); f.Scope != ScopeUser && !state.Contains(f.project.Root, to) {
		return fmt.Errorf("a link leads out of the project, to %s: a repository may have brought it", to)
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	if b == nil {
		return os.Remove(path)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	t, err := os.CreateTemp(filepath.Dir(path), ".ralph-*")
	if err != nil {
		return err
	}
	defer os.Remove(t.Name())
	_, err = t.Write(b)
	err = errors.Join(err, t.Chmod(mode), t.Sync(), t.Close())
	if err == nil {
		err = os.Rename(t.Name(), path)
	}
	if err == nil && f.Scope == ScopeLocal {
		err = git.Exclude(f.Path) // an agent that adds all files would commit it
	}
	return err
}

// writeBeside writes a file that is not there, or removes it.
func writeBeside(path, text string, wanted bool) error {
	b, err := state.ReadRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && wanted:
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return write(filepath.Dir(path), filepath.Base(path), []byte(text), false)
	case errors.Is(err, fs.ErrNotExist), err == nil && (wanted || string(b) != text):
		return nil
	case err != nil:
		return err
	}
	return os.Remove(path)
}

// Program is how an entry names ralph: by its name where others get the settings, which are those of the project and what git tracks, else by
// its full path, since a host that is started from a desktop has another PATH.
func (f SettingsFile) Program(ctx context.Context) (string, error) {
	if f.Scope == ScopeProject || git.Tracked(ctx, f.Path) {
		return "ralph", nil
	}
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(exe)
}
