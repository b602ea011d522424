// Package gitsafe keeps git from starting programs that a repository names: an agent, or the author of the repository, can
// write its configuration.
//
// Configuration of the environment goes before that of the repository. So git gets there no file system monitor, no hooks,
// no bare repository that lies in a folder, no submodules, and for each filter, merge driver and signing program that the repository defines
// what the user's own configuration says of it, else nothing. Objects that are absent are not fetched.
//
// Start with [Settings], ask git for its configuration by [List], and go on with what [Settings.Disarm] adds.
package gitsafe

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrInside says that the git that PATH finds is a file of the project.
var ErrInside = errors.New("the git that PATH finds lies in the project, so it is not started")

// Program finds git in PATH. One that lies in the project is not started: a repository can bring it, and an agent can change it.
func Program(project string) (string, error) {
	found, err := exec.LookPath("git")
	if err != nil {
		return "", err
	}
	if project, err = filepath.EvalSymlinks(project); err != nil {
		return "", err
	}
	resolved, err := filepath.EvalSymlinks(found)
	if err != nil {
		return "", err
	}
	if rel, err := filepath.Rel(project, resolved); err == nil && filepath.IsLocal(rel) {
		return "", ErrInside
	}
	return found, nil
}

// Settings are names and values of git's configuration.
type Settings [][2]string

// Always are the settings that hold for every repository.
func Always() Settings {
	return Settings{
		{"core.fsmonitor", "false"}, {"core.hooksPath", os.DevNull}, {"safe.bareRepository", "explicit"}, {"submodule.recurse", "false"},
	}
}

// List are the arguments with which git lists its configuration for [Settings.Disarm].
func List() []string { return []string{"config", "--list", "--null", "--show-scope"} }

// ErrOld says that git does not know the variables that [Settings.Env] uses.
var ErrOld = errors.New("this git cannot be kept from running programs of the repository: git 2.31 or later is needed")

// Disarm adds settings against the programs that the repository names, by how git listed its configuration with these
// settings.
func (s Settings) Disarm(listed string) (Settings, error) {
	fields := strings.Split(listed, "\x00") // a scope, a setting, a scope, …
	users, defined := map[string]string{}, map[string]bool{}
	counts := false
	for i := 0; i+1 < len(fields); i += 2 {
		key, value, _ := strings.Cut(fields[i+1], "\n")
		switch scope := fields[i]; {
		case scope == "command":
			counts = true
		case !namesProgram(key):
		case scope == "system" || scope == "global":
			users[key] = value
		default:
			defined[key] = true
		}
	}
	if !counts {
		return s, ErrOld
	}
	for key := range defined {
		value, ok := users[key]
		if !ok {
			value = without(key)
		}
		s = append(s, [2]string{key, value})
	}
	return s, nil
}

// namesProgram reports whether a setting names a program that git starts for what ralph has it do, or says that there must be one.
func namesProgram(key string) bool {
	section, name := key, ""
	if i := strings.LastIndexByte(key, '.'); i >= 0 {
		section, name = key[:strings.IndexByte(key, '.')], key[i+1:]
	}
	switch section {
	case "filter":
		return true
	case "merge":
		return name == "driver"
	case "gpg":
		return name == "program" || name == "defaultkeycommand"
	}
	return false
}

// without is the value of a setting of which the user's configuration says nothing.
func without(key string) string {
	switch {
	case strings.HasSuffix(key, ".required"):
		return "false" // nothing is no filter, and no failure
	case strings.HasPrefix(key, "merge."):
		return "git merge-file --quiet %A %O %B" // as git merges a text without a driver
	}
	return ""
}

// Env gives variables that hand the settings to git, and keep it from asking and from fetching.
func (s Settings) Env() []string {
	env := []string{"LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=none", "GIT_NO_LAZY_FETCH=1", "GIT_CONFIG_COUNT=" + strconv.Itoa(len(s))}
	for i, kv := range s {
		n := strconv.Itoa(i)
		env = append(env, "GIT_CONFIG_KEY_"+n+"="+kv[0], "GIT_CONFIG_VALUE_"+n+"="+kv[1])
	}
	return env
}
