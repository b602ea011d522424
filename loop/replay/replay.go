// Package replay repeats recorded decisions: it evaluates a record of the decision log with a policy that may have
// changed since. It may change in any version.
//
// It never guesses. The log has no prompts, no transcripts and no whole files, only the values that rules read. If the
// policy now needs a value that the record lacks, the outcome is unknown and lists what is missing. The package reads
// only the record and changes nothing.
//
// It leaves out the texts for agent and user, and compares the verdict and the rule that decided.
//
// Start with [Decide].
package replay

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/internal/inputs"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Outcome compares a recorded decision with the repeated one. The zero Outcome is Unknown.
type Outcome uint8

// The outcomes.
const (
	Unknown Outcome = iota // the record lacks what the policy needs
	Same                   // the same verdict by the same rule
	Differs                // another verdict, or another rule
)

// String returns the outcome in words.
func (o Outcome) String() string { return [...]string{"unknown", "same", "differs"}[o] }

// MarshalText returns the outcome's word, for JSON.
func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// Verdict is the part of a decision that is compared.
type Verdict struct {
	Action rules.Action `json:"action"`
	Rule   string       `json:"rule,omitempty"` // "" if none decided
}

// String returns "continue by rule NAME", or "stop: no rule held".
func (v Verdict) String() string {
	if v.Rule == "" {
		return v.Action.String() + ": no rule held"
	}
	return v.Action.String() + " by rule " + v.Rule
}

// Result is the result for one record.
type Result struct {
	Time    time.Time `json:"time"`
	Policy  string    `json:"policy"` // as recorded
	Session string    `json:"session,omitempty"`
	Outcome Outcome   `json:"outcome"`
	Then    Verdict   `json:"then"`
	Now     Verdict   `json:"now"`           // undefined if the outcome is unknown
	Why     []string  `json:"why,omitempty"` // what the record lacks
}

// Decide repeats a recorded decision with the policy p.
func Decide(ctx context.Context, p *rules.Program, r loop.Record) Result {
	out := Result{
		Time: r.Time, Policy: r.Policy, Session: r.Session,
		Then: Verdict{Action: r.Action, Rule: r.Rule},
	}
	switch {
	case r.Cause.Failed() && (len(r.Trace.Steps) == 0 || !r.Cause.Undecided()):
		line, _, _ := strings.Cut(r.Reason, "\n")
		out.Why = []string{"the policy could not be followed then: " + line}
		return out
	case r.Cause.Untried():
		out.Why = []string{"no rule was tried then: " + r.Reason}
		return out
	}
	if slices.Contains(p.Events, r.Event) {
		w := &past{record: &r}
		v := p.Eval(ctx, w, w.options(p))
		out.Now = Verdict{Action: v.Action, Rule: v.Rule}
		w.check(p, v)
		if len(w.unknown) > 0 {
			out.Why = w.unknown
			return out
		}
	}
	out.Outcome = Differs
	if out.Then == out.Now {
		out.Outcome = Same
	}
	return out
}

// check finds what the evaluation read that the record lacks.
func (w *past) check(p *rules.Program, v *rules.Verdict) {
	for _, in := range v.Trace.Inputs {
		// With gate: all, a later rule can use what a text evaluated.
		if in.Reported && p.Gate == "first" {
			continue
		}
		switch _, ok := inputs.Known(w.record, in.Name); {
		case !ok && ofRecord(w.record, in.Name) == nil:
			w.miss("%s is not in the log", inputText(in.Name))
		case ok && in.Cut && !in.Reported: // its private parts are read only now
			w.miss("%s is in the log only in part", inputText(in.Name))
		}
	}
	for _, r := range p.Rules() {
		tried := func(s *rules.Step) bool { return s.Rule == r.Name }
		if _, ok := w.record.Repeated[r.Name]; !ok && r.Unless != nil && slices.ContainsFunc(v.Trace.Steps, tried) {
			w.miss("the log does not say how often the rule %s continued before", r.Name)
		}
	}
	s := w.record.Streak
	if s.Continuations > 0 && s.Progress != "" && v.Progress != "" && s.Progress != v.Progress && counts(p) {
		w.miss("progress is measured in another way now")
	}
}

// counts reports whether anything depends on loop.repeats.
func counts(p *rules.Program) bool {
	return p.Limits().HasRepeats || slices.ContainsFunc(p.Outline(), func(o rules.Outline) bool {
		return slices.ContainsFunc(o.Operands, func(text string) bool { return strings.Contains(text, vocab.LoopRepeats) })
	})
}

// inputText returns an input in words.
func inputText(name string) string {
	fact, pointer, ok := strings.Cut(name, "#")
	if !ok || pointer == "" {
		return fact
	}
	return fact + strings.ReplaceAll(pointer, "/", ".")
}

func (w *past) miss(format string, args ...any) {
	if why := fmt.Sprintf(format, args...); !slices.Contains(w.unknown, why) {
		w.unknown = append(w.unknown, why)
	}
}
