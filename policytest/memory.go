package policytest

import (
	"context"
	"errors"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/inputs"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// memory is the store of one test: it loads the loop memory of the test and discards what is saved.
type memory struct{ session, project rules.Memory }

// memory returns the store of a test. Its turn is that of the event, so that the event belongs to the streak.
func (b *bench) memory(p *rules.Program, ev host.Event) *memory {
	g := b.test.Given
	m := &memory{}
	m.session, m.project = inputs.Memories(p, rules.Said{At: b.now, Turn: ev.Turn}, g.Repeated, g.Waited, g.Memory)
	m.session.Turn = ev.Turn
	if l := g.Loop; l != nil {
		m.session.Streak, m.session.Total = l.Continuations, l.Total
		m.session.Progress, m.session.Same, m.session.Failures = "=", l.Repeats, l.Failures
		if l.Continuations > 0 {
			m.session.Since, m.session.Latest = b.now.Add(-l.Elapsed), b.now.Add(-l.Step)
		}
	}
	return m
}

// see makes the loop that a decision finds or misses that of the session's last decision.
func (m *memory) see(p *rules.Program, v *rules.Verdict) error {
	mark := &rules.LoopInfo{}
	if v.Loop != nil {
		*mark = rules.LoopInfo{Name: v.Loop.Name, State: v.Loop.State}
	} else if l := p.Loop(); l != nil {
		for _, f := range v.Trace.Facts {
			if f.Name == l.State.Name {
				*mark = rules.LoopInfo{Name: f.Path, State: f.Path}
			}
		}
	}
	if mark.State == "" {
		return errors.New("loop.seen: the policy has no loop whose file is known here")
	}
	m.session.Loop = mark
	return nil
}

func (m *memory) Load(_ context.Context, keys ...loop.Key) ([]loop.Entry, error) {
	out := make([]loop.Entry, len(keys))
	for i, key := range keys {
		out[i] = loop.Entry{Key: key}
		switch {
		case key.Policy != "" && !key.Project:
			out[i].Memory = m.session
		case key.Project:
			out[i].Memory = m.project
		}
	}
	return out, nil
}

func (*memory) Save(context.Context, loop.Write) error { return nil }
