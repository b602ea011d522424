package project

import (
	"context"
	"errors"

	"github.com/ralph-sdk/ralph/internal/store"
)

// Reset moves the memories of the project out of the way, whatever they hold, so that nothing is counted: with a policy or
// a session only theirs. What the sessions count for all policies moves with them. It returns the new paths.
func (p *Project) Reset(ctx context.Context, policy, session string) (moved []string, err error) {
	if p.foreign {
		return nil, errors.New("only the memories of a state directory can be moved away: remove the entries from the store")
	}
	if policy != "" {
		found, err := p.Find(policy)
		if err != nil {
			return nil, err
		}
		policy = found.Name
	}
	var sessions []string
	switch {
	case session != "":
		sessions = []string{session}
	case policy == "":
		if sessions, err = p.Sessions(ctx); err != nil {
			return nil, err
		}
		sessions = append(sessions, store.NoSession)
	}
	return p.own.ResetMemories(ctx, p.now(), p.dir, policy, session, sessions)
}
