package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Reaches lists what of the policy reaches beyond the project and so needs approval, such as "runs go", "asks a model", "reads the
// variable HOME", "reads ~/notes.md"; empty if nothing does. It compiles the expressions of a lazy policy.
func (p *Policy) Reaches() []string {
	found := map[string]bool{}
	note := func(args []*template, as argument) {
		switch {
		case args == nil:
		case as == aProgram:
			found["runs "+args[0].lits[0]] = true
		case as < aProgram && strings.HasPrefix(args[0].lits[0], "~"):
			found["reads "+args[0].node.Value] = true
		}
	}
	for _, f := range p.Facts {
		note(f.args, f.source.argument)
		for key, args := range f.options {
			note(args, f.source.options[key])
		}
		if f.Source == "judge" && f.options["command"] == nil {
			found["asks a model"] = true
		}
	}
	effects := slices.Clone(p.start)
	for _, r := range p.rules {
		effects = append(effects, r.then...)
	}
	for _, x := range effects {
		note(x.args, x.as)
	}
	c := p.compiler
	for _, x := range c.expressions {
		x.ready(c)
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	for name := range c.symbols {
		if variable, ok := strings.CutPrefix(name, "env."); ok {
			found["reads the variable "+variable] = true
		}
	}
	return sortedKeys(found)
}

// Bound says in one sentence which limit ends a loop of this policy at the latest.
func (p *Policy) Bound() string {
	if !slices.ContainsFunc(p.Rules, func(r RuleInfo) bool { return r.Verb == "continue" }) {
		return "It never continues an agent."
	}
	l := p.Limits
	s := fmt.Sprintf("It continues a prompt at most %s (limits.continuations)", times(l.Continuations))
	if l.Total <= l.Continuations {
		s = fmt.Sprintf("It continues a session at most %s (limits.total)", times(l.Total))
	}
	if l.Repeats > 0 && l.Repeats < min(l.Continuations, l.Total) {
		s += fmt.Sprintf(", and at most %s without progress (limits.repeats)", times(l.Repeats))
	}
	if l.Elapsed < 24*time.Hour {
		s += fmt.Sprintf(", for at most %v (limits.elapsed)", l.Elapsed)
	}
	return s + "."
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}
