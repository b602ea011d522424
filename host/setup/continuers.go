package setup

import (
	"maps"
	"slices"

	"github.com/ralph-sdk/ralph/host"
)

// A Continuer is something else in settings that can continue an agent.
type Continuer struct {
	Where string // the settings file
	What  string // the command of a hook, or a plugin
}

// Continuers returns what can continue an agent beside ralph: other hooks at a stop, and plugins that answer
// stops. A goal of the host's own is in no file that ralph reads: see [Installed.Goals].
func (all *Installed) Continuers() (found []Continuer) {
	for _, in := range all.Settings {
		for _, e := range in.Entries {
			if _, ours := e.Ralph(); !ours && host.EventOf(e.Event) == host.Stop {
				found = append(found, Continuer{in.File.Shown, e.Text})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(all.Originals(in))) {
			found = append(found, Continuer{in.File.Shown, "the plugin " + name})
		}
	}
	return found
}

// Goals returns the hosts that run ralph and have a goal of their own.
func (all *Installed) Goals() (hosts []Host) {
	all.Asking(func(in Settings, _ Entry, _ []string) {
		if in.Host.Settings.Goal != "" && !slices.ContainsFunc(hosts, func(h Host) bool { return h.Name == in.Host.Name }) {
			hosts = append(hosts, in.Host)
		}
	})
	return hosts
}
