package rules

import "github.com/ralph-sdk/ralph/internal/vocab"

// checkWaits reports waits that nothing ends while the agent does not work, and rules that read waited above every wait.
func (p *Program) checkWaits(report func(pos Pos, check, help, format string, args ...any)) {
	waits := false
	for _, r := range p.rules {
		if reads(r.when, func(s *symbol) bool { return s.kind == nameSymbol && s.name == vocab.Waited }) && !waits {
			report(r.Pos, "early-waited", "move it below the rule that waits", "the rule %q reads waited, which is true only below a rule that has waited", r.Name)
		}
		if r.Await == nil {
			continue
		}
		waits = true
		if r.until != nil && !reads(r.until, (*symbol).changes) {
			report(r.Pos, "still-wait", "read a fact that changes without the agent, such as a file, a program or git, or continue the agent instead of waiting",
				"the rule %q waits for what only the agent changes: nothing that its until reads changes while the agent does not work", r.Name)
		}
	}
}
