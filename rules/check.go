package rules

import (
	"context"
	"io/fs"
)

// Check loads a policy as [Load] does, compiles all of it, looks at it as a whole
// too, and leaves out what the policy itself says to ignore:
//
//	# ralph:ignore shadowed-rule because the team wants the reminder to stay
//
// stands on the line of a finding or above it. The program is nil if and only if a
// diagnostic is an error; errors cannot be ignored.
func Check(ctx context.Context, fsys fs.FS, name string, cfg Config) (*Program, Diagnostics) {
	cfg.Lazy = false
	p, diags := Load(ctx, fsys, name, cfg)
	if p == nil {
		return nil, diags
	}
	diags = append(diags, p.analyze()...)
	return p, p.silence(diags).sorted()
}
