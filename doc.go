// Package ralph decides, each time a coding agent is about to stop, whether it may: from a policy file, in a Go program or as the agent's
// Stop hook. There is no code here. Begin with package rules, which decides:
//
//	p, err := rules.Parse("policy.yaml", src)
//	v, err := p.Eval(ctx, rules.Input{Values: map[string]any{"state": state}})
//
// Package loop also gathers facts, counts and keeps; package host answers the hooks of coding agents; cmd/ralph is the command.
package ralph
