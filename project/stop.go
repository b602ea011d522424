package project

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/ralph-sdk/ralph/internal/store"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
	"github.com/ralph-sdk/ralph/state"
)

// Stopped is a loop or a run that a stop ended.
type Stopped struct {
	Policy   Policy
	Name     string   // of the loop
	File     string   // its state, "" for a run
	Archived string   // the new path of the state; "" if it stays and no session is continued until a start
	Run      string   // ID of a run, which ends after its current iteration
	Already  bool     // it was already stopped
	Entries  []string // settings of hosts from which the entries for this loop were taken away
}

// NoLoopError reports that a policy has no loop to start or stop.
type NoLoopError struct{ Policy string }

// Error returns the message.
func (e *NoLoopError) Error() string {
	return fmt.Sprintf("%s names no loop, so there is none to start or stop; run `ralph pause %[1]s` to keep it from continuing agents", e.Policy)
}

// Stop stops the loops of the named policies, or without names all of the project, and ends their runs. With a session
// it stops only the loops of this session. A state moves to the archive if the policy itself archives it.
func (p *Project) Stop(ctx context.Context, names []string, session string) (stopped []Stopped, err error) {
	var policies []Policy
	for _, name := range names {
		policy, err := p.policy(ctx, name)
		if err != nil {
			return nil, err
		}
		policies = append(policies, policy)
	}
	if len(names) == 0 {
		policies = p.Policies(ctx)
	}
	for _, policy := range policies {
		ended, err := p.endRuns(policy, session)
		stopped = append(stopped, ended...)
		if err != nil {
			return stopped, err
		}
		switch {
		case policy.Program == nil && len(names) > 0 && len(ended) == 0:
			return stopped, fmt.Errorf("the policy %s cannot be used: %s", policy.Short(), policy.Problem)
		case policy.Program == nil:
			continue
		case policy.Program.Loop() == nil && len(names) > 0 && len(ended) == 0:
			return stopped, &NoLoopError{policy.Short()}
		case policy.Program.Loop() == nil:
			continue
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

// Unlooped returns the policies without a loop that have decided in the project and are not paused: a stop does not keep
// them from continuing agents.
func (p *Project) Unlooped(ctx context.Context) (policies []Policy, err error) {
	h, err := p.history()
	if err != nil {
		return nil, err
	}
	all := p.Policies(ctx)
	for _, o := range others(all, h) {
		if off, err := p.off(o.Policy, ""); err != nil || off != "" {
			continue
		}
		policies = append(policies, all[slices.IndexFunc(all, func(one Policy) bool { return one.Name == o.Policy })])
	}
	return policies, nil
}

// endRuns ends runs of a policy after their current iteration.
func (p *Project) endRuns(policy Policy, session string) (ended []Stopped, err error) {
	runs, err := run.List(p.own.Dir(), p.dir)
	for _, info := range runs {
		if !info.Running || info.Policy != policy.Name || session != "" && session != run.Session(info.ID) {
			continue
		}
		if err := p.own.EndRun(info.ID, true); err != nil {
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
	if err != nil || !now.exists() || session != "" && now.verdict.Loop.Owner != session {
		return s, false, err
	}
	l := policy.Program.Loop()
	s = Stopped{Policy: policy, Name: now.verdict.Loop.Name, File: now.file, Already: now.verdict.Aside == rules.Stopped && !l.Archived}
	if s.Already {
		return s, true, nil
	}
	if err := p.own.StopLoop(p.dir, policy.Name, p.now().UTC()); err != nil {
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
	return s, true, p.own.StartLoop(p.dir, policy.Name)
}

// record logs that a command ended a loop.
func (p *Project) record(h loop.Head) error {
	now := p.now()
	h.V, h.ID, h.Time, h.Root, h.Action = 1, store.LineID(now), now.UTC(), p.dir, rules.Stop
	line, err := json.Marshal(loop.Record{Head: h, Applied: true})
	if err == nil {
		err = p.own.AppendLog(line)
	}
	if err != nil {
		return fmt.Errorf("the loop has ended, but the log does not record it: %w", err)
	}
	return nil
}
