package rules

import (
	"fmt"
	"slices"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// eventsOfVerbs says that the event is one of those at which a rule may decide, nil if
// the policy lists no other one.
func (a *analyzer) eventsOfVerbs() *analysis.Formula {
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
		return analysis.False()
	case q == nil:
		return analysis.True()
	default:
		var events []*analysis.Formula
		for _, e := range take {
			events = append(events, a.t.Is(&q.Quantity, e))
		}
		return analysis.Or(events...)
	}
}

// watched reports whether an event takes no verb.
func (a *analyzer) watched(event string) bool {
	return vocab.Watched(event) && !slices.Contains(a.p.compiler.load.cfg.Events, event)
}

// eventVerb reports a rule with a verb that holds only where nothing can be decided.
func (a *analyzer) eventVerb(i int) {
	r := a.p.rules[i]
	if r.Verb == "" || a.verbs == nil || a.dead[i] || a.t.Answer(a.base, a.holds[i], a.verbs) != analysis.Unsat {
		return
	}
	from, to := a.place(i)
	a.report("event-verb", from, to, "leave "+string(r.Verb)+" out: notice, log and then work at these events",
		fmt.Sprintf("the rule %q holds only at StopFailure or SessionEnd, which take no %s: it never runs", r.Name, r.Verb), nil)
}
