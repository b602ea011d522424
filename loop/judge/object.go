package judge

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// maxBraces bounds the positions to try in an answer.
const maxBraces = 100

// object returns the one JSON object of an answer. A fence and prose may surround it. Two objects are an error, because
// it is unclear which one counts, and so is an incomplete one.
func object(text string) (map[string]any, *Error) {
	bad := func(message string) (map[string]any, *Error) {
		return nil, &Error{Kind: BadAnswer, Message: message}
	}
	if strings.TrimSpace(text) == "" {
		return bad("the answer is empty")
	}
	var found map[string]any
	for range maxBraces {
		i := strings.IndexByte(text, '{')
		if i < 0 {
			if found == nil {
				return bad("the answer is prose, not a JSON object")
			}
			return found, nil
		}
		text = text[i:]
		dec := json.NewDecoder(strings.NewReader(text))
		dec.UseNumber()
		var v map[string]any
		switch err := dec.Decode(&v); {
		case err == nil && found != nil:
			return bad("the answer holds more than one JSON object")
		case err == nil:
			found = v
			text = text[dec.InputOffset():]
		case errors.Is(err, io.ErrUnexpectedEOF):
			return bad("the JSON object of the answer breaks off")
		default:
			text = text[1:] // a brace in the prose
		}
	}
	return bad("the answer holds more braces than an answer does")
}
