package rules

import "time"

// LanguageVersion is the version of the policy language that this package reads,
// the value of the top-level key ralph.
const LanguageVersion = 1

// KnownEvents are the hook events that a policy can list, under Claude Code's names.
func KnownEvents() []string { return []string{"Stop", "SubagentStop", "UserPromptSubmit"} }

// Verb is what a rule does when it holds. The zero Verb decides nothing.
type Verb uint8

// The verbs.
const (
	NoVerb       Verb = iota
	VerbContinue      // the agent goes on
	VerbStop          // the agent may stop
	VerbNote          // the person is told
)

// String gives the key of the policy language.
func (v Verb) String() string {
	return [...]string{"", "continue", "stop", "note"}[v]
}

// Gate tells how many continue rules are heard.
type Gate uint8

// The gates.
const (
	First Gate = iota // the first rule that holds decides
	All               // every continue rule that holds is told
)

// gateWords are the words of the gates, in their order.
func gateWords() []string { return []string{"first", "all"} }

// Per tells which verdicts unless_repeated counts together.
type Per uint8

// The spans of counting.
const (
	PerSession Per = iota
	PerPrompt
	PerProject
)

// String gives the word of the policy language.
func (p Per) String() string {
	return perWords()[p]
}

// perWords are the words of the spans, in their order.
func perWords() []string { return []string{"session", "prompt", "project"} }

// Unless makes a rule step aside after it has been in Times verdicts within
// Within (0 means ever).
type Unless struct {
	Times  int
	Within time.Duration
	Per    Per
}

// Limits are the bounds of a loop, which hold whatever its rules say.
type Limits struct {
	Continuations int           // in a row
	Repeats       int           // in a row without progress; 0 with Set false means no bound
	Elapsed       time.Duration // since the first continuation of the row
	Total         int           // in a session
	HasRepeats    bool
	Written       bool // the policy states limits of its own
}

// defaultLimits end every loop, also one whose policy forgot to.
func defaultLimits() Limits {
	return Limits{Continuations: 500, Total: 5000, Elapsed: 24 * time.Hour}
}
