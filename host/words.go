package host

import (
	"slices"
	"strings"
)

// Words returns the texts that said, promised and mentions search: the agent's own words in the current turn. s is nil
// if there is no transcript; last is the agent's final message from the hook input, "" if it has none.
//
// The file may lag behind the input, and words of an earlier turn must not count:
//
//  1. Without last, Words returns the words of the file.
//  2. If the file's current turn holds last, the file is up to date, and Words returns its words.
//  3. If the file's current turn is still open there (it begins with the prompt and says nothing yet, or its end is a
//     tool call, a tool's result, or a message whose text has not come), then last is what follows: they are the words
//     of the file, then last.
//  4. Otherwise the file ends with a final text that is not last, so it ends in an earlier turn: last alone counts.
//     The same holds for plain text, in which turns cannot be distinguished.
func Words(s *Session, last string) []string {
	blank := strings.TrimSpace(last) == ""
	switch {
	case s == nil && blank:
		return nil
	case s == nil:
		return []string{last}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.own()
	switch {
	case blank, slices.ContainsFunc(own, func(text string) bool { return strings.TrimSpace(text) == strings.TrimSpace(last) }):
		return own
	case !s.plain && s.open():
		return append(own, last)
	}
	return []string{last}
}

// open reports whether the agent had not finished its current turn when the file was written.
func (s *Session) open() bool {
	for _, e := range s.current() {
		switch e.kind {
		case assistant:
			return e.open || e.has(used) || !e.has(said)
		case result:
			return true
		}
	}
	return true
}
