package project

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/home"
	"github.com/ralph-sdk/ralph/internal/shellwords"
)

// Installed is a hook in the settings of a host that evaluates a policy.
type Installed struct {
	Host  string `json:"host"`
	File  string `json:"file"` // of the settings, as users know it
	Scope string `json:"scope"`
	Cap   int    `json:"cap,omitempty"` // continuations of a prompt after which the host itself ends, 0 for no limit or one that calls of tools lift
}

// UnreadHook is a hook, or a file with hooks, that ralph cannot read.
type UnreadHook struct {
	File string `json:"file"`
	What string `json:"what"`
}

// InstalledHook is an installed hook with one of the policies that it evaluates at stops.
type InstalledHook struct {
	Installed
	Policy string   // as the hook names it
	Set    []string // values of params, as name=value
	User   bool     // as in [Hook]
}

// installed is what the settings of hosts say about a project.
type installed struct {
	hooks  []InstalledHook
	unread []UnreadHook
	off    []string // why hooks do not run, with the host
}

// installed reads the settings of all hosts. It starts no program.
func (p *Project) installed(ctx context.Context) (all installed) {
	env := setup.Env{Project: p.dir, Home: home.Dir(p.env), Getenv: p.env}
	settings := env.Read(ctx)
	for _, bad := range settings.Unread {
		all.unread = append(all.unread, UnreadHook{bad.Where, bad.What})
	}
	off := map[string]bool{}
	for _, in := range settings.Settings {
		for _, why := range in.Disabled() {
			off[in.Host.Name] = true
			all.off = append(all.off, in.File.Shown+": "+why.What)
		}
	}
	add := func(one InstalledHook) {
		if !off[one.Host] && !slices.ContainsFunc(all.hooks, func(o InstalledHook) bool {
			return o.Installed == one.Installed && o.Policy == one.Policy && slices.Equal(o.Set, one.Set)
		}) {
			all.hooks = append(all.hooks, one)
		}
	}
	for _, in := range settings.Settings {
		for _, e := range in.Entries {
			policies, ours := e.Ralph()
			switch event := host.EventOf(e.Event); {
			case !ours && runsRalph(e.Text):
				all.unread = append(all.unread, UnreadHook{in.File.Shown, "its hook at " + e.Event + " runs ralph in a way that ralph cannot read: " + cut(oneLine(e.Text), 80)})
			case !ours, !Decides(event), !e.Here():
				continue
			}
			for _, name := range policies {
				add(InstalledHook{Installed{in.Host.Name, in.File.Shown, in.Scope, settings.Cap(in.Host.Host).Hard()}, name, e.Set(), e.ForAll()})
			}
		}
	}
	plugins := settings.Plugins()
	for _, g := range env.Hosts() {
		if file := plugins[g.Name]; file != "" {
			for _, name := range setup.PluginPolicies() {
				add(InstalledHook{Installed{g.Name, file, setup.ScopeUser, settings.Cap(g.Host).Hard()}, name, nil, true})
			}
		}
	}
	return all
}

// InstalledHooks returns the hooks that evaluate policies in the project. A policy that a hook for all projects names and
// that is missing here is left out.
func (p *Project) InstalledHooks(ctx context.Context) []InstalledHook {
	return slices.DeleteFunc(p.installed(ctx).hooks, func(one InstalledHook) bool { return one.User && p.Lacks(one.Policy) })
}

// NextStop returns the next stop of a session, or of the one that ralph last heard of from a host, as far as it is known.
func (p *Project) NextStop(hostName, session string) host.Event {
	ev := host.Event{Host: hostName, Name: host.Stop, SessionID: session, Cwd: p.dir, LoopCount: -1}
	h, _ := p.history() // of an unreadable log no session is known
	for _, d := range h.latest {
		if d.Run == "" && d.Agent == "" && (d.Host == hostName || d.Host == "") && (session == "" || d.Session == session) {
			ev.SessionID, ev.TranscriptPath = d.Session, d.SessionFile
			break
		}
	}
	return ev
}

// runsRalph reports whether a command line starts ralph eval somewhere in it.
func runsRalph(line string) bool {
	words := shellwords.Split(line)
	return slices.ContainsFunc(words, func(w shellwords.Word) bool { return w.Text == "eval" }) && strings.Contains(line, "ralph")
}

// noHook returns why no hook evaluates a policy.
func (all installed) noHook(policy Policy) string {
	if len(all.off) > 0 {
		return "no hook runs: " + strings.Join(all.off, "; ")
	}
	flag := ""
	if short := policy.Short(); short != "policy" {
		flag = " --policy " + shellwords.Line([]string{short})
	}
	return fmt.Sprintf("no installed hook evaluates it; run `ralph install %s%s` to install one", setup.Names()[0], flag)
}
