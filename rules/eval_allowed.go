package rules

import "slices"

// permitted reports whether the evaluation may touch all that its program uses, which is checked once for the same
// capabilities. If not, the verdict is a stop.
func (ev *evaluation) permitted() bool {
	by, origin := ev.event.allow, &ev.program.origin
	if len(by) == 0 {
		return true
	}
	if held := origin.held.Load(); held != nil && len(*held) == len(by) && &(*held)[0] == &by[0] {
		return true
	}
	var diags Diagnostics
	if ev.program.disallowed(by, &diags); len(diags) > 0 {
		ev.refuse(diags.sorted())
		return false
	}
	held := by
	origin.held.Store(&held) // by itself would be on the heap in each evaluation
	return true
}

// allowsPath reports whether a known path is within the capabilities.
func (ev *evaluation) allowsPath(path string) bool {
	outside := func(may Capabilities) bool { return !anyMatches(may.Paths, path) }
	return !slices.ContainsFunc(ev.program.origin.allow, outside) && !slices.ContainsFunc(ev.event.allow, outside)
}
