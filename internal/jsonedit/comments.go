package jsonedit

import (
	"bytes"
	"errors"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// errComment is for a change that a comment is in the way of.
var errComment = errors.New("the change would remove a comment; move that comment first")

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

// Commented makes a change of Uncommented(src) in src itself. Every comment stays; a change that would take one away is an
// error.
func Commented(src []byte, change func(src []byte) ([]byte, error)) ([]byte, error) {
	found := comments(src)
	if len(found) == 0 {
		return change(src)
	}
	plain := Uncommented(src)
	edited, err := change(plain)
	if err != nil {
		return nil, err
	}
	// What is before and behind the change comes from src, comments as a whole.
	start, end := 0, len(plain)
	for start < len(plain) && start < len(edited) && plain[start] == edited[start] {
		start++
	}
	behind := len(edited)
	for end > start && behind > start && plain[end-1] == edited[behind-1] {
		end--
		behind--
	}
	for _, c := range found {
		if c.start < start && start < c.end {
			start = c.start
		}
		if c.start < end && end < c.end {
			behind += c.end - end
			end = c.end
		}
	}
	if start > behind {
		return nil, errComment
	}
	out := bytes.Join([][]byte{src[:start], edited[start:behind], src[end:]}, nil)
	if !bytes.Equal(Uncommented(out), edited) || len(comments(out)) != len(found) {
		return nil, errComment
	}
	return out, nil
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
