package jsonedit

import (
	"bytes"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// Uncommented gives src with blanks in the place of comments, as JavaScript has them. All else keeps its place.
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

// comments finds the comments of JSON that is valid but for them.
func comments(src []byte) (found []comment) {
	jsontext.Value(src).Structure(func(start, end int) bool {
		if end > start+1 {
			found = append(found, comment{start, end})
		}
		return true
	})
	return found
}
