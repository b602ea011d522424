package host

import (
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// codex reads a record of Codex: the items of the conversation are payloads of response_item, and the size of the
// context stands in an event.
func (r *record) codex() entry {
	e := entry{kind: noise}
	var typ, role, name string
	var content, info jsontext.Value
	c := r.payload.Members()
	for c.Next() {
		switch string(c.Key) {
		case "type":
			typ = c.Value.Text()
		case "role":
			role = c.Value.Text()
		case "name":
			name = c.Value.Text()
		case "content":
			content = c.Value
		case "info":
			info = c.Value
		}
	}
	if !c.Whole {
		return entry{}
	}
	if r.typ == "event_msg" && typ == "token_count" {
		e.tokens = info.Field("last_token_usage").Field("total_tokens").Int()
		return e
	}
	if r.typ != "response_item" {
		if r.typ == "event_msg" {
			e.failed = codexFailure(typ, r.payload)
		}
		return e
	}
	switch {
	case typ == "message" && role == "assistant":
		e.kind, e.texts = assistant, readBlocks(content).texts
	case typ == "message" && role == "user":
		b := readBlocks(content)
		e.texts = b.texts
		first := ""
		if len(b.texts) > 0 {
			first = strings.TrimSpace(b.texts[0])
		}
		switch {
		case first == "" && !b.media:
		case hasAnyPrefix(first, "<environment_context>", "<user_instructions>", "<permissions instructions>", "<turn_aborted>", "<subagent_notification>", "# AGENTS.md instructions"):
			// what the host says to the agent in the user's name
		default:
			e.kind = opening // a continuation is a <hook_prompt …>
		}
	case strings.HasSuffix(typ, "_call_output"):
		e.kind = result
	case strings.HasSuffix(typ, "_call"):
		if name == "" {
			name = strings.TrimSuffix(typ, "_call")
		}
		e.kind, e.tools = assistant, []string{name}
	case typ == "reasoning":
		e.kind = assistant
	}
	return e
}
