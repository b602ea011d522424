package run

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/text"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Words returns what to show a person of an input, when the state is the one after it: a line for each iteration, one for a rest, two for
// the beginning and the end, and the notice of a decision; nothing for a decision that only continues. The texts are safe for a terminal.
func Words(in Input, s State) (lines []string) {
	say := func(format string, args ...any) { lines = append(lines, text.Line(fmt.Sprintf(format, args...))) }
	l := s.Plan.Limits
	switch in.Kind {
	case Begin:
		say("run %s: policy %s, at most %d iterations and %v", s.Plan.ID, s.Plan.Name, l.Max, l.For)
		say("  agent: %s", strings.Join(s.Plan.Args, " "))
	case Resume:
		say("run %s goes on after iteration %d of %d, with %v left", s.Plan.ID, s.Iteration, l.Max, s.left().Round(time.Second))
	case Iterated:
		say("iteration %d of %d: %s", s.Iteration, l.Max, in.Iteration.words())
	case Decided:
		for line := range strings.Lines(in.Decision.Notice) {
			if s.End == nil || s.End.Reason == "" || !strings.Contains(line, s.End.Reason) { // else the end says it
				say("%s", strings.TrimSpace(line))
			}
		}
	}
	if s.Phase == Resting && s.End == nil && in.Kind != Rested {
		say("it rests until %s", s.Until.Local().Format(time.DateTime))
	}
	if s.End != nil {
		count := "1 iteration"
		if s.Iteration != 1 {
			count = fmt.Sprintf("%d iterations", s.Iteration)
		}
		say("%s (%s, %v%s)", s.End.words(), count, s.Spent.Elapsed.Round(time.Second), spent(s.Spent.Tokens, &s.Spent.Cost))
		if s.End.Outcome != rules.Done {
			say("go on with: %s", s.again())
		}
	}
	return lines
}

func (it Iteration) words() string {
	s := fmt.Sprintf("%s in %v%s", strings.ReplaceAll(it.Outcome, "_", " "), it.Took.Round(time.Second/10), spent(it.Tokens, it.Cost))
	if len(it.Denied) > 0 {
		s += "; not allowed: " + strings.Join(it.Denied, ", ")
	}
	if it.Problem != "" {
		s += "; " + it.Problem
	}
	return text.Cut(s, 500)
}

func (e End) words() string {
	s := string(e.Outcome)
	if e.Rule != "" {
		s += " by " + e.Rule
	}
	if e.Reason != "" {
		s += ": " + e.Reason
	}
	return s
}

func spent(tokens int, cost *float64) (s string) {
	if tokens > 0 {
		s = fmt.Sprintf(", %d tokens", tokens)
	}
	if cost != nil && *cost > 0 {
		s += fmt.Sprintf(", $%.2f", *cost)
	}
	return s
}

// again returns the command that goes on with a run.
func (s State) again() string {
	command, l := "ralph run --resume "+s.Plan.ID, s.Plan.Limits
	switch {
	case s.End.Outcome == loop.Off:
		return "ralph start; " + command
	case s.End.Rule == "--max":
		return fmt.Sprintf("%s --max %d", command, 2*l.Max)
	case s.End.Rule == "--for":
		return fmt.Sprintf("%s --for %v", command, 2*l.For)
	case s.End.Rule == "--budget":
		return fmt.Sprintf("%s --budget %g", command, 2*l.Budget)
	}
	return command
}
