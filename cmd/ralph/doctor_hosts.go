package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/state"
)

// hostSettings is one settings file of a host that could be read.
type hostSettings struct {
	agent   agent
	scope   string
	file    settingsFile
	values  map[string]any
	entries []hookEntry
}

// checkSwitch sees whether loops are switched off.
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
		x.problem("switched-off", "", pausedWhat(p)+" is paused", "ralph resume "+pausedArgs(p))
	}
}

// readSettings reads the settings of all hosts.
func (x *examination) readSettings(ctx context.Context) {
	home := x.app.homeDir()
	for _, g := range agents(home, x.app.getenv) {
		for _, scope := range append([]string{scopeManaged}, g.scopes()...) {
			if g.files[scope] == "" {
				continue
			}
			s, err := g.open(ctx, x.root.Dir(), home, scope)
			if errors.Is(err, errUsersOwn) {
				continue // it is read for that scope
			}
			if err != nil {
				x.problem("settings", s.shown, strings.TrimPrefix(err.Error(), s.shown+": "), "make it a readable file")
				continue
			}
			in := hostSettings{agent: g, scope: scope, file: s}
			if in.values, err = s.decode(); err == nil {
				in.entries, err = s.hookEntries()
			}
			if err != nil {
				where, what := s.shown, err.Error()
				var bad *settingsError
				if errors.As(err, &bad) {
					where, what = bad.place(), bad.message
				}
				x.problem("settings", where, what+"; the host ignores the file with all its hooks", "repair the file")
				continue
			}
			x.settings = append(x.settings, in)
		}
	}
}

// asking calls f for every entry that asks ralph.
func (x *examination) asking(f func(in hostSettings, e hookEntry, policies []string)) {
	for _, in := range x.settings {
		for _, e := range in.entries {
			if policies, ok := e.ralph(); ok {
				f(in, e, orDefault(policies))
			}
		}
	}
}

// hooksForAll reports whether a hook for all projects asks ralph.
func (a *app) hooksForAll(ctx context.Context, project string) bool {
	x, done := a.settingsOf(ctx, project)
	defer done()
	all := len(x.ownPlugins()) > 0
	x.asking(func(_ hostSettings, e hookEntry, _ []string) { all = all || e.forAll() })
	return all
}

// settingsOf reads the settings of all hosts. Those that cannot be read are left out: doctor reports them.
func (a *app) settingsOf(ctx context.Context, project string) (x *examination, done func() error) {
	x = &examination{app: a}
	var err error
	if x.root, err = state.OpenRoot(project); err != nil {
		return x, func() error { return nil }
	}
	x.readSettings(ctx)
	return x, x.root.Close
}

// hookTime is the time that installed hooks give to a policy: the shortest, 0 if none asks it.
func (a *app) hookTime(ctx context.Context, project string, p policy) (shortest time.Duration) {
	x, done := a.settingsOf(ctx, project)
	defer done()
	x.asking(func(_ hostSettings, e hookEntry, policies []string) {
		if d := e.deadline(); hasPolicy(project, policies, p) && (shortest == 0 || d < shortest) {
			shortest = d
		}
	})
	return shortest
}

// checkSettings sees whether hosts ask ralph at all, once, and wait for the answer.
func (x *examination) checkSettings() {
	for _, in := range x.settings {
		if off, _ := in.values["disableAllHooks"].(bool); off {
			x.problem("hooks-disabled", in.file.shown, "disableAllHooks is true, so no hook runs", "remove disableAllHooks from the file")
		}
		if only, _ := in.values["allowManagedHooksOnly"].(bool); only && in.scope == scopeManaged {
			x.problem("hooks-disabled", in.file.shown, "allowManagedHooksOnly is true, so only hooks of the administrator run",
				"ask the administrator to add the hook to that file")
		}
	}
	any := false
	x.asking(func(in hostSettings, e hookEntry, policies []string) {
		any = true
		if all := in.scope == scopeUser || in.scope == scopeManaged; all && !e.forAll() && in.agent.stops(e.event) {
			x.problem("untrusted", in.file.shown, "the entry is for all projects and lacks --scope user, so what any project brings counts", x.installAgain(in, e))
			x.repairEntry(in, e)
		}
		if deadline := e.deadline(); e.timeout != 0 && e.timeout < deadline.Seconds()+2 {
			x.problem("timeout", in.file.shown, fmt.Sprintf("the host waits %g s for ralph, which may take %g s", e.timeout, deadline.Seconds()),
				fmt.Sprintf("set the timeout of the entry to %d", in.agent.form.seconds(timeoutFor(deadline))))
			x.repairEntry(in, e)
		}
		x.checkGuard(in, e)
	})
	if !any && len(x.ownPlugins()) == 0 {
		policy := " --policy NAME"
		if !lacks(x.root.Dir(), defaultPolicy) {
			policy = ""
		}
		x.problem("no-hook", "", "no agent asks ralph in this project", "ralph install claude-code"+policy+" (other hosts: "+strings.Join(agentNames(agents("", noEnv))[1:], ", ")+")")
	}
}

// repairEntry has --fix repair the last finding, which is of an entry of ralph: install writes the entry again and removes a
// second one of the same file.
func (x *examination) repairEntry(in hostSettings, e hookEntry) {
	if in.scope == scopeManaged {
		return
	}
	policies, _ := e.ralph()
	f := installFlags{policies: orDefault(policies), scope: in.scope, project: x.root.Dir()}
	quiet := *x.app
	quiet.stdout = io.Discard
	x.findings[len(x.findings)-1].repair = func(ctx context.Context) error { return quiet.install(ctx, in.agent.host, f) }
}

// installAgain is the command that writes an entry again.
func (x *examination) installAgain(in hostSettings, e hookEntry) string {
	if in.scope == scopeManaged {
		return "ask the administrator to change that file"
	}
	policies, set, _ := e.flags()
	fix := "ralph install " + in.agent.host + policyFlags(policies) + shellSet("", set)
	if in.scope != scopeProject {
		fix += " --scope " + in.scope
	}
	return fix
}

// checkGates sees what hosts ask for before they run ralph's entries, those of Claude Code's files too where another
// host reads them and its user runs that host.
func (x *examination) checkGates(ctx context.Context) {
	for _, in := range x.settings {
		for _, gate := range x.app.gates(ctx, in.agent, x.root.Dir(), in.scope, in.file) {
			if gate.known {
				x.problem("host-trust", in.file.shown, gate.what, gate.fix...)
			} else {
				x.note("host-trust", in.file.shown, gate.what, strings.Join(gate.fix, "\n"))
			}
		}
	}
}

// checkGuard sees whether an entry ends with status 2 if and only if the user wants it.
func (x *examination) checkGuard(in hostSettings, e hookEntry) {
	const check = "exit-status"
	_, _, added := e.flags()
	byStatus := answersByStatus(added)
	if runtime.GOOS == "windows" || e.guarded == !byStatus {
		return
	}
	fix := x.installAgain(in, e)
	if byStatus {
		x.problem(check, in.file.shown, "the entry answers by exit status, but its trap turns status 2 into 1, so the agent always stops", fix)
	} else {
		x.note(check, in.file.shown, "if ralph crashes before it starts, the entry ends with status 2, which the host reads as continue", fix)
	}
	x.repairEntry(in, e)
}

// policyFlags are the flags that name policies to install, "" for the default one.
func policyFlags(policies []string) string {
	if samePolicies(policies, nil) {
		return ""
	}
	flags := ""
	for _, p := range policies {
		flags += " --policy " + shellLine([]string{p})
	}
	return flags
}

// uninstallFlags are the flags with which uninstall removes the entry for these policies and no other.
func uninstallFlags(policies []string, entries []hookEntry) string {
	if flags := policyFlags(policies); flags != "" {
		return flags
	}
	for _, e := range entries {
		if asked, ok := e.ralph(); ok && !samePolicies(asked, policies) {
			return " --policy " + defaultPolicy
		}
	}
	return ""
}

// checkProgram sees whether the hooks find this program.
func (x *examination) checkProgram() {
	const check = "program"
	self, err := os.Executable()
	if err != nil {
		return
	}
	found, lookErr := exec.LookPath("ralph")
	other := lookErr == nil && !sameFile(found, self) && !fromNpm(self) // whose wrapper starts it
	byName := false
	x.asking(func(in hostSettings, e hookEntry, policies []string) {
		program := e.words[0].Text
		if !strings.ContainsAny(program, `/\`) {
			byName = true
			return
		}
		if _, err := os.Stat(program); filepath.IsAbs(program) && err != nil {
			x.problem(check, in.file.shown, "the entry runs "+program+", which does not exist",
				fmt.Sprintf("ralph install %s --scope %s%s", in.agent.host, in.scope, policyFlags(policies)))
			x.repairEntry(in, e)
		} else if x.inProject(program) {
			x.problem(check, in.file.shown, "the entry runs "+program+", which lies in the project: anyone who can write there, such as the agent, can replace it",
				"install ralph outside of the project", fmt.Sprintf("ralph install %s --scope %s%s", in.agent.host, in.scope, policyFlags(policies)))
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

// inProject reports whether the program of an entry lies in the project, by its path or by its links. Hosts name the project in a variable.
func (x *examination) inProject(program string) bool {
	program = filepath.FromSlash(os.Expand(program, func(name string) string {
		if strings.HasSuffix(name, "_PROJECT_DIR") {
			return x.root.Dir()
		}
		return x.app.getenv(name)
	}))
	if !filepath.IsAbs(program) {
		program = filepath.Join(x.root.Dir(), program)
	}
	inside := func(path string) bool {
		rel, err := filepath.Rel(x.root.Dir(), path)
		return err == nil && filepath.IsLocal(rel)
	}
	resolved, err := filepath.EvalSymlinks(program)
	return inside(program) || err == nil && inside(resolved)
}

// checkOtherHooks finds other hooks that answer what ralph answers. At a stop, the agent continues if any of them says so.
func (x *examination) checkOtherHooks() {
	const check = "competing-hook"
	for _, in := range x.settings {
		for _, e := range in.entries {
			if _, ours := e.ralph(); ours {
				continue
			}
			event, text := in.agent.event(e.event), cut(oneLine(e.text), 80)
			fix := "remove that entry from the file, or ralph's: ralph uninstall " + in.agent.host
			o, known := original{}, false
			if !e.other {
				o, known = originalOf(e.text)
			}
			switch {
			case known && event == host.Stop:
				x.problem(check, in.file.shown, fmt.Sprintf("another loop also answers stops: %s; the agent continues if either says so", text), fix)
			case known && slices.ContainsFunc(x.policies, func(p examined) bool {
				return p.host == in.agent.host && p.policy.shortName() == o.policy && p.program != nil && slices.Contains(p.program.Events, event)
			}):
				x.problem(check, in.file.shown, fmt.Sprintf("the hook that %s replaces also answers %s: %s; the agent sees both answers", o.policy, e.event, text), fix)
			case event == host.Stop:
				x.note(check, in.file.shown, fmt.Sprintf("another hook runs at every stop: %s; if it blocks, the agent continues, whatever ralph says", text), "")
			}
		}
	}
}

// blockCap is what Claude Code allows if nothing else is said.
const blockCap = 8

// capVariable sets another number; 0 allows any.
const capVariable = "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"

// checkBlockCap compares the host's bound with those of the policies.
func (x *examination) checkBlockCap() {
	text, where := x.app.getenv(capVariable), capVariable
	for _, in := range x.settings {
		env, _ := in.values["env"].(map[string]any)
		if v, ok := env[capVariable]; ok && in.agent.host == host.ClaudeCode {
			text, where = fmt.Sprint(v), in.file.shown
		}
	}
	limit := blockCap
	if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
		limit = n
	}
	for _, p := range x.policies {
		if p.program == nil || p.host != host.ClaudeCode || !slices.Contains(p.program.Events, host.Stop) {
			continue
		}
		switch what, fix := p.reentryAdvice(); {
		case what != "":
			x.note("reentry", p.name, "it "+what, "to run through all tasks: "+fix)
		case limit > 0 && p.program.Limits().Continuations > limit:
			x.note("block-cap", where, fmt.Sprintf("Claude Code lets the agent stop after %d consecutive continuations without a tool call, but %s continues up to %d times", limit, p.name, p.program.Limits().Continuations),
				fmt.Sprintf(`if that ends loops too early, add {"env": {"%s": "0"}} to .claude/settings.json; the limits of the policy stay`, capVariable))
		}
	}
}
