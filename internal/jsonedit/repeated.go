package jsonedit

import (
	"bytes"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// Repeated returns the first key that an object repeats, with its position, from 1. It checks the key name of the
// outermost object and everything within its values. src must be a JSON object.
func Repeated(src []byte, name string) (key string, line, col int, ok bool) {
	v := jsontext.Value(bytes.TrimPrefix(src, bom))
	seen := false
	for c := v.Members(); c.Next(); {
		if string(c.Key) != name {
			continue
		}
		at := c.KeyStart
		if !seen {
			seen, at = true, repeated(v, c.Start)
		}
		if at >= 0 {
			line, col = v.LineCol(at)
			return v[at:v.EndOfString(at)].Text(), line, col, true
		}
	}
	return "", 0, 0, false
}

// repeated returns the offset of the first duplicate key in the value at i, or -1.
func repeated(v jsontext.Value, i int) int {
	seen := map[string]bool{}
	for c := v.At(i); c.Next(); {
		if c.Key != nil {
			if seen[string(c.Key)] {
				return c.KeyStart
			}
			seen[string(c.Key)] = true
		}
		if at := repeated(v, c.Start); at >= 0 {
			return at
		}
	}
	return -1
}
