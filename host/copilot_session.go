package host

import "github.com/ralph-sdk/ralph/internal/jsontext"

// copilot reads an event of Copilot CLI. A continuation is a user message like a prompt.
func (r *record) copilot() entry {
	e := entry{kind: noise}
	var content, requests, parent, used jsontext.Value
	c := r.data.Members()
	for c.Next() {
		switch string(c.Key) {
		case "content":
			content = c.Value
		case "toolRequests":
			requests = c.Value
		case "parentToolCallId":
			parent = c.Value
		case "usage":
			used = c.Value
		}
	}
	if !c.Whole {
		return entry{}
	}
	if parent.Text() != "" {
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
		if used.Field("parentToolCallId").Text() == "" {
			e.tokens = plus(used.Field("inputTokens").Int(), used.Field("outputTokens").Int())
		}
	default:
		e.failed = copilotFailure(r.typ, r.data)
	}
	return e
}
