package rules

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// limits returns the policy's limits with their current values. Those on tokens, cost or a run are included only if
// something was read for them.
func (ev *evaluation) limits() []Limit {
	l, m := ev.program.head.limits, &ev.verdict.Memory
	all := []Limit{
		{"continuations", m.Streak, l.Continuations}, {"total", m.Total, l.Total},
		{"elapsed", int(m.elapsed(ev.event.now)), int(l.Elapsed)},
	}
	if l.HasRepeats {
		all = append(all, Limit{"repeats", ev.used.repeats, l.Repeats})
	}
	if ev.used.failed != "" {
		all = append(all, Limit{"failures", m.Failures, l.Failures})
	}
	if ev.used.iteration > 0 && l.Iterations > 0 {
		all = append(all, Limit{"iterations", ev.used.iteration, l.Iterations})
	}
	if ev.used.tokens > 0 {
		all = append(all, Limit{"tokens", ev.used.tokens, l.Tokens})
	}
	if ev.used.cost > 0 {
		all = append(all, Limit{"cost", millionths(ev.used.cost), millionths(l.Cost)})
	}
	return all
}

// millionths returns dollars in the unit of [Limit].
func millionths(dollars float64) int { return int(math.Round(min(dollars, 1e12) * 1e6)) }

// bound turns a continue into a stop if a limit is reached.
func (ev *evaluation) bound() {
	v, l, m, now := ev.verdict, ev.program.head.limits, &ev.verdict.Memory, ev.event.now
	progress, known := ev.progress()
	v.Progress = progress
	if !known {
		v.Progress = m.Progress
	}
	ev.used.repeats = m.repeats(progress, known)
	ev.account()
	switch elapsed := m.elapsed(now); {
	case ev.used.failed != "" && m.Failures >= l.Failures:
		v.Bound, v.Reason = "failures", fmt.Sprintf("the turn failed (%s)", ev.used.failed)
		if m.Failures > 0 {
			v.Reason = fmt.Sprintf("the turn failed (%s), and so did the %d before it", ev.used.failed, m.Failures)
		}
	case m.Streak >= l.Continuations:
		v.Bound, v.Reason = "continuations", fmt.Sprintf("the limit of %d continuations per prompt is reached", l.Continuations)
	case m.Total >= l.Total:
		v.Bound, v.Reason = "total", fmt.Sprintf("the limit of %d continuations per session is reached", l.Total)
	case v.Session.Streak >= ceilings().Continuations:
		v.Bound, v.Reason = "continuations", fmt.Sprintf("the limit of %d continuations per prompt, of all policies of the session, is reached", ceilings().Continuations)
	case v.Session.Total >= ceilings().Total:
		v.Bound, v.Reason = "total", fmt.Sprintf("the limit of %d continuations per session, of all policies, is reached", ceilings().Total)
	case l.HasRepeats && ev.used.repeats >= l.Repeats:
		v.Bound, v.Reason = "repeats", fmt.Sprintf("no progress in %d continuations (limits.repeats)", ev.used.repeats)
	case m.Streak > 0 && elapsed >= l.Elapsed:
		v.Bound, v.Reason = "elapsed", fmt.Sprintf("this streak has lasted %s, the limit is %s", elapsed.Round(time.Second), l.Elapsed)
	case l.Iterations > 0 && ev.used.iteration >= l.Iterations:
		v.Bound, v.Reason = "iterations", fmt.Sprintf("the limit of %d iterations is reached", l.Iterations)
	case l.Tokens > 0 && ev.used.tokens >= l.Tokens:
		v.Bound, v.Reason = "tokens", fmt.Sprintf("%d tokens are used, the limit is %d", ev.used.tokens, l.Tokens)
	case l.Cost > 0 && ev.used.cost >= l.Cost:
		v.Bound, v.Reason = "cost", fmt.Sprintf("the run has cost %.2f USD, the limit is %.2f", ev.used.cost, l.Cost)
	default:
		return
	}
	v.Action, v.Rule, v.Pos = Stop, "limits."+v.Bound, Pos{}
}

// account reads what limits on a session or run need: whether the turn failed, and what was used if a limit is set.
func (ev *evaluation) account() {
	l := &ev.program.head.limits
	if failed, ok := ev.builtin(vocab.TranscriptFailed, false).(map[string]any); ok {
		ev.used.failed, _ = failed["kind"].(string)
		if ev.used.failed == "" {
			ev.used.failed = "unknown"
		}
	}
	if l.Iterations == 0 && l.Tokens == 0 && l.Cost == 0 {
		return
	}
	ev.used.iteration, _ = ev.builtin(vocab.RunIteration, false).(int)
	if l.Tokens > 0 {
		name := vocab.TranscriptTotalTokens
		if ev.used.iteration > 0 {
			name = vocab.RunTokens
		}
		ev.used.tokens, _ = ev.builtin(name, true).(int)
	}
	if l.Cost > 0 && ev.used.iteration > 0 {
		switch cost := ev.builtin(vocab.RunCost, true).(type) {
		case int:
			ev.used.cost = float64(cost)
		case float64:
			ev.used.cost = cost
		}
	}
}

// builtin returns one of ralph's own names, even if the policy declares something else with that name. always records
// the read for a replay.
func (ev *evaluation) builtin(name string, always bool) any {
	i := slices.IndexFunc(ev.builtins, func(s *symbol) bool { return s.name == name })
	if i < 0 {
		i = len(ev.builtins)
		ev.program.machine.mu.Lock()
		ev.builtins = append(ev.builtins, ev.program.machine.compiler.nameSymbol(name))
		ev.program.machine.mu.Unlock()
	}
	at := ev.need(ev.builtins[i])
	if at.state != known {
		ev.report(*at.why)
		return nil
	}
	if ev.trace.full() && (always || at.value != nil && at.value != 0) {
		ev.noteInput(name, at.value, at.mark, false)
	}
	return at.value
}
