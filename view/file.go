package view

// contents says what a file has.
type contents struct {
	What      string `json:"what"` // a session, a run, or the latest decisions
	Decisions int    `json:"decisions"`
	From      string `json:"from,omitempty"`
	To        string `json:"to,omitempty"`
	Output    bool   `json:"output"` // what the agent printed is in it
}
