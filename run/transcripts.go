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

// getenv returns a variable of the process. The last value counts.
func (p Process) getenv(name string) string {
	value := ""
	for _, v := range p.Env {
		if n, text, _ := strings.Cut(v, "="); n == name {
			value = text
		}
	}
	return value
}

// configDir returns the directory of a client's files, "" if unknown.
func (p Process) configDir(client string) string {
	h, _ := host.Lookup(client)
	return h.Settings.Dir.In(p.getenv, home.Dir(p.getenv))
}

// file returns the session file at the joined parts, or "" if it does not exist or if a part is unknown. The last part
// may be a pattern.
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
			found = filepath.Join(dir, e.Name()) // names begin with a time, so the last is the latest
		}
	}
	return found
}

// used returns how many tokens a session has used according to its file; 0 if it does not have them.
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

// id returns a session as a part of a file name, or "" if it cannot be one.
func id(session string) string {
	odd := func(r rune) bool { return !plain(r) && r != '-' }
	if len(session) < 8 || len(session) > 64 || strings.ContainsFunc(session, odd) {
		return ""
	}
	return session
}

// slug returns a client's name for the directory of the sessions in cwd: Claude Code and Qwen Code replace all but
// letters and digits.
func slug(cwd, dir string) string {
	return strings.Map(func(r rune) rune {
		if plain(r) {
			return r
		}
		return '-'
	}, cmp.Or(cwd, dir))
}

// plain reports whether r is an ASCII letter or digit.
func plain(r rune) bool { return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }
