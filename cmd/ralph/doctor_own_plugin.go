package main

import (
	"context"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/state"
)

// ownPlugin is the plugin of ralph's own repository, as Claude Code and Codex name it.
const ownPlugin = "ralph@ralph"

// ownPluginPolicies are those that the hooks of the plugin ask, in all projects.
func ownPluginPolicies() []string { return []string{"ralph-wiggum", defaultPolicy} }

// ownPlugins gives the hosts in which ralph's own plugin is switched on, each with the file that says so.
func (x *examination) ownPlugins() map[string]string {
	on := map[string]string{}
	for _, scope := range []string{scopeUser, scopeProject, scopeLocal, scopeManaged} { // the later one counts
		for _, in := range x.settings {
			plugins, _ := in.values["enabledPlugins"].(map[string]any)
			enabled, ok := plugins[ownPlugin].(bool)
			switch {
			case !ok || in.scope != scope || in.agent.host != host.ClaudeCode:
			case enabled:
				on[host.ClaudeCode] = in.file.shown
			default:
				delete(on, host.ClaudeCode)
			}
		}
	}
	home := x.app.homeDir()
	if file := orPath("", orPath(x.app.getenv("CODEX_HOME"), home, ".codex"), "config.toml"); codexPluginOn(readUserFile(file)) {
		on[host.Codex] = file
	}
	if file := orPath("", home, ".gemini", "extensions", "ralph", "gemini-extension.json"); readUserFile(file) != "" {
		on[host.Gemini] = file
	}
	return on
}

// besideOwnPlugin refuses an entry for a policy that ralph's own plugin asks already.
func (a *app) besideOwnPlugin(ctx context.Context, g agent, project string, policies []string) error {
	x, done := a.settingsOf(ctx, project)
	defer done()
	where, on := x.ownPlugins()[g.host]
	for _, p := range ownPluginPolicies() {
		if on && slices.Contains(orDefault(policies), p) {
			remove := map[string]string{
				host.ClaudeCode: "claude plugin uninstall " + ownPlugin, host.Codex: "codex plugin remove " + ownPlugin, host.Gemini: "gemini extensions uninstall ralph",
			}[g.host]
			approve := ""
			if p == defaultPolicy {
				approve = "\nThe plugin needs your approval of the policy: ralph trust " + p
			}
			return fmt.Errorf("the plugin %s, switched on in %s, already asks %s; an entry beside it would count each stop twice.%s\nTo use an entry, first run: %s",
				ownPlugin, where, p, approve, remove)
		}
	}
	return nil
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

// codexPluginOn reports whether Codex's configuration has the plugin switched on, in the form
// in which Codex writes it.
func codexPluginOn(src string) bool {
	inside, on := false, false
	for line := range strings.Lines(src) {
		line = strings.TrimSpace(line)
		key, value, _ := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "["):
			inside = line == `[plugins."`+ownPlugin+`"]`
			on = on || inside
		case inside && strings.TrimSpace(key) == "enabled" && strings.TrimSpace(value) == "false":
			return false
		}
	}
	return on
}

// checkOwnPlugin sees what the hooks of ralph's own plugin need.
func (x *examination) checkOwnPlugin(ctx context.Context) {
	for _, name := range []string{host.ClaudeCode, host.Codex, host.Gemini} {
		where, on := x.ownPlugins()[name]
		if !on {
			continue
		}
		if _, err := exec.LookPath("ralph"); err != nil {
			x.problem("program", where, "the plugin "+ownPlugin+" runs ralph by its name, but there is none on the PATH", "put ralph into a folder of the PATH")
		}
		for _, p := range ownPluginPolicies() {
			if lacks(x.root.Dir(), p) {
				continue
			}
			x.examine(ctx, examined{name: p, host: name, scope: scopeUser, entry: ownPluginPolicies(), forAll: true}, where)
		}
	}
}
