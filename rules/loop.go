package rules

// LoopInfo is the loop that an event found.
type LoopInfo struct {
	Name  string `json:"name,omitempty"`  // what the policy calls it, at most 60 characters on one line; the file of its state by default
	State string `json:"state,omitempty"` // file of its state, from the root of the project
	Owner string `json:"owner,omitempty"` // the session that it belongs to; "" is every session of the project
	Gone  bool   `json:"gone,omitempty"`  // the file of its state was removed since the session's last decision
}

// Aside says why a policy with a loop is not for an event. "" is none of these reasons.
type Aside string

// The reasons. NoLoop and Off are ordinary: nothing is logged. The others are about a
// loop that exists, and a session sees once why it is not continued.
const (
	NoLoop     Aside = "none"      // the state is missing
	Off        Aside = "off"       // on: is not true
	Stopped    Aside = "stopped"   // ralph stop, until ralph start
	InRun      Aside = "run"       // a run of the policy is under way
	Foreign    Aside = "owner"     // the loop belongs to another session
	Distrusted Aside = "untrusted" // the user has not trusted the project of the loop
)
