package main

import (
	"context"

	"github.com/ralph-sdk/ralph/internal/project"
	"github.com/ralph-sdk/ralph/loop"
)

// loopOf returns the loop of a policy of the project in which the command is typed; "" is for all of them.
func (a *app) loopOf(ctx context.Context, name string) (project.Project, *loop.Loop, error) {
	p, home, err := a.here()
	if err != nil {
		return p, nil, err
	}
	if name == "" {
		l, err := home.Stops(p, "")
		return p, l, err
	}
	f, err := p.Policy(name)
	if err != nil {
		return p, nil, err
	}
	l, err := home.Open(ctx, p, f, project.Settings{})
	return p, l, err
}
