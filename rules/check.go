package rules

import "context"

// Check finds what is dubious in a policy that Parse accepted: rules that never hold or never decide, params that nothing reads, and so on.
func Check(p *Policy) Findings { return nil }

// Difference is a situation in which two policies decide differently.
type Difference struct {
	Old, New  string // such as "continue by next-task"
	Situation string
}

// Diff finds situations in which two policies decide differently, and reports whether it tried them all.
func Diff(ctx context.Context, old, new *Policy) (found []Difference, exhausted bool) {
	return nil, true
}
