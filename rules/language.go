package rules

import "time"

// languageVersion is the version of the policy language: the value of the top-level key ralph.
const languageVersion = 1

// The verbs of the policy language. Those of a verdict are the words of its [Action].
const (
	verbContinue = "continue" // the agent must continue
	verbStop     = "stop"     // the agent may stop
	verbAsk      = "ask"      // the agent may stop, and a person is asked
	verbWait     = "wait"     // the agent may stop, until something has happened
	verbNote     = "note"     // the user sees a text
)

// verb is a key of a rule that says what the rule does. A rule has at most one.
type verb struct{ word, example string } // an example of its text

// verbs returns the verbs, in the order of the documentation: the parser, the schema and messages have them from here.
func verbs() []verb {
	return []verb{
		{verbContinue, "Continue with the next item"}, {verbStop, "the work is done"}, {verbAsk, "Which of the two designs do you want?"}, {verbWait, "CI is running"}, {verbNote, "three items are open"},
	}
}

// verbWords returns the keys of verbs.
func verbWords() (words []string) {
	for _, v := range verbs() {
		words = append(words, v.word)
	}
	return words
}

// gateWords returns the values of gate: the first rule that holds decides, or every continue rule that holds counts.
func gateWords() []string { return []string{gateFirst, gateAll} }

const (
	gateFirst = "first"
	gateAll   = "all"
)

// Scopes for counts of unless_repeated and for values of memory.
const (
	perSession = "session"
	perPrompt  = "prompt"
	perProject = "project"
)

// perWords returns the scopes of unless_repeated, memoryPer those of memory.
func perWords() []string  { return []string{perSession, perPrompt, perProject} }
func memoryPer() []string { return []string{perSession, perProject} }

// emptyWords returns what empty: can say.
func emptyWords() []string { return []string{"ok"} }

// haltWords returns what on_unknown: can say.
func haltWords() []string { return []string{verbStop} }

// Unless makes ralph skip a rule after it has been in Times verdicts within Within (0 means ever).
type Unless struct {
	Times  int
	Within time.Duration
	Per    string // the scope of the count: session, prompt or project
}

// Await is how a rule waits.
type Await struct {
	Every time.Duration // how often a run evaluates its until
	For   time.Duration // the longest wait
	// Woken says that only the host's own work ends the wait, in the background or by a wake-up: then the host starts the agent
	// again. After any other wait in a hook nothing does.
	Woken bool
}

// The bounds of a wait.
const (
	leastEvery   = 10 * time.Second
	defaultEvery = time.Minute
	maxWait      = 24 * time.Hour
)

// Limits end a loop, whatever its rules decide. A policy can replace the defaults, up to maximums: 10,000 continuations
// per prompt, 100,000 per session, 30 days, 10,000 iterations. Those of continuations count for all policies of a
// session, in all directories.
type Limits struct {
	Continuations int           `json:"continuations"`        // per prompt, that is, in a streak
	Repeats       int           `json:"repeats,omitempty"`    // in a streak without progress; valid if HasRepeats
	Elapsed       time.Duration `json:"elapsed_ns"`           // since the first continuation of the streak
	Total         int           `json:"total"`                // in a session, of policies with this name or this content
	Tokens        int           `json:"tokens,omitempty"`     // of the session or the run; 0 is no limit
	Failures      int           `json:"failures,omitempty"`   // consecutive continuations after a turn that failed
	Iterations    int           `json:"iterations,omitempty"` // of a run; 0 leaves it to the runner's own limit
	Cost          float64       `json:"cost,omitempty"`       // of a run, in US dollars; 0 is no limit
	HasRepeats    bool          `json:"has_repeats,omitempty"`
	Written       bool          `json:"-"` // the policy sets limits
	Progress      bool          `json:"-"` // the policy declares progress; otherwise Repeats is a limit of continuations
}

// defaultLimits returns the limits of a policy that sets none.
func defaultLimits() Limits {
	return Limits{Continuations: 500, Total: 5000, Elapsed: 24 * time.Hour}
}

// ceilings returns the maximums of limits.
func ceilings() Limits {
	return Limits{Continuations: 10_000, Repeats: 10_000, Total: 100_000, Elapsed: 30 * 24 * time.Hour, Failures: 10_000, Iterations: 10_000}
}

// count returns the field of a limit that is a whole number, by its key.
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

// capped returns a limit, or its maximum if it is above. 0 is no maximum.
func capped[T int | time.Duration](value, most T) T {
	if most > 0 {
		return min(value, most)
	}
	return value
}
