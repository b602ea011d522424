package host

// copilot reads an event of Copilot CLI. A continuation is a user message like a prompt.
func (r *record) copilot() entry {
	e := entry{kind: noise}
	var content, requests, parent, used value
	c := r.data.members()
	for c.next() {
		switch string(c.key) {
		case "content":
			content = c.value
		case "toolRequests":
			requests = c.value
		case "parentToolCallId":
			parent = c.value
		case "usage":
			used = c.value
		}
	}
	if !c.whole {
		return entry{}
	}
	if parent.text() != "" {
		return e // a subagent's
	}
	switch r.typ {
	case "user.message":
		if e.texts = readBlocks(content).texts; len(e.texts) > 0 {
			e.kind = opening
		}
	case "assistant.message":
		e.kind, e.texts, e.tools = assistant, readBlocks(content).texts, names(requests)
	case "tool.execution_complete":
		e.kind = result
	case "session.usage_record":
		if member(used, "parentToolCallId").text() == "" {
			e.tokens = plus(member(used, "inputTokens").int(), member(used, "outputTokens").int())
		}
	default:
		e.failed = copilotFailure(r.typ, r.data)
	}
	return e
}
