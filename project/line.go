package project

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/internal/workspace"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// known is what the states of a project's policies are read from.
type known struct {
	installed
	history
	policies []Policy
	runs     []run.Info
}

func (p *Project) known(ctx context.Context) (k known, err error) {
	if k.runs, err = p.runs(ctx); err != nil {
		return k, err
	}
	if k.history, err = p.history(); err != nil {
		return k, err
	}
	if k.policies = p.Policies(ctx); p.made == nil { // otherwise the program evaluates them itself
		k.installed = p.installed(ctx)
	}
	return k, nil
}

// A subject is a policy that could continue an agent, and the hooks that evaluate it.
type subject struct {
	policy Policy
	hooks  []InstalledHook
}

// subjects returns the policies of the project with the hooks that evaluate them: one that hooks evaluate with other params is
// another subject. Those that only the log knows come last.
func (p *Project) subjects(ctx context.Context, k known) (all []subject) {
	for _, policy := range k.policies {
		all = append(all, subject{policy: policy})
	}
	given := map[string]bool{}
	for _, one := range k.hooks {
		found, err := p.Find(one.Policy)
		switch {
		case err != nil && one.User && p.Lacks(one.Policy):
			continue // it is not of this project
		case err != nil:
			found = Policy{Name: one.Policy, Problem: err.Error()}
		}
		key := fmt.Sprintf("%s\x00%q", found.Name, one.Set)
		same := func(o subject) bool {
			return o.policy.Name == found.Name && (len(o.hooks) == 0 || slices.Equal(o.hooks[0].Set, one.Set))
		}
		i := slices.IndexFunc(all, same)
		if i < 0 {
			i = len(all)
			all = append(all, subject{policy: found})
		}
		if !given[key] && (len(one.Set) > 0 || all[i].policy.Program == nil) && err == nil {
			all[i].policy, _ = p.Load(ctx, found, Load{Set: one.Set})
		}
		given[key] = true
		all[i].hooks = append(all[i].hooks, one)
	}
	for _, d := range k.latest {
		if d.Time.After(p.now().Add(-recent)) && !slices.ContainsFunc(all, func(o subject) bool { return o.policy.Name == d.Policy }) {
			all = append(all, subject{policy: Policy{Name: d.Policy}})
		}
	}
	return all
}

// recent is how long a policy without hook and loop is shown after its last decision.
const recent = 24 * time.Hour

// decided reports whether a policy has decided since a time.
func (k known) decided(policy string, since time.Time) bool {
	return slices.ContainsFunc(k.latest, func(d Decision) bool { return d.Policy == policy && d.Time.After(since) })
}

// lines returns the status of each policy that has something to show.
func (p *Project) lines(ctx context.Context, k known) ([]Loop, error) {
	all := []Loop{}
	for _, s := range p.subjects(ctx, k) {
		l, err := p.line(ctx, s, k)
		if err != nil {
			return nil, err
		}
		bare := s.policy.Program == nil || s.policy.Program.Loop() == nil
		if len(l.Hooks) > 0 || l.File != "" || l.State == StateUnusable && !s.policy.Shipped || bare && k.decided(l.Policy, p.now().Add(-recent)) {
			all = append(all, l)
		}
	}
	return all, nil
}

// Loops returns the existing loops, without data from the log.
func (p *Project) Loops(ctx context.Context) (all []Loop, err error) {
	for _, policy := range loops(p.Policies(ctx)) {
		if f, err := p.look(ctx, policy, ""); err == nil && f.exists() {
			all = append(all, Loop{Policy: policy.Name, Name: f.verdict.Loop.Name, Owner: f.verdict.Loop.Owner, File: f.file})
		}
	}
	return all, err
}

// lineOf returns the status of a policy of the project.
func (p *Project) lineOf(ctx context.Context, policy Policy) (Loop, error) {
	k, err := p.known(ctx)
	if err != nil {
		return Loop{}, err
	}
	of := subject{policy: policy}
	for _, one := range p.subjects(ctx, k) {
		if one.policy.Name == policy.Name {
			of.hooks = append(of.hooks, one.hooks...)
		}
	}
	return p.line(ctx, of, k)
}

// line returns the status of one policy.
func (p *Project) line(ctx context.Context, of subject, k known) (l Loop, err error) {
	policy := of.policy
	l = Loop{Policy: policy.Name}
	for _, one := range of.hooks {
		l.Hooks = append(l.Hooks, one.Installed)
	}
	now := signs{unusable: policy.Problem, now: p.now()}
	if len(policy.Findings) > 0 && policy.Program == nil {
		now.unusable = fmt.Sprintf("the agent may stop; run `ralph check %s`\n%s", policy.Short(), policy.Problem)
	}
	var f found
	if policy.Program != nil {
		if f, err = p.look(ctx, policy, ""); err != nil {
			now.unusable = err.Error()
		} else if now.unusable = p.found(ctx, &l, f); now.unusable == "" {
			now.waits = p.waits(ctx, of, l)
		}
	}
	if v := f.verdict; v != nil {
		reasons := map[rules.Cause]*string{rules.Off: &now.off, rules.Stopped: &now.stopped, rules.InRun: &now.inRun}
		if why := reasons[v.Cause]; why != nil {
			*why = v.Reason
		}
	}
	if why, off := workspace.Off(p.dir, p.env); off {
		now.off = "all loops are off: " + why
	}
	last, err := p.remember(ctx, &l, f, k, &now)
	if err != nil {
		now.unusable = cmp.Or(now.unusable, err.Error())
	}
	if last.Action == rules.Ask && now.last != "" {
		now.waits = cmp.Or(now.waits, k.question(last))
	}
	if last.Action == rules.Wait && last.Run == "" && now.last != "" {
		now.waiting = "it waits: " + last.Said()
		if p := policy.Program; p == nil || !slices.ContainsFunc(p.Rules(), func(r *rules.Rule) bool { return r.Name == last.Rule && r.Await != nil && r.Await.Woken }) {
			now.waiting += "; in a hook nothing starts the agent again, so send a prompt once the wait is over"
		}
	}
	_, paused, err := p.orders.Ordered(p.dir, policy.Name, cmp.Or(l.Owner, last.Session))
	if err != nil {
		return l, err
	}
	if paused {
		now.paused = "it is paused"
	}
	runs := last.Run != ""
	for _, info := range k.runs {
		if info.Policy == policy.Name && info.Running {
			runs, now.inRun = true, cmp.Or(now.inRun, fmt.Sprintf("run %s of the policy %s is in progress; run `ralph stop %[2]s` to end it", info.ID, policy.Short()))
		}
		if info.ID == last.Run && info.Ended != "" && now.last == loop.Continued { // what ended it was no rule
			if now.last = Outcome(info.Ended); info.Ended == run.Denied {
				how, _ := endings()[info.Ended].advice(info)
				now.waits = cmp.Or(now.waits, oneLine(info.Why)+"; "+how)
			}
		}
		if info.Policy == policy.Name && info.Ended == "" && !info.Running && (last.Run == info.ID || !last.Time.After(info.Latest)) {
			now.lost = "run " + info.ID + " was killed"
		}
	}
	if len(of.hooks) == 0 && !runs && p.made == nil {
		now.noHook = k.noHook(policy)
	}
	l.State, l.Why = now.state()
	if l.State == StateRunning || l.State == StateSilent {
		l.Heard = now.heard
	}
	if l.State == StateReady && f.verdict != nil && f.verdict.Cause == rules.NoLoop {
		l.Why = f.verdict.Reason
	}
	return l, nil
}

// question returns what a decision asks and how to answer, or "" if it is of a run that no longer waits for the answer.
func (k known) question(d Decision) string {
	if d.Run == "" {
		return `it asks "` + d.Said() + `"; answer with your next prompt`
	}
	i := slices.IndexFunc(k.runs, func(info run.Info) bool { return info.ID == d.Run && info.Ended == run.Asked })
	if i < 0 {
		return ""
	}
	how, _ := answer(k.runs[i])
	return `it asks "` + oneLine(k.runs[i].Why) + `"; ` + how
}

// found describes a policy's loop, and returns why it is unusable.
func (p *Project) found(ctx context.Context, l *Loop, f found) (unusable string) {
	l.Problems, l.Measure = f.problems(), f.verdict.Measure
	declared := f.policy.Program.Loop()
	if declared == nil || !f.exists() && len(l.Problems) == 0 {
		return ""
	}
	l.File = f.file
	if f.exists() {
		l.Name, l.Owner = f.verdict.Loop.Name, f.verdict.Loop.Owner
	}
	if f.file != "" {
		doc := p.read(ctx, declared.State, f.file)
		l.Changed, l.Goal = doc.ModTime, firstLine(doc.Body)
		l.Problems = append(l.Problems, harmful(declared.State, f.file, doc, l.Problems)...)
	}
	if f.status == rules.Invalid || !f.exists() {
		return "the state of its loop is unusable"
	}
	return ""
}

// waits returns what a person has to allow before a policy can continue an agent, or "".
func (p *Project) waits(ctx context.Context, of subject, l Loop) string {
	everywhere := len(of.hooks) > 0 && !slices.ContainsFunc(of.hooks, func(one InstalledHook) bool { return !one.User })
	switch policy := of.policy; {
	case everywhere && policy.Beneath() && p.Unapproved(policy) != nil:
		return fmt.Sprintf("a hook for all projects evaluates it, %s; read it, then run `ralph trust %s`", WhyNot(p.Unapproved(policy)), policy.Short())
	case p.Untrusted(policy) != nil:
		return fmt.Sprintf("it runs programs or asks models, %s; read it, then run `ralph trust %s`", WhyNot(p.Untrusted(policy)), policy.Short())
	case everywhere && l.File != "" && p.Distrusted() != nil && !p.Started(ctx, l):
		return fmt.Sprintf("a hook for all projects evaluates it, and %s; run `ralph trust`", WhyNot(p.Distrusted()))
	}
	return ""
}

// remember adds the last decision of a policy, by the owner of its loop if it has one, and the memory of its session.
func (p *Project) remember(ctx context.Context, l *Loop, f found, k known, now *signs) (d Decision, err error) {
	looped := f.policy.Program != nil && f.policy.Program.Loop() != nil
	i := slices.IndexFunc(k.latest, func(d Decision) bool {
		if d.Policy != l.Policy || l.Owner != "" && d.Session != l.Owner {
			return false
		}
		if l.Name != "" {
			return d.Loop != nil && d.Loop.State == l.File && (!d.Cause.Untried() || l.Owner != "")
		}
		o := d.Outcome()
		return o != loop.Idle && o != loop.Skipped && (!looped || o != loop.Continued)
	})
	if i < 0 {
		return d, nil
	}
	d = k.latest[i]
	l.Last = d.last()
	if l.Measure == nil {
		l.Measure = d.Measure
	}
	superseded := slices.ContainsFunc(k.ends, func(end Decision) bool { return end.Policy == d.Policy && end.Command != "" && end.Time.After(d.Time) })
	if l.File == "" && d.Loop != nil && !superseded && len(l.Hooks) > 0 { // it ended
		l.Name, l.File, l.Goal, l.Changed = d.Loop.Name, d.Archived(), d.Goal(ctx), d.Time
	}
	entries, err := p.kept.Load(ctx,
		loop.Key{Scope: p.scope, Root: p.dir, Policy: d.Policy, Host: d.Host, Session: cmp.Or(d.Session, store.NoSession), Agent: d.Agent},
		loop.Key{Scope: p.scope, Root: p.dir, Policy: d.Policy, Project: true})
	if len(entries) != 2 || err != nil {
		return d, err
	}
	mine, shared := entries[0].Memory, entries[1].Memory
	if !superseded && !shared.Reset.After(d.Time) {
		until := d.Time.Add(d.Took + time.Second) // its own effects change the state
		if !l.Changed.After(until) && !k.prompted[[2]string{d.Host, d.Session}].After(d.Time) {
			now.last = d.Outcome()
		}
		if f.verdict == nil || f.exists() || !looped {
			now.heard = d.Time
			if info, err := os.Stat(d.SessionFile); err == nil && info.ModTime().After(now.heard) && !info.ModTime().After(now.now) {
				now.heard = info.ModTime()
			}
		}
	}
	if mine.Streak == 0 || !mine.Latest.After(shared.Reset) {
		return d, nil
	}
	l.Since, l.Memory = mine.Since, map[string]any{}
	if f.verdict != nil {
		l.Limits = counted(f.policy.Program.Limits(), mine, now.now)
	}
	for _, m := range []rules.Memory{mine, shared} {
		for name, v := range m.Values {
			if slices.Contains(m.Private, name) {
				b, _ := json.Marshal(v)
				v = fmt.Sprintf("(%d bytes)", len(b))
			}
			l.Memory[name] = v
		}
	}
	return d, nil
}

// counted returns the limits of a streak with what is counted now.
func counted(l rules.Limits, m rules.Memory, now time.Time) (all []rules.Limit) {
	all = append(all, rules.Limit{Name: "continuations", At: m.Streak, Of: l.Continuations})
	if l.HasRepeats {
		all = append(all, rules.Limit{Name: "repeats", At: m.Same, Of: l.Repeats})
	}
	return append(all, rules.Limit{Name: "elapsed", At: int(max(0, now.Sub(m.Since))), Of: int(l.Elapsed)})
}
