package host

import (
	"bytes"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// readFar searches the records before those of the tail for the beginning of the turn. Results of tools are skipped by
// their first bytes. What is kept of the others is bounded by Options.MaxBytes, as it is of those behind them.
func (s *Session) readFar() error {
	lines := newFar(s.tail.r, s.tail.rest(), s.options.SearchBytes, s.tail.cancelled)
	defer func() { s.searched, s.cut = lines.read, !s.found && (!lines.done || lines.cut) }()
	for room := s.options.MaxBytes; room > 0; {
		line, long, ok, err := lines.line()
		if err != nil || !ok {
			return err
		}
		if len(line) > farGlance && silent(line[:farGlance]) {
			continue
		}
		if long {
			return nil // who speaks in it, and what, cannot be said
		}
		e := parseRecord(line, s.options.Subagent)
		if e.kind == result {
			continue
		}
		known := len(s.entries)
		if s.take(e) {
			return nil
		}
		for _, e := range s.entries[known:] {
			room -= e.size()
		}
	}
	return nil
}

// size is about how much memory an entry takes.
func (e entry) size() int64 {
	n := 256 + len(e.id)
	for _, s := range e.texts {
		n += len(s) + 16
	}
	for _, s := range e.tools {
		n += len(s) + 16
	}
	return int64(n)
}

// silent reports whether the beginning of a record shows that neither the user nor the agent speaks in it, since it is
// what a tool gave back or a note of the host. If it cannot be seen, they may.
func silent(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\ufeff"))
	var r record
	c := jsontext.Value(head).Members()
	for c.Next() {
		r.set(c.Key, c.Value)
	}
	switch string(c.Key) { // where the beginning ends
	case "message", "content", "payload", "toolUseResult":
		if c.Torn != nil {
			r.set(c.Key, c.Torn)
		}
	}
	switch r.typ {
	case "tool_result", "tool.execution_complete", "progress", "event_msg":
		return true
	case "response_item":
		return strings.HasSuffix(begun(r.payload.Members(), "type").Text(), "_call_output")
	case "user":
		return r.toolUseResult.There() || r.message.HasToken(`"tool_result"`) ||
			r.message == nil && begun(begun(r.content.Elements(), "").Members(), "functionResponse").There()
	}
	return false
}

// begun is the value of the first member with that name, or of a list the first element: the beginning of it, if its end
// is not there; nil if there is none.
func begun(c jsontext.Cursor, name string) jsontext.Value {
	for c.Next() {
		if string(c.Key) == name {
			return c.Value
		}
	}
	if string(c.Key) == name {
		return c.Torn
	}
	return nil
}
