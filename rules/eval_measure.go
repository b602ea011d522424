package rules

import (
	"fmt"
	"math"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// measureShare is the divisor for the share of a budget that measure may spend.
const measureShare = 10

// measure evaluates the progress, after the decision and from what the decision read. It does not affect the verdict:
// errors are in the trace.
func (ev *evaluation) measure() {
	v := ev.verdict
	if len(ev.program.head.measure) == 0 || ev.untried != "" && (!ev.looking || v.Loop == nil) || ev.event.prompt() {
		return
	}
	decided, problems := ev.meter, len(ev.problems)
	ev.meter.limit = min(decided.limit, add(decided.spent, decided.limit/measureShare))
	ev.meter.look = 0
	ev.settled, ev.here.rendering = !ev.looking, true
	defer func() {
		if r := recover(); r != nil {
			ev.warn(public(fmt.Sprintf("measure: %v", r)))
		}
		spent := ev.meter.spent
		ev.meter = decided
		ev.meter.spent = min(spent, decided.limit)
		ev.settled, ev.here.rendering, ev.here.at = false, false, 0
		ev.problems = ev.problems[:problems]
	}()
	var amounts [2]float64
	for i, t := range ev.program.head.measure {
		s := ev.program.compiled(t)[0].segs[0]
		if s.broken {
			return
		}
		value, state := ev.value(s.placeholder)
		if state == unknown { // the decision did not read it
			return
		}
		if state != known {
			ev.warn(sentencef("measure: %s", ev.last.why))
			return
		}
		if ev.last.mark != nil {
			ev.warn(public("measure: it is made of something private, so it is left out"))
			return
		}
		amounts[i] = -1
		switch n := value.(type) {
		case int:
			amounts[i] = float64(n)
		case float64:
			amounts[i] = n
		}
		if !(amounts[i] >= 0) || math.IsInf(amounts[i], 1) {
			ev.warn(public("measure: " + s.src + " must be a number, 0 or more"))
			return
		}
	}
	v.Measure = &Measure{Done: amounts[0], Total: amounts[1]}
}

// unread reports whether the settled evaluation would read a symbol for the first time.
func (ev *evaluation) unread(s *symbol) bool {
	switch s.kind {
	case factSymbol:
		return true
	case askSymbol:
		return s.fact.plan.sym.slot >= len(ev.slots) || !ev.slots[s.fact.plan.sym.slot].seen
	case nameSymbol:
		return !s.info.Memory && s.name != vocab.Now
	}
	return false
}
