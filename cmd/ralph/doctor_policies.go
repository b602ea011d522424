package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/host/setup"
	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

// examined is a policy of the project: one that a host's entry names, or one in .ralph.
type examined struct {
	project.Policy
	name   string // as on the command line
	host   string // the host with that entry, or ""
	scope  string
	entry  []string // the policies of the entry, as it names them
	set    []string // params in the entry
	forAll bool     // the entry has --scope user
}

// reentryAdvice explains a policy that continues once per prompt, and how to change that; both are "" if it continues
// more often. Policies with such a choice call their param reentry, as ralph:guards/reentry does.
func (e examined) reentryAdvice() (what, fix string) {
	if e.Param("reentry") != "once" {
		return "", ""
	}
	return "continues once per prompt, so it runs one task per prompt (reentry=once)", e.setAdvice("reentry=progress")
}

// checkPolicies loads the policies of hosts' entries, and those of the project.
func (x *examination) checkPolicies(ctx context.Context) {
	x.installed.Asking(func(in setup.Settings, e setup.Entry, policies []string) {
		for _, name := range policies {
			x.examine(ctx, examined{name: name, host: in.Host.Name, scope: in.Scope, entry: policies, set: e.Set(), forAll: e.ForAll()}, in.File.Shown)
		}
		x.checkDeadline(in, e)
	})
	for _, policy := range x.project.Policies(ctx) {
		if !policy.Shipped {
			x.examine(ctx, examined{name: policy.Name}, "")
		}
	}
}

// checkDeadline checks whether an entry gives ralph the time that its policies need.
func (x *examination) checkDeadline(in setup.Settings, e setup.Entry) {
	deadline := e.Deadline()
	for _, p := range x.policies {
		if p.host != in.Host.Name || p.Program == nil || !e.Asks(p.entry) {
			continue
		}
		key := in.File.Shown + "\x00" + p.name
		if needed := p.Deadline(deadline); needed > deadline && !x.reported[key] { // once, not for each event
			x.reported[key] = true
			x.problem("timeout", in.File.Shown, fmt.Sprintf("the hook ends after %s, and by the timeouts of its facts %s needs %s", deadline, p.name, needed), x.installAgain(in, e))
			x.repairEntry(in, e)
		}
	}
}

func (x *examination) examine(ctx context.Context, e examined, where string) {
	found, err := x.project.Find(e.name)
	if err != nil {
		x.problem("policy", where, fmt.Sprintf("%s cannot be found: %v", e.name, err), "name a policy that exists: ralph install "+cmp.Or(e.host, host.ClaudeCode)+" --policy NAME")
		return
	}
	if slices.ContainsFunc(x.policies, func(o examined) bool { return o.Name == found.Name && (o.host == e.host || e.host == "") }) {
		return
	}
	load := project.Load{Set: e.set}
	if why := x.project.Distrusted(); e.forAll && why != nil && !found.Beneath() {
		if x.project.Configured(found) {
			x.problem("untrusted", project.ConfigFile, fmt.Sprintf("hooks for all projects do not use what it sets for %s: %v", found.Short(), project.WhyNot(why)), "read it, then run `ralph trust`")
		}
		load.Untrusted = true
	}
	e.Policy, err = x.project.Load(ctx, found, load)
	x.policies = append(x.policies, e)
	switch {
	case err != nil && e.Findings == nil:
		x.problem("policy", where, fmt.Sprintf("%s cannot be used: %v", e.name, err), "fix what it names")
		return
	case err != nil:
		if len(e.set) == 0 {
			where = "" // it is not about the entry
		}
		x.problem("policy", where, fmt.Sprintf("%s cannot be used, so the agent may stop: %s", e.name, e.Problem), "ralph check "+e.name+shellSet("", e.set))
		return
	case len(e.Findings) > 0:
		x.note("policy", "", fmt.Sprintf("%s has %s", e.name, amount.Of(len(e.Findings), "finding")), "ralph check "+e.name)
	}
	if why := x.project.Untrusted(e.Policy); why != nil {
		var names []string
		for _, use := range x.project.Uses(e.Policy) {
			names = append(names, use.Name)
		}
		x.problem("untrusted", "", fmt.Sprintf("%s runs programs or asks models (%s), %s. Until you approve it, those facts are missing", e.name, strings.Join(names, ", "), project.WhyNot(why)),
			"read it, then: ralph trust "+e.name)
	}
	if names := inputs(e.Program); len(names) > 0 && e.host != "" {
		x.problem("input", where, fmt.Sprintf("%s has facts that only a program provides (%s), so in a hook they are missing", e.name, strings.Join(names, ", ")),
			"use another source, or evaluate the policy with the Go packages")
	}
	if e.Shadows != "" {
		x.note("shadow", "", fmt.Sprintf("%s of this project replaces the shipped policy %s", e.Name, e.Shadows), "")
	}
	if e.forAll && e.Beneath() {
		if why := x.project.Unapproved(e.Policy); why != nil {
			x.problem("untrusted", where, fmt.Sprintf("%s, %s. Until you approve it, hooks for all projects do not use it", e.Name, project.WhyNot(why)), "read it, then: ralph trust "+e.name)
		}
	}
}

// inputs returns the names of the facts that a program must provide.
func inputs(p *rules.Program) (names []string) {
	for _, f := range p.Facts() {
		if f.Source.Argument == "schema" {
			names = append(names, f.Name)
		}
	}
	return names
}

// checkState reports what a stop would read now and cannot use as written.
func (x *examination) checkState(ctx context.Context) {
	for _, p := range x.policies {
		if p.Program == nil {
			continue
		}
		for _, problem := range x.verdict(ctx, p.Program).Problems {
			if problem.File != "" {
				x.reportState(p.Short(), problem.File, problem.Text)
			}
		}
	}
}

// reportState reports once what a policy cannot use in a file.
func (x *examination) reportState(policy, file, text string) {
	if key := policy + "\x00" + text; !x.reported[key] {
		x.reported[key] = true
		where, what := file, oneLine(text)
		if _, rest, ok := strings.Cut(what, file+":"); ok { // the text has the position in the file
			what = strings.TrimLeft(rest, ":0123456789")
			where, what = file+":"+strings.TrimSuffix(rest[:len(rest)-len(what)], ":"), strings.TrimSpace(what)
		}
		x.problem("state", where, fmt.Sprintf("%s; %s reads it", what, policy), "fix the file")
	}
}

// verdict returns a policy's verdict on a stop of an unknown session.
func (x *examination) verdict(ctx context.Context, program *rules.Program) *rules.Verdict {
	l, err := loop.New(program, append(x.app.in("").Options,
		loop.Local(), loop.WithEnv(x.app.getenv), loop.WithRoot(x.root.Dir()), loop.WithTrust(func(*rules.Fact, []rules.File) error { return errors.New("which doctor does not start") }))...)
	if err != nil {
		return &rules.Verdict{}
	}
	return l.Preview(ctx, host.Event{Host: host.ClaudeCode, Name: host.Stop, SessionID: "ralph-doctor", Cwd: x.root.Dir(), Run: "ralph-doctor"}).Verdict
}

// stale is how long ago the last activity of a loop is that is left over.
const stale = 24 * time.Hour

// checkLoops reports leftover loops, and policies that no agent uses.
func (x *examination) checkLoops(ctx context.Context) {
	status, err := x.project.Status(ctx)
	if err != nil {
		x.problem("state-dir", "", err.Error(), "make the file readable")
		return
	}
	for _, l := range status.Loops {
		if l.File != "" {
			x.checkLoop(ctx, l)
		}
	}
}

func (x *examination) checkLoop(ctx context.Context, l project.Loop) {
	short := project.Short(l.Policy)
	known := func(e examined) bool { return e.Name == l.Policy }
	for _, problem := range l.Problems {
		x.reportState(short, l.File, problem)
	}
	if going := []project.State{project.StateRunning, project.StateSilent, project.StateReady, project.StateNoHook}; slices.Contains(going, l.State) && x.now.Sub(l.Active()) > stale {
		left, fix := "The next session here would continue it", []string{"ralph stop " + short}
		if l.Owner != "" {
			left = fmt.Sprintf("It belongs to session %s, so no other session continues it", l.Owner)
			fix = append(fix, fmt.Sprintf("or move it to another session: ralph start %s --session ID", short))
		}
		x.problem("stale-loop", l.File, fmt.Sprintf("a loop of %s is left over: its last activity was %s. %s", short, ago(x.now, l.Active()), left), fix...)
		x.findings[len(x.findings)-1].repair = func(ctx context.Context) error {
			_, err := x.project.Stop(ctx, []string{l.Policy}, "")
			return err
		}
	}
	if why := x.project.Distrusted(); why != nil && !x.project.Started(ctx, l) && slices.ContainsFunc(x.policies, func(e examined) bool { return known(e) && e.forAll }) {
		x.problem("untrusted", l.File, fmt.Sprintf("hooks for all projects do not continue the loop of %s: %v", short, project.WhyNot(why)), "read the file, then run `ralph trust`")
	}
	hooked := func(e examined) bool { return e.host != "" }
	if slices.ContainsFunc(x.policies, hooked) && !slices.ContainsFunc(x.policies, func(e examined) bool { return known(e) && hooked(e) }) {
		x.note("no-hook", l.File, fmt.Sprintf("there is a loop of %s, but no agent uses that policy", short), "ralph install claude-code --policy "+short)
	}
}
