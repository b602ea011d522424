package rules

import (
	"fmt"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// unboundedContinue reports continue rules that never end if the agent changes nothing, except by ralph's own limits. A
// count that the agent should change (when: done < total) is no bound; one that the policy itself increases is.
func (a *analyzer) unboundedContinue() {
	own := defaultLimits()
	if l := a.p.head.limits; l.HasRepeats || l.Tokens > 0 || l.Continuations < own.Continuations || l.Total < own.Total || l.Elapsed < own.Elapsed {
		return
	}
	stopped := a.moves(a.p.head.when) // the policy's own when or an earlier stop rule ends the loop eventually
	for i, r := range a.p.rules {
		switch {
		case a.dead[i]:
		case r.stops() && r.Await == nil && a.moves(r.when):
			stopped = true
		case r.Verb == verbContinue && r.Unless == nil && !stopped && !a.moves(r.when):
			a.report("unbounded-continue", a.place(i),
				"add limits: {repeats: 10}, unless_repeated, a counter that the rule raises itself, or test stop_hook_active",
				fmt.Sprintf("the rule %q continues an agent that changes nothing until the built-in limits end the loop", r.Name), where(a.holds[i]), nil)
		}
	}
}

// moves reports whether a condition reads something that changes even if the agent changes nothing: the host's flag,
// loop memory, the time, a person's answer, or a value that the policy sets.
func (a *analyzer) moves(root *cond) bool {
	found := false
	root.walk(func(o *operand) {
		for _, s := range o.uses.syms {
			switch s.kind {
			case nameSymbol:
				found = found || s.name == vocab.StopHookActive || s.name == vocab.Now || s.name == vocab.Answer || s.info.Memory
			case memorySymbol:
				found = found || s.memory.set.Load()
			case askSymbol:
				found = found || s.ask == "age"
			case letSymbol:
				found = found || a.moves(s.let.root)
			}
		}
		for i := range o.uses.reads {
			found = found || a.sets(&o.uses.reads[i])
		}
	})
	return found
}

// sets reports whether a rule that does not stop changes what an operand reads.
func (a *analyzer) sets(read *access) bool {
	for _, r := range a.p.rules {
		if r.stops() {
			continue
		}
		for _, e := range r.then {
			if e.kind == SetEffect && e.fact == read.fact && e.reaches(read.path) {
				return true
			}
		}
	}
	return false
}

// reaches reports whether a set may change what is read at a path.
func (e *effect) reaches(path []string) bool {
	for i := range min(len(path), len(e.steps)) {
		if s := e.steps[i]; s.index == nil && path[i] != "*" && path[i] != s.field {
			return false
		}
	}
	return true
}
