package rules

import (
	"context"
	"io/fs"
)

// Check loads a policy as [Load] does, compiles all of it, also analyzes it as a whole, and omits findings that the
// policy ignores:
//
//	# ralph:ignore shadowed-rule because the team wants the reminder to stay
//
// Such a comment is on the line of a finding or above it. The program is nil if and only if a diagnostic is an error;
// errors cannot be ignored.
func Check(ctx context.Context, fsys fs.FS, name string, cfg Config) (*Program, Diagnostics) {
	cfg.Lazy = false
	p, diags := Load(ctx, fsys, name, cfg)
	if p == nil {
		return nil, diags
	}
	diags = append(diags, p.analyze()...)
	return p, p.silence(diags).sorted()
}
