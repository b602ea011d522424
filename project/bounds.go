package project

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/amount"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/run"
)

// Bounds returns what ends every loop of the policy at the latest, without what something else always ends earlier; most
// is the number of iterations that a start sets in the loop's file, or 0.
func (p Policy) Bounds(most int) string {
	l := p.Program.Limits()
	var ends []string
	if most > 0 {
		ends = append(ends, amount.Of(most, "iteration")+" (--max)")
	}
	n, ends := streak(l, ends)
	n = min(n, l.Total)
	if n < l.Total {
		ends = append(ends, amount.Of(n, "continuation")+" per prompt")
	}
	ends = append(ends, amount.Of(l.Total, "continuation")+" per session")
	if l.Tokens > 0 {
		ends = append(ends, amount.Of(l.Tokens, "token"))
	}
	return bounds(append(ends, amount.Time(l.Elapsed)))
}

// Bounded returns the sentence about the policy's bounds, with its name, or "" if no rule continues an agent.
func (p Policy) Bounded() string {
	if !slices.ContainsFunc(p.Program.Rules(), func(r *rules.Rule) bool { return r.Verb == "continue" }) {
		return ""
	}
	return p.Short() + strings.TrimPrefix(p.Bounds(0), "it")
}

// Waits returns the sentence about rules after whose wait no hook starts the agent again, or "" if there are none.
func (p Policy) Waits() string {
	var names []string
	for _, r := range p.Program.Rules() {
		if r.Await != nil && !r.Await.Woken {
			names = append(names, r.Name)
		}
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf("%s waits (%s): in a hook nothing starts the agent again, so send a prompt once the wait is over; a run continues by itself", p.Short(), strings.Join(names, ", "))
}

// Bounds returns what ends the run at the latest.
func (r *Run) Bounds() string {
	l, own := r.policy.Program.Limits(), r.limits()
	n, ends := streak(l, []string{amount.Of(own.Iterations, "iteration")})
	if n = min(n, l.Total); n < own.Iterations {
		ends = append(ends, amount.Of(n, "continuation"))
	}
	if own.Tokens > 0 {
		ends = append(ends, amount.Of(own.Tokens, "token"))
	}
	if own.Cost > 0 {
		ends = append(ends, fmt.Sprintf("%.2f US dollars", own.Cost))
	}
	if own.Window > 0 {
		ends = append(ends, fmt.Sprintf("%.0f%% of the usage window", own.Window))
	}
	return bounds(append(ends, amount.Time(own.Elapsed)))
}

// limits returns the limits that end the run: those of the run and of its policy.
func (r *Run) limits() run.Limits {
	l, own := r.policy.Program.Limits(), r.runner.Limits()
	return run.Limits{Iterations: least(own.Iterations, l.Iterations), Elapsed: least(own.Elapsed, l.Elapsed), Tokens: least(own.Tokens, l.Tokens), Cost: least(own.Cost, l.Cost), Window: own.Window}
}

// least returns the lower one of two limits, of which 0 is none.
func least[T cmp.Ordered](a, b T) T { return min(cmp.Or(a, b), cmp.Or(b, a)) }

// streak returns the most continuations of a streak, and adds the limit on those without progress if it is another one.
func streak(l rules.Limits, ends []string) (int, []string) {
	switch {
	case !l.HasRepeats || l.Repeats >= l.Continuations:
	case !l.Progress:
		return l.Repeats, ends
	default:
		ends = append(ends, amount.Of(l.Repeats, "continuation")+" without progress")
	}
	return l.Continuations, ends
}

// bounds returns the sentence about limits, of which the last is a time.
func bounds(ends []string) string {
	last := len(ends) - 1
	return "it ends at the latest after " + strings.Join(ends[:last], ", ") + " or " + ends[last]
}
