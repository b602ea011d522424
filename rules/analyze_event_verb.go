package rules

import (
	"fmt"
	"slices"

	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/rules/internal/analysis"
)

// eventVerb reports rules with a verb that hold only at events whose answer hosts ignore.
func (a *analyzer) eventVerb() {
	take := slices.DeleteFunc(slices.Clone(a.p.Events), a.watched)
	q := a.t.byKey["name hook_event_name"]
	if len(take) == len(a.p.Events) || len(take) > 0 && q == nil {
		return
	}
	var events []*analysis.Formula
	for _, e := range take {
		events = append(events, a.t.Is(&q.Quantity, e))
	}
	verbs := analysis.Or(events...)
	for i, r := range a.p.rules {
		if own(r) && r.Verb != "" && !a.dead[i] && a.impossible(a.holds[i], verbs) {
			a.report("event-verb", a.place(i), "remove "+string(r.Verb)+": notice, log and then work at these events",
				fmt.Sprintf("the rule %q holds only at StopFailure or SessionEnd, which take no %s: it never runs", r.Name, r.Verb))
		}
	}
}

// watched reports whether an event accepts no verb.
func (a *analyzer) watched(event string) bool {
	return vocab.Watched(event) && !slices.Contains(a.p.machine.compiler.load.cfg.Events, event)
}
