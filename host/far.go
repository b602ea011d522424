package host

import (
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// readFar searches the records before the tail for the beginning of the turn. It recognizes results of tools by their
// first bytes and skips them. Options.MaxBytes bounds what it keeps of the others, as in the tail.
func (s *Session) readFar() error {
	lines := newFar(s.tail.r, s.tail.rest(), s.options.SearchBytes, s.tail.cancelled)
	defer func() { s.searched, s.turn.cut = lines.read, !s.turn.found && (!lines.done || lines.cut) }()
	for room := s.options.MaxBytes; room > 0; {
		line, long, ok, err := lines.line()
		if err != nil || !ok {
			return err
		}
		if len(line) > farGlance && silent(line[:farGlance]) {
			continue
		}
		if long {
			return nil // the record is too long to see who wrote it
		}
		e := s.records.read(line, s.options.Subagent)
		if e.kind == result {
			continue
		}
		room -= 256 + int64(len(e.id))
		for i := range e.parts {
			e.parts[i].value = nil // it is in the window
			room -= int64(len(e.parts[i].text)) + 16
		}
		e.changed, e.results = nil, nil
		if s.take(e) {
			return nil
		}
	}
	return nil
}

// silent reports whether the beginning of a record shows that neither the user nor the agent wrote it: it is a tool's
// result or a note of the host. In doubt it returns false.
func silent(head []byte) bool {
	r := readRecord(head, false, nil)
	switch r.typ {
	case "tool_result", "tool.execution_complete", "progress", "event_msg":
		return true
	case "response_item":
		return strings.HasSuffix(readFields(r.get("payload"), nil).text("type"), "_call_output")
	case "user":
		message := r.get("message")
		return r.get("toolUseResult").There() || message.HasToken(`"tool_result"`) ||
			message == nil && readFields(first(r.get("content")), nil).get("functionResponse").There()
	}
	return false
}

// first returns the first element of a list, or its beginning.
func first(list jsontext.Value) jsontext.Value {
	c := list.Elements()
	if c.Next() {
		return c.Value
	}
	return c.Torn
}
