package rules

// Problem is why a decision could not use a fact, a field or a rule as it is written. The user sees it once in a
// session, and the log has it each time.
type Problem struct {
	Fact    string `json:"fact,omitempty"`    // the fact, "" if the problem has none
	Field   string `json:"field,omitempty"`   // JSON pointer into the fact, "" for all of it
	File    string `json:"file,omitempty"`    // the fact's file, relative to the project root
	Pos     Pos    `json:"pos,omitzero"`      // the position in that file, or in the policy; zero if unknown
	Text    string `json:"text"`              // what is wrong, where, and what to write, for the user
	Private bool   `json:"private,omitempty"` // Text contains what logs do not show
	Seen    bool   `json:"seen,omitempty"`    // the session has seen it, or the event shows no notices: only logged
}

// String returns the text.
func (p Problem) String() string { return p.Text }
