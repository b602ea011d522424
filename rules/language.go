package rules

import "time"

// languageVersion is the version of the policy language that this package reads, the
// value of the top-level key ralph.
const languageVersion = 1

// What a rule does when it holds; the keys of the policy language.
const (
	verbContinue = "continue" // the agent goes on
	verbStop     = "stop"     // the agent may stop
	verbNote     = "note"     // the user is shown a text
)

// gateWords are the words of gate: the first rule that holds decides, or every
// continue rule that holds counts.
func gateWords() []string { return []string{gateFirst, gateAll} }

const (
	gateFirst = "first"
	gateAll   = "all"
)

// What unless_repeated counts together, and what a value of the memory belongs to.
const (
	perSession = "session"
	perPrompt  = "prompt"
	perProject = "project"
)

// perWords are the words of unless_repeated, memoryPer those of a value of the memory.
func perWords() []string  { return []string{perSession, perPrompt, perProject} }
func memoryPer() []string { return []string{perSession, perProject} }

// Unless makes a rule step aside after it has been in Times verdicts within
// Within (0 means ever).
type Unless struct {
	Times  int
	Within time.Duration
	Per    string // what is counted together: session, prompt or project
}

// Limits end a loop, whatever its rules say. A policy can write others than the
// defaults, up to ceilings: 10,000 continuations in a streak, 100,000 in a session,
// 30 days, 10,000 iterations.
type Limits struct {
	Continuations int           `json:"continuations"`        // in a streak
	Repeats       int           `json:"repeats,omitempty"`    // in a streak without progress; counts if HasRepeats
	Elapsed       time.Duration `json:"elapsed_ns"`           // since the first continuation of the streak
	Total         int           `json:"total"`                // in a session
	Tokens        int           `json:"tokens,omitempty"`     // of the session, or of the run; 0 is no limit
	Failures      int           `json:"failures,omitempty"`   // continuations in a row after a turn that failed
	Iterations    int           `json:"iterations,omitempty"` // of a run; 0 is no limit, and who runs it has one of its own
	Cost          float64       `json:"cost,omitempty"`       // of a run, in US dollars; 0 is no limit
	HasRepeats    bool          `json:"has_repeats,omitempty"`
	Written       bool          `json:"-"` // the policy states limits of its own
}

// defaultLimits end every loop, also one whose policy forgot to.
func defaultLimits() Limits {
	return Limits{Continuations: 500, Total: 5000, Elapsed: 24 * time.Hour}
}

// ceilings are the limits that no policy exceeds.
func ceilings() Limits {
	return Limits{Continuations: 10_000, Repeats: 10_000, Total: 100_000, Elapsed: 30 * 24 * time.Hour, Failures: 10_000, Iterations: 10_000}
}

// count gives where a limit that is a whole number is kept, by its key.
func (l *Limits) count(key string) *int {
	switch key {
	case "continuations":
		return &l.Continuations
	case "repeats":
		return &l.Repeats
	case "total":
		return &l.Total
	case "tokens":
		return &l.Tokens
	case "failures":
		return &l.Failures
	case "iterations":
		return &l.Iterations
	}
	return nil
}

// capped is a limit, or its ceiling if it lies above. 0 is no ceiling.
func capped[T int | time.Duration](value, most T) T {
	if most > 0 {
		return min(value, most)
	}
	return value
}
