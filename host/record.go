package host

import "github.com/ralph-sdk/ralph/internal/jsontext"

// recordKind is what a record is to the conversation.
type recordKind uint8

const (
	noRecord  recordKind = iota // no record of a format that is known
	noise                       // a known record that is no part of the conversation
	opening                     // a human prompt, or the reason with which a hook made the agent go on: a turn begins
	assistant                   // a message of the agent, or a part of one
	result                      // what a tool gave back
)

// entry is what one record says.
type entry struct {
	kind    recordKind
	id      string   // the message that the record is a part of; "" if it stands for itself
	texts   []string // the texts that are not blank
	tools   []string // the tools that are called
	tokens  int      // the size of the context with this message, 0 if it is not known
	total   int      // the tokens of the whole session until here, where that is counted
	used    int      // the tokens of a request that may be a subagent's; 0 means that tokens are
	replied int      // what came back, where that is all that is known
	turn    string   // the host's id of the turn, "" if it is not known
	open    bool     // the message is not finished with this record

	failed *Failure // the turn failed here

	rewritten bool // a newer record with the same id stands for this one
}

// speaks reports whether the entry is seen in a turn.
func (e entry) speaks() bool {
	switch e.kind {
	case opening:
		return true
	case assistant:
		return len(e.texts) > 0 || len(e.tools) > 0
	}
	return false
}

// record is the top level of one line, with the fields of all formats.
type record struct {
	typ, role string
	id        string
	promptID  string
	subtype   string
	code      string // of an error

	message, content, payload, data, attachment jsontext.Value
	origin, toolUseResult, toolCalls, tokens    jsontext.Value
	systemPayload, toolCallResult               jsontext.Value
	usageMetadata                               jsontext.Value

	sidechain, meta, compact, apiError bool
}

// parseRecord reads one line. With subagent, records that are marked as a subagent's are read as the main agent's.
func parseRecord(line []byte, subagent bool) entry {
	r, whole := readRecord(line)
	if !whole {
		return entry{}
	}
	return r.entry(subagent)
}

// readRecord reads the top level of one line. whole is false for lines that are no JSON object, torn ones among them.
func readRecord(line []byte) (r record, whole bool) {
	c := jsontext.Value(clean(line)).Members()
	for c.Next() {
		r.set(c.Key, c.Value)
	}
	return r, c.Whole
}

// entry is what the record says. Records of unknown types are noRecord.
func (r *record) entry(subagent bool) entry {
	switch {
	case r.ofGemini():
		return r.gemini()
	case (r.typ == "error" || r.typ == "info" || r.typ == "warning") && r.id != "" && r.content != nil:
		return entry{kind: noise, failed: geminiFailure(r.typ, firstText(readBlocks(r.content).texts))}
	case r.message != nil && (r.typ == "user" || r.typ == "assistant" || r.typ == "tool_result"):
		return r.claude(r.typ, subagent)
	case r.message != nil && (r.typ == "" || r.typ == "message"):
		// Droid and Cursor write Claude Code's messages in records of their own
		return r.claude(r.role, subagent)
	case r.typ == "attachment":
		return r.attached()
	case r.payload != nil && r.typ != "":
		return r.codex()
	case r.data != nil && r.typ != "":
		return r.copilot()
	case r.typ == "system":
		return entry{kind: noise, failed: r.qwenFailure()}
	case r.typ == "user", r.typ == "assistant", r.typ == "summary":
		return entry{kind: noise}
	}
	return entry{}
}

func (r *record) set(key []byte, v jsontext.Value) {
	switch string(key) {
	case "type":
		r.typ = v.Text()
	case "role":
		r.role = v.Text()
	case "id":
		r.id = v.Text()
	case "promptId":
		r.promptID = v.Text()
	case "subtype":
		r.subtype = v.Text()
	case "error":
		r.code = v.Text()
	case "systemPayload":
		r.systemPayload = v
	case "toolCallResult":
		r.toolCallResult = v
	case "usageMetadata":
		r.usageMetadata = v
	case "message":
		r.message = v
	case "content":
		r.content = v
	case "payload":
		r.payload = v
	case "data":
		r.data = v
	case "attachment":
		r.attachment = v
	case "origin":
		r.origin = v
	case "toolUseResult":
		r.toolUseResult = v
	case "toolCalls":
		r.toolCalls = v
	case "tokens":
		r.tokens = v
	case "isSidechain":
		r.sidechain = v.IsTrue()
	case "isMeta":
		r.meta = v.IsTrue()
	case "isCompactSummary":
		r.compact = v.IsTrue()
	case "isApiErrorMessage":
		r.apiError = v.IsTrue()
	}
}
