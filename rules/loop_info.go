package rules

// LoopInfo is the loop that an event found.
type LoopInfo struct {
	Name  string `json:"name,omitempty"`  // the policy's name for it, at most 60 characters on one line; by default the file of its state
	State string `json:"state,omitempty"` // the file of its state, relative to the project root
	Owner string `json:"owner,omitempty"` // the session that owns it; "" is every session of the project
	Gone  bool   `json:"gone,omitempty"`  // it existed at the session's last decision and no longer does
}

// Aside is why a policy with a loop does not apply to an event. "" is none of these reasons.
type Aside string

// The reasons. NoLoop and Off are ordinary and not logged. The others are about an existing loop; a session sees once
// why it is not continued.
const (
	NoLoop     Aside = "none"      // the state is missing
	Off        Aside = "off"       // on: is not true
	Stopped    Aside = "stopped"   // ralph stop, until ralph start
	InRun      Aside = "run"       // a run of the policy is under way
	Foreign    Aside = "owner"     // the loop belongs to another session
	Distrusted Aside = "untrusted" // the user has not trusted the project of the loop
)
