package rules

import (
	"fmt"
	"slices"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules/internal/solve"
)

// eventsOfVerbs says that the event is one of those at which a rule may decide, nil if
// the policy lists no other one.
func (a *analysis) eventsOfVerbs() *solve.Formula {
	var take []string
	for _, e := range a.p.Events {
		if !a.watched(e) {
			take = append(take, e)
		}
	}
	switch q := a.t.byKey["name hook_event_name"]; {
	case len(take) == len(a.p.Events):
		return nil
	case len(take) == 0:
		return solve.False()
	case q == nil:
		return solve.True()
	default:
		var events []*solve.Formula
		for _, e := range take {
			events = append(events, a.t.is(q, e))
		}
		return solve.Or(events...)
	}
}

// watched reports whether an event takes no verb.
func (a *analysis) watched(event string) bool {
	return vocab.Watched(event) && !slices.Contains(a.p.compiler.load.cfg.Events, event)
}

// eventVerb reports a rule with a verb that holds only where nothing can be decided.
func (a *analysis) eventVerb(i int) {
	r := a.p.rules[i]
	if r.Verb == "" || a.verbs == nil || a.dead[i] || a.answer(a.base, a.holds[i], a.verbs) != solve.Unsat {
		return
	}
	from, to := a.place(i)
	a.report("event-verb", from, to, "leave "+string(r.Verb)+" out: notice, log and then work at these events",
		fmt.Sprintf("the rule %q holds only at StopFailure or SessionEnd, which take no %s: it never runs", r.Name, r.Verb), nil)
}
