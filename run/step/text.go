package step

import "strings"

// MaxText is the most bytes of a [Text] that a state has in itself.
const MaxText = 4 << 10

// Text is a string of a run that a step passes on and does not read: a prompt, the agent's last message, the memory of the
// loop. The driver keeps one longer than [MaxText] as a document, whose name is made from its content, so that a state
// stays small. The zero value is the empty text.
type Text struct {
	Text     string `json:"text,omitempty"`
	Document string `json:"document,omitempty"` // its name; Text is then ""
	Bytes    int    `json:"bytes,omitempty"`    // the length of the document
}

// IsZero reports whether the text is empty.
func (t Text) IsZero() bool { return t == Text{} }

// Len returns the length in bytes.
func (t Text) Len() int {
	if t.Document != "" {
		return t.Bytes
	}
	return len(t.Text)
}

// cut returns at most so many bytes of the beginning of s.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
