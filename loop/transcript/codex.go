package transcript

import "strings"

// codex reads a record of Codex: the items of the conversation are payloads of response_item, and the size of the
// context is told by an event.
func (r *record) codex() entry {
	e := entry{kind: noise}
	var typ, role, name string
	var content, info value
	if !r.payload.fields(func(key []byte, v value) {
		switch string(key) {
		case "type":
			typ = v.text()
		case "role":
			role = v.text()
		case "name":
			name = v.text()
		case "content":
			content = v
		case "info":
			info = v
		}
	}) {
		return entry{}
	}
	if r.typ == "event_msg" && typ == "token_count" {
		e.tokens = member(member(info, "last_token_usage"), "total_tokens").int()
		return e
	}
	if r.typ != "response_item" {
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
		case strings.HasPrefix(first, "<hook_prompt"):
			e.kind = continuation
		case first == "" && !b.media:
		case hasAnyPrefix(first, "<environment_context>", "<user_instructions>", "<permissions instructions>", "<turn_aborted>", "<subagent_notification>", "# AGENTS.md instructions"):
			// what the host tells the agent in the person's name
		default:
			e.kind = prompt
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
