package project

import (
	"context"

	"github.com/ralph-sdk/ralph/host"
	"github.com/ralph-sdk/ralph/internal/approval"
	"github.com/ralph-sdk/ralph/run"
)

// InSession returns the variables of an environment that show that an agent started this process: those of hosts, and
// that of [run.Env]. An agent can remove them, and not every host has one, so they are a hint.
func InSession(getenv func(string) string) (set []string) {
	for _, name := range append(host.SessionVariables(), run.Env) {
		if getenv(name) != "" {
			set = append(set, name)
		}
	}
	return set
}

// Started reports whether ralph start wrote a loop. Then it counts for hooks of all projects, trusted or not.
func (p *Project) Started(ctx context.Context, l Loop) bool {
	policy, err := p.policy(ctx, l.Policy)
	if err != nil || policy.Program == nil || policy.Program.Loop() == nil {
		return false
	}
	doc := p.read(ctx, policy.Program.Loop().State, l.File)
	return p.orders.StartedLoop(p.dir, policy.Name, approval.Loop(l.File, doc.Body))
}
