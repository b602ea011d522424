package step

import (
	"encoding/json"
	"strings"
)

// MaxText is the most bytes that the JSON form of a [Text] has in a state.
const MaxText = 4 << 10

// Fits reports whether a text may be in a state. JSON escapes some characters, so shorter ones than [MaxText] may not.
func Fits(text string) bool { return size(text) <= MaxText }

// size returns the length of the JSON form of s, without its quotes.
func size(s string) int {
	b, _ := json.Marshal(s)
	return len(b) - len(`""`)
}

// Text is a string of a run that a step passes on and does not read: a prompt, the agent's last message, the memory of the
// loop. The driver keeps one that does not fit ([Fits]) as a document, whose name is made from its content, so that a
// state stays small. The zero value is the empty text.
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

// cut returns the beginning of s, whose JSON form has at most so many bytes.
func cut(s string, most int) string {
	if len(s) <= most && size(s) <= most {
		return s
	}
	const more = "…"
	s = strings.ToValidUTF8(s[:min(len(s), most)], "")
	for size(s) > most-len(more) { // a byte has at most six in JSON
		s = strings.ToValidUTF8(s[:len(s)-1-(size(s)-most+len(more))/6], "")
	}
	return s + more
}
