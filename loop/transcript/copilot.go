package transcript

// copilot reads an event of Copilot CLI. A continuation is a user message as well, which begins a turn like any other.
func (r *record) copilot() entry {
	e := entry{kind: noise}
	var content, requests, parent, delivery value
	if !r.data.fields(func(key []byte, v value) {
		switch string(key) {
		case "content":
			content = v
		case "toolRequests":
			requests = v
		case "parentToolCallId":
			parent = v
		case "delivery":
			delivery = v
		}
	}) {
		return entry{}
	}
	if parent.text() != "" {
		return e // a subagent's
	}
	switch r.typ {
	case "user.message":
		if e.texts = readBlocks(content).texts; len(e.texts) > 0 {
			e.kind = prompt
			if delivery.text() == "queued" {
				e.kind = continuation
			}
		}
	case "assistant.message":
		e.kind, e.texts, e.tools = assistant, readBlocks(content).texts, names(requests)
	case "tool.execution_complete":
		e.kind = result
	}
	return e
}
