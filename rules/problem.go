package rules

// Problem is what keeps a decision from using a fact, a field or a rule as it is
// written. It is shown to the user once in a session, and is in the log each time.
type Problem struct {
	Fact    string `json:"fact,omitempty"`    // the fact, "" if the problem is not about one
	Field   string `json:"field,omitempty"`   // JSON pointer into the fact, "" for all of it
	File    string `json:"file,omitempty"`    // its file, from the root of the project
	Pos     Pos    `json:"pos,omitzero"`      // the place in that file, or in the policy; zero if not known
	Text    string `json:"text"`              // what is wrong, where, and what to write, as a user reads it
	Private bool   `json:"private,omitempty"` // Text quotes what logs do not show
	Seen    bool   `json:"seen,omitempty"`    // the session saw it before, or the event shows no notices: it is for the log alone
}

// String returns the text.
func (p Problem) String() string { return p.Text }

// Masked returns the text as a log may keep it.
func (p Problem) Masked() string {
	if p.Private {
		return sizeOnly(p.Text)
	}
	return p.Text
}
