package run

import (
	"encoding/json"
	"strings"

	"github.com/ralph-sdk/ralph/host"
)

// copilotOutput parses --output-format json. If the client failed, the last session.error has the reason.
type copilotOutput struct {
	ending
	res    Result
	denied denials
	code   string // the server's code for the last failed request
}

type copilotRecord struct {
	Type    string `json:"type"`
	Agent   string `json:"agentId"` // the ID of a subagent
	Session string `json:"sessionId"`
	Exit    int    `json:"exitCode"`
	Data    struct {
		Parent  string          `json:"parentToolCallId"`
		Content string          `json:"content"`
		Tool    string          `json:"toolName"`
		Args    json.RawMessage `json:"arguments"`
		Kind    string          `json:"errorType"`
		Code    string          `json:"errorCode"`
		Status  int             `json:"statusCode"`
		Message string          `json:"message"`
		Reason  string          `json:"reason"`
		Use     string          `json:"toolCallId"`
		Error   struct {
			Message string `json:"message"`
			Code    string `json:"code"`
		} `json:"error"`
	} `json:"data"`
}

func (o *copilotOutput) Line(line []byte) (string, Outcome) {
	rec, ok := decode[copilotRecord](line)
	if !ok {
		return "", ""
	}
	data := rec.Data
	switch rec.Type {
	case "assistant.message":
		if strings.TrimSpace(data.Content) != "" {
			if rec.Agent == "" && data.Parent == "" {
				o.res.Text = data.Content
			}
			return firstLine(data.Content), ""
		}
	case "tool.execution_complete":
		o.denied.end(data.Use, data.Error.Code == "denied", data.Error.Message)
	case "tool.execution_start":
		o.denied.begin(data.Use, useOf(data.Tool, data.Args, permitCopilot))
		return calling(data.Tool, data.Args), ""
	case "assistant.turn_retry":
		return "the request is tried again: " + data.Reason, ""
	case "model.call_failure":
		o.code = data.Code
	case "session.error":
		o.outcome, o.problem = failure(data.Status, data.Kind, o.code), data.Message
	case "session_limits_exhausted.requested": // from the client's schema; caused by --max-ai-credits
		o.outcome, o.problem = OverBudget, "the limit of the session is used up"
	case "result":
		o.said = true
		if rec.Session != "" {
			o.res.Session = rec.Session
		}
		if rec.Exit == 0 {
			o.outcome, o.problem = OK, ""
		}
	}
	return "", ""
}

func (o *copilotOutput) Result(p Process) Result {
	res := o.res
	res.Transcript = p.file(p.configDir(host.Copilot), "session-state", id(res.Session), "events.jsonl")
	res.Used, res.Denied = used(res.Transcript), o.denied.all
	return o.fill(res, p)
}

// permitCopilot returns what permits a plain command: its program. Rules for other tools have other names.
func permitCopilot(tool, command string) string {
	program, _, _ := strings.Cut(command, " ")
	if tool != "bash" || !plainCommand(command) {
		return ""
	}
	return "start the run with --allow-tool 'shell(" + program + ")'"
}
