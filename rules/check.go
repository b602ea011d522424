package rules

import "io/fs"

// Check loads a policy as [Load] does, compiles all of it, looks at it as a whole
// as [Program.Analyze] does, and leaves out what the policy itself says to ignore:
//
//	# ralph:ignore shadowed-rule because the team wants the reminder to stay
//
// stands on the line of a finding or above it. The program is nil if and only if a
// diagnostic is an error; errors cannot be ignored.
func Check(fsys fs.FS, name string, cfg Config) (*Program, Diagnostics) {
	cfg.LazyTexts = false
	p, diags := Load(fsys, name, cfg)
	if p == nil {
		return nil, diags
	}
	diags = append(diags, p.Analyze()...)
	return p, silence(p.Files, diags).sorted()
}
