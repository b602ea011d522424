package host

import "strings"

// codex reads a record of Codex: the items of the conversation are payloads of response_item, and the size of the
// context stands in an event.
func (r *record) codex() entry {
	e := entry{kind: noise}
	var typ, role, name string
	var content, info value
	c := r.payload.members()
	for c.next() {
		switch string(c.key) {
		case "type":
			typ = c.value.text()
		case "role":
			role = c.value.text()
		case "name":
			name = c.value.text()
		case "content":
			content = c.value
		case "info":
			info = c.value
		}
	}
	if !c.whole {
		return entry{}
	}
	if r.typ == "event_msg" && typ == "token_count" {
		e.tokens = member(member(info, "last_token_usage"), "total_tokens").int()
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
