package rules

// LoopInfo is the loop that an event found.
type LoopInfo struct {
	Name  string `json:"name,omitempty"`  // the policy's name for it, at most 60 characters on one line; by default the file of its state
	State string `json:"state,omitempty"` // the file of its state, relative to the project root
	Owner string `json:"owner,omitempty"` // the session that owns it; "" is every session of the project
	Gone  bool   `json:"gone,omitempty"`  // it existed at the session's last decision and no longer does
}
