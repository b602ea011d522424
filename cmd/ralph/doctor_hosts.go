package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/shellwords"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/project"
)

// checkSwitch checks whether loops are switched off.
func (x *examination) checkSwitch() {
	if why, off := workspace.Off("", x.app.getenv); off {
		x.problem("switched-off", "RALPH_OFF", "all loops are off: "+why, "unset RALPH_OFF in the environment of the agent")
	}
	if x.root.Exists(workspace.OffFile) {
		x.problem("switched-off", workspace.OffFile, "all loops of this project are off", "ralph resume")
	}
	if x.store == nil {
		return
	}
	pauses, err := x.store.Pauses(x.root.Dir())
	if err != nil {
		x.problem("switched-off", "", "whether loops are paused is not known, so all are off: "+err.Error(), "ralph resume")
	}
	for _, p := range pauses {
		x.problem("switched-off", "", pausedWhat(project.Pause(p))+" is paused", "ralph resume "+pausedArgs(project.Pause(p)))
	}
}

// hookTime returns the deadline of installed hooks for a policy: the shortest, 0 if none uses it.
func (a *app) hookTime(ctx context.Context, p *project.Project, policy project.Policy) (shortest time.Duration) {
	a.setupIn(p.Dir()).Read(ctx).Asking(func(_ setup.Settings, e setup.Entry, policies []string) {
		if d := e.Deadline(); hasPolicy(p, policies, policy) && (shortest == 0 || d < shortest) {
			shortest = d
		}
	})
	return shortest
}

// checkSettings checks that hosts run ralph, once, and wait for the answer.
func (x *examination) checkSettings(ctx context.Context) {
	for _, bad := range x.installed.Unread {
		what, fix := bad.What, "make it a readable file"
		if bad.Odd {
			what, fix = what+"; the host ignores the file with all its hooks", "fix the file"
		}
		x.problem("settings", bad.Where, what, fix)
	}
	for _, in := range x.installed.Settings {
		for _, why := range in.Disabled() {
			x.problem("hooks-disabled", in.File.Shown, why.What, why.Fix...)
		}
	}
	any := false
	x.installed.Asking(func(in setup.Settings, e setup.Entry, policies []string) {
		any = true
		if all := in.Scope == setup.ScopeUser || in.Scope == setup.ScopeManaged; all && !e.ForAll() && host.EventOf(e.Event) == host.Stop {
			x.problem("untrusted", in.File.Shown, "the entry is for all projects and lacks --scope user, so what any project brings counts", x.installAgain(in, e))
			x.repairEntry(in, e)
		}
		if deadline := e.Deadline(); e.Timeout != 0 && e.Timeout < min(deadline.Seconds()+2, float64(in.Host.Timeout(e.Event, deadline))) {
			x.problem("timeout", in.File.Shown, fmt.Sprintf("the host waits %g s for ralph, which may take %g s", e.Timeout, deadline.Seconds()),
				fmt.Sprintf("set the timeout of the entry to %d", in.Host.Timeout(e.Event, deadline)))
			x.repairEntry(in, e)
		}
		x.checkGuard(in, e)
	})
	if !any && len(x.installed.Plugins()) == 0 {
		x.problem("no-hook", "", "no agent runs ralph in this project", append(x.missingHook(ctx), "for another host, run `ralph help install`")...)
	}
}

// missingHook returns the commands that add a hook for the policies of the project's loops, or for its own policy, or
// that write a policy if there is none.
func (x *examination) missingHook(ctx context.Context) (fix []string) {
	install := "ralph install " + setup.Names()[0]
	loops, _ := x.project.Loops(ctx) // checkLoops reports the error
	for _, l := range loops {
		if l.Policy != workspace.DefaultPolicy {
			fix = append(fix, install+" --policy "+project.Short(l.Policy))
		}
	}
	switch {
	case !x.project.Lacks(workspace.DefaultPolicy):
		fix = append([]string{install}, fix...)
	case len(fix) == 0:
		fix = append(fix, "ralph init", "or for a policy of ralph policies: "+install+" --policy speckit")
	}
	return fix
}

// repairEntry makes --fix repair the last finding, which is about an entry of ralph: install rewrites the entry and
// removes a second one in the file.
func (x *examination) repairEntry(in setup.Settings, e setup.Entry) {
	if in.Scope == setup.ScopeManaged {
		return
	}
	policies, _ := e.Ralph()
	f := installFlags{policies: policies, scope: in.Scope}
	quiet := *x.app
	quiet.stdout, quiet.project = io.Discard, x.root.Dir()
	x.findings[len(x.findings)-1].repair = func(ctx context.Context) error { return quiet.install(ctx, in.Host.Name, f) }
}

// installAgain returns the command that rewrites an entry.
func (x *examination) installAgain(in setup.Settings, e setup.Entry) string {
	if in.Scope == setup.ScopeManaged {
		return "ask the administrator to change that file"
	}
	policies, _ := e.Ralph()
	fix := "ralph install " + in.Host.Name + policyFlags(policies) + shellSet("", e.Set())
	if in.Scope != setup.ScopeProject {
		fix += " --scope " + in.Scope
	}
	return fix
}

// checkGates checks what hosts need before they run ralph's entries, including those in Claude Code's files if another
// host reads them and its user runs that host.
func (x *examination) checkGates(ctx context.Context) {
	for _, in := range x.installed.Settings {
		for _, gate := range in.Host.Gates(ctx, in.File) {
			if gate.Known {
				x.problem("host-trust", in.File.Shown, gate.What, gate.Fix...)
			} else {
				x.note("host-trust", in.File.Shown, gate.What, strings.Join(gate.Fix, "\n"))
			}
		}
	}
}

// checkGuard checks whether an entry can end with status 2 if and only if the user wants that.
func (x *examination) checkGuard(in setup.Settings, e setup.Entry) {
	const check = "exit-status"
	byStatus := e.ByStatus()
	if runtime.GOOS == "windows" || e.Guarded == !byStatus {
		return
	}
	fix := x.installAgain(in, e)
	if byStatus {
		x.problem(check, in.File.Shown, "the entry answers by exit status, but its trap turns status 2 into 1, so the agent always stops", fix)
	} else {
		x.note(check, in.File.Shown, "if ralph crashes before it starts, the entry ends with status 2, which the host reads as continue", fix)
	}
	x.repairEntry(in, e)
}

// policyFlags returns the flags that name policies to install, "" for the default one.
func policyFlags(policies []string) string {
	if slices.Equal(workspace.OrDefault(policies), workspace.OrDefault(nil)) {
		return ""
	}
	flags := ""
	for _, p := range policies {
		flags += " --policy " + shellwords.Line([]string{p})
	}
	return flags
}

// uninstallLine returns the command that removes only the entry for these policies in a scope.
func uninstallLine(hostName string, policies []string, entries []setup.Entry, scope string) string {
	flags := policyFlags(policies)
	if flags == "" && slices.ContainsFunc(entries, func(e setup.Entry) bool { _, ok := e.Ralph(); return ok && !e.Asks(policies) }) {
		flags = " --policy " + workspace.DefaultPolicy
	}
	return "ralph uninstall " + hostName + flags + " --scope " + scope
}

// checkProgram checks whether hooks find this program.
func (x *examination) checkProgram() {
	const check = "program"
	self, err := os.Executable()
	if err != nil {
		return
	}
	found, lookErr := exec.LookPath("ralph")
	other := lookErr == nil && !workspace.SameFile(found, self) && !setup.FromNpm(self) // whose wrapper starts this program
	byName := false
	x.installed.Asking(func(in setup.Settings, e setup.Entry, policies []string) {
		program := e.Program()
		if !strings.ContainsAny(program, `/\`) {
			byName = true
			return
		}
		if _, err := os.Stat(program); filepath.IsAbs(program) && err != nil {
			x.problem(check, in.File.Shown, "the entry runs "+program+", which does not exist",
				fmt.Sprintf("ralph install %s --scope %s%s", in.Host.Name, in.Scope, policyFlags(policies)))
			x.repairEntry(in, e)
		} else if e.InProject() {
			x.problem(check, in.File.Shown, "the entry runs "+program+", which is in the project: anyone who can write there, such as the agent, can replace it",
				"install ralph outside of the project", fmt.Sprintf("ralph install %s --scope %s%s", in.Host.Name, in.Scope, policyFlags(policies)))
		}
	})
	switch {
	case byName && lookErr != nil:
		x.problem(check, "PATH", "hooks run ralph by its name, but there is none on the PATH", "add "+filepath.Dir(self)+" to the PATH")
	case byName && other:
		x.problem(check, "PATH", "hooks run ralph by its name, but the first one on the PATH is another program: "+found,
			"put "+filepath.Dir(self)+" first on the PATH")
	case other:
		x.note(check, "PATH", "the first ralph on the PATH is another program: "+found, "")
	}
}

// checkOtherHooks finds other hooks that answer the same events. At a stop, the agent continues if any of them decides
// so.
func (x *examination) checkOtherHooks() {
	const check = "competing-hook"
	for _, in := range x.installed.Settings {
		for _, e := range in.Entries {
			if _, ours := e.Ralph(); ours {
				continue
			}
			event, text := host.EventOf(e.Event), cut(oneLine(e.Text), 80)
			fix := "remove that entry from the file, or ralph's: ralph uninstall " + in.Host.Name
			o, known := setup.Original{}, false
			if !e.Other {
				o, known = setup.OriginalOf(e.Text)
			}
			switch {
			case known && event == host.Stop:
				x.problem(check, in.File.Shown, fmt.Sprintf("another loop also answers stops: %s; the agent continues if either continues it", text), fix)
			case known && slices.ContainsFunc(x.policies, func(p examined) bool {
				return p.host == in.Host.Name && p.Short() == o.Policy && p.Program != nil && slices.Contains(p.Program.Events, event)
			}):
				x.problem(check, in.File.Shown, fmt.Sprintf("the hook that %s replaces also answers %s: %s; the agent sees both answers", o.Policy, e.Event, text), fix)
			case event == host.Stop:
				x.note(check, in.File.Shown, fmt.Sprintf("another hook runs at every stop: %s; if it blocks, the agent continues, whatever ralph says", text), "")
			}
		}
	}
	for _, h := range x.installed.Goals() {
		x.note(check, h.Title, fmt.Sprintf("its own %s continues an agent too, whatever ralph says; ralph does not see whether a session has one", h.Settings.Goal), "")
	}
}

// checkBlockCap compares the hosts' limits to those of the policies.
func (x *examination) checkBlockCap() {
	for _, p := range x.policies {
		h, _ := host.Lookup(p.host)
		if h == nil || p.Program == nil || !slices.Contains(p.Program.Events, host.Stop) {
			continue
		}
		cap, most := x.installed.Cap(h), p.Program.Limits().Continuations
		switch what, fix := p.reentryAdvice(); {
		case what != "" && cap.Most != 1: // with which no more would help
			x.note("reentry", p.name, "it "+what, "to run through all tasks: "+fix)
		case cap.Ends(most):
			x.note("block-cap", cap.Where, fmt.Sprintf("%s, but %s continues up to %d times", cap, p.name, most), cap.Fix())
		}
	}
}

// checkOwnPlugin checks what the hooks of ralph's own plugin need.
func (x *examination) checkOwnPlugin(ctx context.Context) {
	plugins := x.installed.Plugins()
	for _, name := range slices.Sorted(maps.Keys(plugins)) {
		where := plugins[name]
		if _, err := exec.LookPath("ralph"); err != nil {
			x.problem("program", where, "the plugin "+setup.Plugin+" runs ralph by its name, but there is none on the PATH", "put ralph into a directory of the PATH")
		}
		for _, p := range setup.PluginPolicies() {
			if x.project.Lacks(p) {
				continue
			}
			x.examine(ctx, examined{name: p, host: name, scope: setup.ScopeUser, entry: setup.PluginPolicies(), forAll: true}, where)
		}
	}
}
