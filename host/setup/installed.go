package setup

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/state"
)

// Installed is what the settings of all hosts hold.
type Installed struct {
	Settings []Settings
	Unread   []Unread

	env Env
}

// Settings is one settings file of a host that could be read.
type Settings struct {
	Host    Host
	Scope   string
	File    File
	Entries []Entry // what it has the host run

	values map[string]any
}

// Unread is a settings file that could not be read.
type Unread struct {
	Where string // the file, with the place in it if that is known
	What  string
	Odd   bool // its bytes could be read, but hosts cannot understand them
}

// Read reads the settings of all hosts.
func (in Env) Read(ctx context.Context) *Installed {
	all := &Installed{env: in}
	for _, g := range in.Hosts() {
		for _, scope := range append([]string{ScopeManaged}, g.Scopes()...) {
			if g.Files[scope] == "" {
				continue
			}
			s, err := g.Open(ctx, scope)
			if errors.Is(err, errUsersOwn) {
				continue // it is read for that scope
			}
			if err != nil {
				all.Unread = append(all.Unread, Unread{Where: s.Shown, What: strings.TrimPrefix(err.Error(), s.Shown+": ")})
				continue
			}
			read := Settings{Host: g, Scope: scope, File: s}
			if read.values, err = s.decode(); err == nil {
				read.Entries, err = s.Entries()
			}
			if err != nil {
				bad := &settingsError{file: s.Shown, message: err.Error()}
				errors.As(err, &bad)
				all.Unread = append(all.Unread, Unread{bad.place(), bad.message, true})
				continue
			}
			all.Settings = append(all.Settings, read)
		}
	}
	return all
}

// plugins are the plugins of Claude Code that the file switches on or off.
func (in Settings) plugins() map[string]any {
	plugins, _ := in.values["enabledPlugins"].(map[string]any)
	return plugins
}

// Disabled returns what in the file keeps hosts from running hooks.
func (in Settings) Disabled() (why []Gate) {
	if off, _ := in.values["disableAllHooks"].(bool); off {
		why = append(why, Gate{true, "disableAllHooks is true, so no hook runs", []string{"remove disableAllHooks from the file"}})
	}
	if only, _ := in.values["allowManagedHooksOnly"].(bool); only && in.Scope == ScopeManaged {
		why = append(why, Gate{true, "allowManagedHooksOnly is true, so only hooks of the administrator run", []string{"ask the administrator to add the hook to that file"}})
	}
	return why
}

// Originals returns the plugins that the file switches on and that answer events as ralph does, by name.
func (in Settings) Originals() map[string]Original {
	on := map[string]Original{}
	for name, v := range in.plugins() {
		short, _, _ := strings.Cut(name, "@")
		i := slices.IndexFunc(Originals(), func(o Original) bool { return slices.Contains(o.plugins, short) })
		if enabled, _ := v.(bool); enabled && i >= 0 {
			on[name] = Originals()[i]
		}
	}
	return on
}

// capVariable sets how many consecutive continuations Claude Code allows; 0 is any number.
const capVariable = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"

// BlockCap returns after how many consecutive continuations without a tool call Claude Code lets the agent stop, 0 for none,
// and where that is set.
func (all *Installed) BlockCap() (limit int, where string) {
	text, where := all.env.getenv(capVariable), capVariable
	for _, in := range all.Settings {
		env, _ := in.values["env"].(map[string]any)
		if v, ok := env[capVariable]; ok && in.Host.Name == host.ClaudeCode {
			text, where = fmt.Sprint(v), in.File.Shown
		}
	}
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
		return n, where
	}
	return 8, where
}

// Asking calls f for every entry that asks ralph, with the policies that it names.
func (all *Installed) Asking(f func(in Settings, e Entry, policies []string)) {
	for _, in := range all.Settings {
		for _, e := range in.Entries {
			if policies, ok := e.Ralph(); ok {
				f(in, e, policies)
			}
		}
	}
}

// ForAll reports whether a hook for all projects asks ralph.
func (all *Installed) ForAll() bool {
	is := len(all.Plugins()) > 0
	all.Asking(func(_ Settings, e Entry, _ []string) { is = is || e.ForAll() })
	return is
}

// Plugin is the plugin of ralph's own repository, as Claude Code and Codex name it.
const Plugin = "ralph@ralph"

// PluginPolicies are those that the hooks of the plugin ask, in all projects.
func PluginPolicies() []string { return []string{"ralph-wiggum", workspace.DefaultPolicy} }

// Plugins returns the hosts in which ralph's own plugin is switched on, each with the file that says so.
func (all *Installed) Plugins() map[string]string {
	on := map[string]string{}
	for _, scope := range []string{ScopeUser, ScopeProject, ScopeLocal, ScopeManaged} { // the later one counts
		for _, in := range all.Settings {
			enabled, ok := in.plugins()[Plugin].(bool)
			switch {
			case !ok || in.Scope != scope || in.Host.Name != host.ClaudeCode:
			case enabled:
				on[host.ClaudeCode] = in.File.Shown
			default:
				delete(on, host.ClaudeCode)
			}
		}
	}
	home := all.env.Home
	if file := orPath("", orPath(all.env.getenv("CODEX_HOME"), home, ".codex"), "config.toml"); codexPluginOn(readUserFile(file)) {
		on[host.Codex] = file
	}
	if file := orPath("", home, ".gemini", "extensions", "ralph", "gemini-extension.json"); readUserFile(file) != "" {
		on[host.Gemini] = file
	}
	return on
}

// RemovePlugin returns the command that removes ralph's own plugin from a host.
func RemovePlugin(name string) string {
	return map[string]string{
		host.ClaudeCode: "claude plugin uninstall " + Plugin, host.Codex: "codex plugin remove " + Plugin, host.Gemini: "gemini extensions uninstall ralph",
	}[name]
}

// codexPluginOn reports whether Codex's configuration has the plugin switched on, in the form
// in which Codex writes it.
func codexPluginOn(src string) bool {
	inside, on := false, false
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "["):
			inside = line == `[plugins."`+Plugin+`"]`
			on = on || inside
		case inside && strings.TrimSpace(key) == "enabled" && strings.TrimSpace(value) == "false":
			return false
		}
	}
	return on
}

// readUserFile reads a file of the user's own, which may be a link; "" if there is none, or one that is too large.
func readUserFile(name string) string {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return ""
	}
	src, _ := fs.ReadFile(state.Files(filepath.Dir(name)), filepath.Base(name))
	return string(src)
}

// Started returns what clients run by themselves in a project, by name and content: their settings there start hooks and
// servers. The settings of all clients count, since an agent may be a script that starts one.
func Started(project string) (known []string) {
	patterns := []string{".mcp.json", ".codex/config.toml", ".github/hooks/*.json", ".agents/plugins/*/hooks/*.json"}
	for _, g := range (Env{}).Hosts() {
		patterns = append(patterns, g.Files[ScopeProject], g.Files[ScopeLocal])
	}
	for _, pattern := range patterns {
		names, _ := fs.Glob(os.DirFS(project), pattern)
		for _, name := range names {
			known = append(known, name, readUserFile(filepath.Join(project, filepath.FromSlash(name))))
		}
	}
	return known
}

// Serving returns the entry of Claude Code that serves another host in a scope too: it asks just these policies. The user's
// own entry is for other projects than this one, so none of this project serves for it.
func (all *Installed) Serving(g Host, scope string, policies []string) (Settings, bool) {
	for _, in := range all.Settings {
		if in.Host.Name == host.ClaudeCode && slices.Contains(g.Reads, in.Scope) && (scope != ScopeUser || in.Scope == ScopeUser) && Asks(in.Entries, policies) {
			return in, true
		}
	}
	return Settings{}, false
}

// Readers returns the settings of other hosts that read a scope of Claude Code's too and have an entry for just these policies.
func (all *Installed) Readers(scope string, policies []string) (readers []Settings) {
	for _, in := range all.Settings {
		if slices.Contains(in.Host.Reads, scope) && Asks(in.Entries, policies) {
			readers = append(readers, in)
		}
	}
	return readers
}

// Of returns the settings of a host that ralph can be installed in.
func (all *Installed) Of(g Host) (of []Settings) {
	for _, in := range all.Settings {
		if in.Host.Name == g.Name && in.Scope != ScopeManaged {
			of = append(of, in)
		}
	}
	return of
}

// Asks reports whether some entry asks ralph for just these policies.
func Asks(entries []Entry, policies []string) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool { return e.Asks(policies) })
}
