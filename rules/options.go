package rules

import "time"

// Options say how to evaluate. The zero Options decide a Stop on an empty memory,
// at no time, with the default budget and a short trace.
type Options struct {
	// Event is the name of the event; "" means Stop. On UserPromptSubmit rules only
	// note, on StopFailure and SessionEnd those without a verb run. A policy that does
	// not list the event is idle.
	Event string
	// Watch says that nothing can be decided at this event, such as a compaction on a
	// host that lets no hook block it: rules that continue or stop are not tried.
	Watch bool
	// Time is the value of now. With the zero Time nothing elapses.
	Time time.Time
	// Turn is the host's name for the turn. Another value than the remembered one
	// begins a streak; "" is the same turn.
	Turn string
	// NewTurn says that the event is the first of a turn, for hosts that do not name
	// turns. It counts only where Turn is "".
	NewTurn bool

	// Run says that the event is one of ralph run, which owns the loop itself: the owner that
	// the policy names does not count.
	Run bool
	// Busy is the ID of a run of the policy that is under way in the project; sessions then
	// step aside. "" is none.
	Busy string
	// Untrusted says why what the project brings does not count, as the rest of "it is not
	// used: …": a loop is reported and not continued, no program runs in the project, and to a
	// policy without a loop facts of its files are missing. "" is a project that counts.
	Untrusted string
	// Policy is what commands call the policy, for texts that name one; "" is Program.Name.
	Policy string

	Memory  Memory // of this loop
	Project Memory // shared by the loops of a project, for per: project
	Budget  Budget
	Trace   TraceLevel
}

// TraceLevel is how much an evaluation records of how it decided.
type TraceLevel uint8

// The levels of a trace.
const (
	TraceShort TraceLevel = iota // the rules that were reached, and what became of them
	TraceFull                    // operands, reads, facts and durations too
	TraceClear                   // a full one with private values: prompts, transcripts, environment
)
