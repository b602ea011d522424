package host

import (
	"cmp"
	"encoding/json"
	"strings"
)

// codexRecord is a line of a session file of Codex. The conversation is in the items of responses.
type codexRecord struct {
	Type    string
	Payload struct {
		Type, Role, Name string
		CallID           string `json:"call_id"`
		Content, Output  json.RawMessage
		Arguments        string // JSON
		Action           input
		Info             struct {
			Last struct {
				Total int `json:"total_tokens"`
			} `json:"last_token_usage"`
		}
	}
}

func (r codexRecord) entry(bool) (e entry) {
	p := r.Payload
	switch {
	case r.Type == "event_msg" && p.Type == "token_count":
		e.tokens = p.Info.Last.Total
	case r.Type != "response_item":
	case p.Type == "message" && p.Role == assistant:
		e.kind, e.text = assistant, readContent(p.Content).text
	case p.Type == "message" && p.Role == user:
		if c := readContent(p.Content); (c.text != "" || len(c.ended) == 0) && !isOfCodex(c.text) {
			e.kind, e.text = user, c.text
		}
	case strings.HasSuffix(p.Type, "_call_output"):
		e.kind, e.ended = result, map[string]bool{p.CallID: succeeded(p.Output)}
	case strings.HasSuffix(p.Type, "_call"):
		in := p.Action
		if p.Arguments != "" {
			in = decoded[input](p.Arguments)
		}
		e.kind, e.open, e.tools = assistant, true, []use{in.use(p.Name, p.CallID)}
	}
	return e
}

// isOfCodex reports whether Codex wrote a text in the person's name.
func isOfCodex(text string) bool {
	for _, begin := range []string{"<environment_context>", "<user_instructions>", "<permissions instructions>", "<turn_aborted>", "<subagent_notification>", "# AGENTS.md instructions"} {
		if strings.HasPrefix(strings.TrimSpace(text), begin) {
			return true
		}
	}
	return false
}

// succeeded reports whether what a tool of Codex returned shows the status 0. Only shells show one.
func succeeded(output json.RawMessage) bool {
	text := decoded[string](output)
	with := decoded[struct {
		Metadata struct {
			ExitCode *int `json:"exit_code"`
		}
	}](cmp.Or(text, string(output)))
	if code := with.Metadata.ExitCode; code != nil {
		return *code == 0
	}
	for line := range strings.Lines(text) {
		for _, begin := range []string{"Exit code: ", "Process exited with code "} {
			if code, ok := strings.CutPrefix(strings.TrimSpace(line), begin); ok {
				return code == "0"
			}
		}
	}
	return false
}

// geminiRecord is a line of Gemini CLI, without its tools. A message that changes is written again.
type geminiRecord struct {
	ID, Type  string
	Content   json.RawMessage
	ToolCalls []json.RawMessage
}

func (r geminiRecord) entry(bool) entry {
	e := entry{id: r.ID, text: readContent(r.Content).text}
	switch {
	case r.Type == "gemini":
		e.kind, e.open = assistant, len(r.ToolCalls) > 0
	case r.Type == user && e.text != "":
		e.kind = user
	}
	return e
}

// copilotRecord is a line of Copilot CLI, without its tools. It notes its hooks, but writes the file now and then.
type copilotRecord struct {
	Type, Timestamp string
	Data            struct {
		Content          json.RawMessage
		ParentToolCallID string
		ToolRequests     []json.RawMessage
	}
}

func (r copilotRecord) entry(bool) entry {
	e := entry{text: readContent(r.Data.Content).text, time: r.Timestamp}
	switch {
	case r.Data.ParentToolCallID != "": // a subagent's
	case r.Type == "user.message":
		e.kind = user
	case r.Type == "assistant.message":
		e.kind, e.open = assistant, len(r.Data.ToolRequests) > 0
	}
	return e
}
