package run

import (
	"encoding/json"
	"strings"

	"github.com/ralph-sdk/ralph/host"
)

// Copilot is the adapter of GitHub Copilot CLI. It reports no price. Tokens stand in its session file, which is known once an
// iteration ended by itself.
func Copilot() Adapter { return copilot{} }

type copilot struct{}

func (copilot) Name() string     { return host.Copilot }
func (copilot) Host() string     { return host.Copilot }
func (copilot) Reports() Reports { return Reports{Tokens: true} }

func (c copilot) Command(i Invocation) (Command, error) {
	l := newCmdline(c.Name(), i.Args)
	l.noPrompt("-p", "--prompt")
	l.refuse(ownPrompt, "-i", "--interactive", "--acp", "--")
	l.refuse(ownSession, "--continue", "-r", "--resume", "--session-id", "--connect")
	l.need("json", "--output-format")
	if i.Session != "" {
		l.args = append(l.args, "--resume="+i.Session)
	}
	return l.command(i.Prompt)
}

func (copilot) Output() Output { return &copilotOutput{} }

// copilotOutput reads --output-format json. The last session.error says why the client failed, if it did.
type copilotOutput struct {
	ending
	res  Result
	code string // of the server, of the last request that failed
}

type copilotRecord struct {
	Type    string `json:"type"`
	Agent   string `json:"agentId"` // a subagent
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
	case "tool.execution_start":
		return calling(data.Tool, data.Args), ""
	case "assistant.turn_retry":
		return "the request is tried again: " + data.Reason, ""
	case "model.call_failure":
		o.code = data.Code
	case "session.error":
		o.outcome, o.problem = copilotFailure(data.Kind, o.code, data.Status), data.Message
	case "session_limits_exhausted.requested": // in the client's schema; --max-ai-credits
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

// copilotFailure is what an error means, by its kind, the server's code and the status of the request.
func copilotFailure(kind, code string, status int) Outcome {
	switch kind {
	case "authentication", "authorization":
		return Auth
	case "quota":
		return Billing
	case "rate_limit":
		return RateLimited
	case "context_limit":
		return ContextOverflow
	}
	switch code {
	case "context_length_exceeded", "model_max_prompt_tokens_exceeded":
		return ContextOverflow
	}
	return byStatus(status)
}

func (o *copilotOutput) Result(p Process) Result {
	res := o.res
	res.Transcript = p.file(p.configDir("COPILOT_HOME", ".copilot"), "session-state", id(res.Session), "events.jsonl")
	res.Used = used(res.Transcript)
	return o.fill(res, p)
}
