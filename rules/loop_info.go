package rules

// LoopInfo is the loop that an event found.
type LoopInfo struct {
	Name  string `json:"name,omitempty"`  // the policy's name for it, at most 60 characters on one line; by default the file of its state
	State string `json:"state,omitempty"` // the file of its state, relative to the project root
	Owner string `json:"owner,omitempty"` // the session that owns it; "" is every session of the project
	Gone  bool   `json:"gone,omitempty"`  // it existed at the session's last decision and no longer does
}

// Aside is why no rule was tried. "" is none of these reasons.
type Aside string

// The reasons. The first five are ordinary and not logged. The others are about an existing loop; a session sees once why
// it is not continued. A caller that does not evaluate a policy at all uses the words too, and Paused is only theirs.
const (
	NotListed  Aside = "event"     // the policy does not decide the event
	NotFor     Aside = "when"      // the policy's own when is not true
	NoLoop     Aside = "none"      // the state is missing
	Off        Aside = "off"       // on: is not true, or all loops are switched off
	Paused     Aside = "paused"    // ralph pause, until ralph resume
	Stopped    Aside = "stopped"   // ralph stop, until ralph start
	InRun      Aside = "run"       // a run of the policy is under way
	Foreign    Aside = "owner"     // the loop belongs to another session
	Distrusted Aside = "untrusted" // the user has not trusted the project of the loop
)

// Loop reports whether the reason is about an existing loop.
func (a Aside) Loop() bool {
	switch a {
	case Stopped, InRun, Foreign, Distrusted:
		return true
	}
	return false
}
