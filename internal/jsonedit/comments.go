package jsonedit

import (
	"bytes"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// Uncommented returns src with comments, as in JavaScript, replaced by blanks, so that positions stay the same.
func Uncommented(src []byte) []byte {
	out := bytes.Clone(src)
	for _, c := range comments(src) {
		for i := c.start; i < c.end; i++ {
			if out[i] != '\n' && out[i] != '\r' {
				out[i] = ' '
			}
		}
	}
	return out
}

type comment struct{ start, end int }

// comments returns the comments of JSON that is valid without them.
func comments(src []byte) (found []comment) {
	jsontext.Value(src).Structure(func(start, end int) bool {
		if end > start+1 {
			found = append(found, comment{start, end})
		}
		return true
	})
	return found
}
