package run

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/home"
)

// getenv reads the environment of the process. The last value counts.
func (p Process) getenv(name string) string {
	value := ""
	for _, v := range p.Env {
		if n, text, _ := strings.Cut(v, "="); n == name {
			value = text
		}
	}
	return value
}

// configDir is where a client keeps its files, "" if that is not known.
func (p Process) configDir(client string) string {
	h, _ := host.Lookup(client)
	return h.Settings.Dir.In(p.getenv, home.Dir(p.getenv))
}

// file is the session file that parts of a path lead to, "" if it is not there, or if a part is not known. The last part may be a
// pattern.
func (p Process) file(parts ...string) string {
	for _, part := range parts {
		if part == "" {
			return ""
		}
	}
	if !filepath.IsAbs(parts[0]) {
		return ""
	}
	last := len(parts) - 1
	dir := filepath.Join(parts[:last]...)
	names, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	found := ""
	for _, e := range names {
		if ok, _ := filepath.Match(parts[last], e.Name()); ok && e.Type().IsRegular() {
			found = filepath.Join(dir, e.Name()) // names with a time are in its order
		}
	}
	return found
}

// used is how many tokens a session has used, as its file says; 0 if it does not.
func used(path string) int {
	if path == "" {
		return 0
	}
	s, err := host.ReadSession(context.Background(), path, host.SessionOptions{})
	if err != nil {
		return 0
	}
	return s.TotalTokens(context.Background())
}

// id is a session as a part of a file's name, "" if it cannot be one.
func id(session string) string {
	odd := func(r rune) bool { return !plain(r) && r != '-' }
	if len(session) < 8 || len(session) > 64 || strings.ContainsFunc(session, odd) {
		return ""
	}
	return session
}

// slug is a directory as Claude Code and Qwen Code name the folder of its sessions.
func slug(cwd, dir string) string {
	return strings.Map(func(r rune) rune {
		if plain(r) {
			return r
		}
		return '-'
	}, cmp.Or(cwd, dir))
}

// plain reports whether r is a letter or a digit of ASCII.
func plain(r rune) bool { return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }
