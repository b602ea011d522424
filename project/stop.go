package project

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/state"
)

// Stopped is a loop, a policy without a loop, or a run that a stop ended.
type Stopped struct {
	Policy   Policy
	Name     string   // of the loop, "" if the policy has none
	File     string   // its state, "" if there is none
	Archived string   // the new path of the state; "" if it stays and no session is continued until a start
	Run      string   // ID of a run, which ends after its current iteration
	Already  bool     // it was already stopped
	Entries  []string // settings of hosts from which the entries for this loop were taken away
}

// NoLoopError reports that a policy has no loop to start.
type NoLoopError struct{ Policy string }

// Error returns the message.
func (e *NoLoopError) Error() string {
	return fmt.Sprintf("%s needs no start: it has no loop, and decides whenever a hook runs it; run `ralph stop %[1]s` to keep it from continuing agents", e.Policy)
}

// Stop stops the named policies, or without names all that could continue an agent of the project, and ends their runs.
// With a session it stops only the loops of this session. A state moves to the archive if the policy itself archives it.
func (p *Project) Stop(ctx context.Context, names []string, session string) (stopped []Stopped, err error) {
	var policies []Policy
	for _, name := range names {
		policy, err := p.Stoppable(ctx, name)
		if err != nil {
			return nil, err
		}
		policies = append(policies, policy)
	}
	if len(names) == 0 {
		k, err := p.known(ctx)
		if err != nil {
			return nil, err
		}
		for _, of := range p.subjects(ctx, k) {
			if of.policy.Program == nil || of.policy.Program.Loop() != nil || len(of.hooks) > 0 || k.decided(of.policy.Name, p.now().Add(-recent)) {
				policies = append(policies, of.policy)
			}
		}
	}
	for _, policy := range policies {
		ended, err := p.endRuns(ctx, policy, session)
		stopped = append(stopped, ended...)
		if err != nil {
			return stopped, err
		}
		switch {
		case policy.Program == nil && len(names) > 0 && len(ended) == 0:
			return stopped, fmt.Errorf("the policy %s cannot be used: %s", policy.Short(), policy.Problem)
		case policy.Program == nil:
			continue
		case policy.Program.Loop() == nil && (session != "" || len(ended) > 0):
			continue // a stop is of all sessions; what continued the agent was a run
		}
		err = p.locked(ctx, func(ctx context.Context) error {
			one, ok, err := p.stop(ctx, policy, session, "ralph stop")
			if err == nil && (ok || session == "") {
				one.Policy = policy
				one.Entries, err = p.takeAway(ctx, policy.Name)
			}
			if ok || len(one.Entries) > 0 {
				stopped = append(stopped, one)
			}
			return err
		})
		if err != nil {
			return stopped, err
		}
	}
	return stopped, nil
}

// Stoppable returns the policy called name. One that only a live run has needs no file.
func (p *Project) Stoppable(ctx context.Context, name string) (Policy, error) {
	policy, err := p.policy(ctx, name)
	if err == nil {
		return policy, nil
	}
	runs, _ := p.runs(ctx) // the policy is missing anyway
	for _, info := range runs {
		if info.Running && (info.Policy == name || Short(info.Policy) == name) {
			return Policy{Name: info.Policy, Problem: err.Error()}, nil
		}
	}
	return policy, err
}

// endRuns ends runs of a policy after their current iteration.
func (p *Project) endRuns(ctx context.Context, policy Policy, session string) (ended []Stopped, err error) {
	runs, err := p.runs(ctx)
	for _, info := range runs {
		if !info.Running || info.Policy != policy.Name || session != "" && session != run.Session(info.ID) {
			continue
		}
		if err := p.orders.EndRun(info.ID, true); err != nil {
			return ended, err
		}
		ended = append(ended, Stopped{Policy: policy, Run: info.ID})
	}
	return ended, err
}

// stop stops the loop of one policy. Until its state has moved to the archive the loop counts as stopped, so that no
// hook concludes that the agent removed the file.
func (p *Project) stop(ctx context.Context, policy Policy, session, command string) (s Stopped, ok bool, err error) {
	now, err := p.look(ctx, policy, "")
	if err == nil && policy.Program.Loop() == nil {
		s = Stopped{Policy: policy, Already: now.verdict.Cause == rules.Stopped}
		return s, true, p.orders.StopLoop(p.dir, policy.Name, p.now().UTC())
	}
	if err != nil || !now.exists() || session != "" && now.verdict.Loop.Owner != session {
		return s, false, err
	}
	l := policy.Program.Loop()
	s = Stopped{Policy: policy, Name: now.verdict.Loop.Name, File: now.file, Already: now.verdict.Cause == rules.Stopped && !l.Archived}
	if s.Already {
		return s, true, nil
	}
	if err := p.orders.StopLoop(p.dir, policy.Name, p.now().UTC()); err != nil {
		return s, false, err
	}
	_ = p.begin(ctx, policy.Name) // the loop is stopped, whatever its memory is; a start begins again too
	if !l.Archived {
		return s, true, p.record(loop.Head{Policy: policy.Name, Session: now.verdict.Loop.Owner, Command: command, Reason: "its state is kept: " + now.file, Loop: now.verdict.Loop})
	}
	old := p.root.Read(ctx, state.File{Path: now.file})
	if s.Archived, err = p.archive(ctx, policy, now.verdict.Loop, l.State, old, command); err != nil {
		return s, false, err
	}
	return s, true, p.orders.StartLoop(p.dir, policy.Name)
}

// record logs that a command ended a loop.
func (p *Project) record(h loop.Head) error {
	now := p.now()
	h.V, h.ID, h.Time, h.Root, h.Action = 1, store.LineID(now), now.UTC(), p.dir, rules.Stop
	h.Scope = p.scope
	r := loop.Record{Head: h, Kept: true}
	line, err := json.Marshal(r)
	to, ok := p.kept.(loop.Recorder)
	switch {
	case err != nil:
	case !p.foreign:
		err = p.own.AppendLog(line)
	case !ok:
		err = errNoLog
	default:
		err = to.Record(context.Background(), &r)
	}
	if err != nil {
		return fmt.Errorf("the loop has ended, but the log does not record it: %w", err)
	}
	return nil
}
