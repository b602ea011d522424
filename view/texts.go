package view

import (
	"context"

	"github.com/ralph-sdk/ralph/project"
	"github.com/ralph-sdk/ralph/rules"
)

func texts(ctx context.Context, p *project.Project, digest string) ([]rules.File, error) {
	for _, known := range p.Policies(ctx) {
		if known.Digest() == digest {
			return known.Program.Files(), nil
		}
	}
	return nil, nil
}
