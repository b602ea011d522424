package step

import "time"

// CommandKind is what a driver does next.
type CommandKind string

// The commands. Each but Finish is answered by inputs with its key.
const (
	Look    CommandKind = "look"    // look whether the loop exists, and make the plan's prompt the first one: Decided, NotStarted
	Decide  CommandKind = "decide"  // evaluate the policy: Decided, NotStarted
	Iterate CommandKind = "iterate" // start the agent: Iterated, NotStarted, Lost
	Merge   CommandKind = "merge"   // add the iteration's branch to that of the run: Merged, NotStarted
	Wait    CommandKind = "wait"    // until Until: Elapsed
	Finish  CommandKind = "finish"  // the run has ended
)

// Command is what a driver does next. What else it needs is in the state. A command with the key of the one before is
// the same: the driver continues it.
type Command struct {
	Kind CommandKind `json:"kind"`

	// Key is RUN/ITERATION/N. A command that a killed driver leaves has the same key when the run is resumed, so it is
	// the ID of the event that a Decide evaluates: a decision that is made twice counts once.
	Key string `json:"key,omitempty"`

	Timeout time.Duration `json:"timeout_ns,omitempty"` // Iterate
	Until   time.Time     `json:"until,omitzero"`       // Wait: when to answer with Elapsed
}
