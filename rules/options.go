package rules

import "time"

// Options configure an evaluation. The zero Options decide a Stop with empty memory, no time, the default budget and a
// short trace.
type Options struct {
	// Event is the name of the event; "" means Stop. On UserPromptSubmit only notes have an effect; on StopFailure and
	// SessionEnd only rules without a verb are tried. A policy that does not list the event tries no rule, see [NotListed].
	Event string
	// Watch says that this event cannot be decided, such as a compaction on a host whose hooks cannot block it: rules
	// that decide are not tried.
	Watch bool
	// Time is the value of now. With the zero Time no time elapses.
	Time time.Time
	// Turn is the host's name for a prompt and its continuations. A value other than the remembered one begins a streak;
	// "" is the same prompt.
	Turn string
	// NewTurn says that the event is the first since a prompt, for hosts that do not name prompts. It counts only if Turn
	// is "".
	NewTurn bool

	// Run says that the event comes from ralph run, which itself owns the loop: the owner in the policy does not count.
	Run bool
	// Busy is the ID of the policy's live run in the project, for which sessions may stop. "" is none.
	Busy string
	// Untrusted is why the project is not trusted, completing the sentence "it is not used: …": a loop is reported and
	// not continued, no program runs in the project, and for a policy without a loop facts of its files are missing. ""
	// is a trusted project.
	Untrusted string
	// Stopped says that a person stopped the loop without removing its state: no session is continued until a start.
	Stopped bool
	// Policy is the policy's name in commands, for texts that name one; "" means Program.Name.
	Policy string

	// Allow lists what this evaluation may touch, as in Config, however the program was loaded: a policy that uses anything
	// else is not evaluated, and the agent may stop. nil allows everything. Do not change its elements.
	Allow []Capabilities

	Memory  Memory // of this loop
	Project Memory // shared by the loops of a project, for per: project
	Session Memory // shared by all policies of a session, for the ceilings and Memory.Of
	Budget  Budget
	Trace   TraceLevel
}

// TraceLevel is how much an evaluation records about its decision.
type TraceLevel uint8

// The levels of a trace.
const (
	TraceShort TraceLevel = iota // the rules that were reached, and their outcomes
	TraceFull                    // also operands, reads, facts and durations
	TraceClear                   // as TraceFull, with the words of the user and the agent: prompts, transcripts
)
