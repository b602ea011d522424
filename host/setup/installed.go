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
	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/internal/hookfile"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/state"
)

// Installed has the settings of all hosts.
type Installed struct {
	Settings []Settings
	Unread   []Unread

	env Env
}

// Settings is one readable settings file of a host.
type Settings struct {
	Host    Host
	Scope   string
	File    File
	Entries []Entry // the commands that it configures

	values map[string]any
}

// Unread is a settings file that could not be read.
type Unread struct {
	Where string // the file, with the position in it if known
	What  string
	Odd   bool // readable, but not in a form that hosts understand
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
				continue // read for that scope
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

// plugins returns the plugins that the file enables or disables.
func (in Settings) plugins() map[string]any {
	plugins, _ := in.values[in.Host.Settings.Plugin.Key].(map[string]any)
	return plugins
}

// Disabled returns the settings in the file that keep hosts from running hooks.
func (in Settings) Disabled() (why []Gate) {
	if off, _ := in.values["disableAllHooks"].(bool); off {
		why = append(why, Gate{true, "disableAllHooks is true, so no hook runs", []string{"remove disableAllHooks from the file"}})
	}
	if only, _ := in.values["allowManagedHooksOnly"].(bool); only && in.Scope == ScopeManaged {
		why = append(why, Gate{true, "allowManagedHooksOnly is true, so only hooks of the administrator run", []string{"ask the administrator to add the hook to that file"}})
	}
	return why
}

// Originals returns the plugins that answer events as ralph does and that the file enables, by name.
func (all *Installed) Originals(in Settings) map[string]Original {
	on := map[string]Original{}
	for name := range in.plugins() {
		short, _, _ := strings.Cut(name, "@")
		i := slices.IndexFunc(Originals(), func(o Original) bool { return slices.Contains(o.plugins, short) })
		if i >= 0 && all.enables(in.Host.Name, name) == in.File.Shown {
			on[name] = Originals()[i]
		}
	}
	return on
}

// enables returns the file that enables a plugin of a host, "" if none does or a file with precedence disables it.
func (all *Installed) enables(host, plugin string) (file string) {
	for _, scope := range []string{ScopeUser, ScopeProject, ScopeLocal, ScopeManaged} { // the last one counts
		for _, in := range all.Settings {
			enabled, ok := in.plugins()[plugin].(bool)
			switch {
			case !ok || in.Scope != scope || in.Host.Name != host:
			case enabled:
				file = in.File.Shown
			default:
				file = ""
			}
		}
	}
	return file
}

// Cap returns the host's own limit, as the user has set it.
func (all *Installed) Cap(h *host.Host) Cap {
	c := Cap{Cap: h.Settings.Cap, host: h}
	if c.Variable == "" {
		return c
	}
	c.Where = c.Variable
	text := all.env.getenv(c.Variable)
	for _, in := range all.Settings {
		env, _ := in.values["env"].(map[string]any)
		if v, ok := env[c.Variable]; ok && in.Host.Name == h.Name {
			text, c.Where = fmt.Sprint(v), in.File.Shown
		}
	}
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
		c.Most = n
	}
	return c
}

// Cap is a host's own limit: it lets the agent stop after so many continuations of a turn, whatever a hook answers.
type Cap struct {
	hookfile.Cap
	Where string // in which the user sets it, "" if nowhere

	host *host.Host
}

// Of returns the smaller one of the cap and the continuations that a policy allows.
func (c Cap) Of(continuations int) int {
	if hard := c.Hard(); hard > 0 {
		return min(hard, continuations)
	}
	return continuations
}

// Hard returns the cap if no call of a tool lifts it, otherwise 0.
func (c Cap) Hard() int {
	if c.PerTool {
		return 0
	}
	return max(c.Most, 0)
}

// Ends reports whether the cap can end a loop before so many continuations.
func (c Cap) Ends(continuations int) bool { return c.Most > 0 && c.Most < continuations }

// String returns the cap as a sentence without a full stop, "" without a cap.
func (c Cap) String() string {
	switch {
	case c.Most <= 0:
		return ""
	case c.PerTool:
		return fmt.Sprintf("%s itself ends after %s without a tool call", c.host.Title, amount.Of(c.Most, "continuation"))
	}
	return fmt.Sprintf("%s itself ends after %s of a prompt", c.host.Title, amount.Of(c.Most, "continuation"))
}

// Fix returns what a user can do if the cap ends loops too early, "" if nothing.
func (c Cap) Fix() string {
	if c.PerTool && c.Variable != "" {
		return fmt.Sprintf(`if that ends loops too early, add {"env": {%q: "0"}} to %s; the limits of the policy stay`, c.Variable, c.host.Settings.Project)
	}
	if c.Most == 1 {
		return fmt.Sprintf("for a longer loop let ralph start it: ralph run -- %s -p", c.host.Settings.Program)
	}
	return ""
}

// Asking calls f for every entry that runs ralph, with the policies that it names.
func (all *Installed) Asking(f func(in Settings, e Entry, policies []string)) {
	for _, in := range all.Settings {
		for _, e := range in.Entries {
			if policies, ok := e.Ralph(); ok {
				f(in, e, policies)
			}
		}
	}
}

// ForAll reports whether a hook for all projects runs ralph.
func (all *Installed) ForAll() bool {
	is := len(all.Plugins()) > 0
	all.Asking(func(_ Settings, e Entry, _ []string) { is = is || e.ForAll() })
	return is
}

// Plugin is the plugin of ralph's own repository, as hosts name it.
const Plugin = "ralph@ralph"

// PluginPolicies returns the policies that the plugin's hooks evaluate, in all projects.
func PluginPolicies() []string { return []string{"ralph-wiggum", workspace.DefaultPolicy} }

// Plugins returns the hosts in which ralph's own plugin is enabled, each with the file that enables it.
func (all *Installed) Plugins() map[string]string {
	on := map[string]string{}
	for _, in := range all.Settings {
		if file := all.enables(in.Host.Name, Plugin); file != "" {
			on[in.Host.Name] = file
		}
	}
	for _, g := range all.env.Hosts() {
		p := g.Settings.Plugin
		if p.File == "" {
			continue
		}
		file := all.env.path(hookfile.Path{Name: p.File}, all.env.dir(g.Host))
		if src := readUserFile(file); src != "" && (p.On == nil || p.On(src)) {
			on[g.Name] = file
		}
	}
	return on
}

// readUserFile reads a file of the user, which may be a link; it returns "" if the file is missing or too large.
func readUserFile(name string) string {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return ""
	}
	src, _ := fs.ReadFile(state.Files(filepath.Dir(name)), filepath.Base(name))
	return string(src)
}

// Starting returns the settings of a project in which clients find hooks and servers to start. It covers all clients,
// since an agent may be a script that starts one.
func Starting(project string) (names []string) {
	patterns := []string{".mcp.json"}
	for _, g := range (Env{}).Hosts() {
		patterns = append(append(patterns, g.Files[ScopeProject], g.Files[ScopeLocal]), g.Settings.Starts...)
	}
	for _, pattern := range patterns {
		found, _ := fs.Glob(os.DirFS(project), pattern)
		names = append(names, found...)
	}
	return names
}

// Serving returns another host's settings with an entry for exactly these policies that also serves this host in a
// scope, because it reads them. The user's own entry must serve other projects, too, so entries in this project do not
// count for it.
func (all *Installed) Serving(g Host, scope string, policies []string) (Settings, bool) {
	for _, in := range all.Settings {
		if g.reads(in.Host, in.Scope) && (scope != ScopeUser || in.Scope == ScopeUser) && Asks(in.Entries, policies) {
			return in, true
		}
	}
	return Settings{}, false
}

// Readers returns the settings of other hosts that also read a host's scope and have an entry for exactly these
// policies.
func (all *Installed) Readers(g Host, scope string, policies []string) (readers []Settings) {
	for _, in := range all.Settings {
		if in.Host.reads(g, scope) && Asks(in.Entries, policies) {
			readers = append(readers, in)
		}
	}
	return readers
}

// reads reports whether the host reads another host's settings of a scope.
func (g Host) reads(other Host, scope string) bool {
	return g.Settings.ReadsOf == other.Name && slices.Contains(g.Settings.Reads, scope)
}

// Of returns the settings of a host.
func (all *Installed) Of(g Host) (of []Settings) {
	for _, in := range all.Settings {
		if in.Host.Name == g.Name && in.Scope != ScopeManaged {
			of = append(of, in)
		}
	}
	return of
}

// Asks reports whether some entry runs ralph for exactly these policies.
func Asks(entries []Entry, policies []string) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool { return e.Asks(policies) })
}
