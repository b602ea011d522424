package host

import (
	"slices"

	"github.com/ralph-sdk/ralph/internal/hookfile"
	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// Copilot is the name of Copilot CLI.
const Copilot = "copilot"

// copilot has two dialects: its keys have the case in which the event is registered. An input in camelCase does not
// name its event, which is recognized by its keys. No input has the main agent's last message.
var copilot = Host{
	Name: Copilot, Title: "Copilot CLI",
	Session: []string{"COPILOT_CLI"},
	marks: func(in object) bool {
		_, stamp := in["timestamp"].(int)
		camel := stamp && in.has("sessionId") && !in.has("hookEventName") && !in.has(vocab.HookEventName)
		return camel || in.has("stopReason") || in.has("stop_reason")
	},
	events: []eventName{
		{Stop, Stop}, {Stop, "agentStop"}, {UserPromptSubmit, UserPromptSubmit}, {UserPromptSubmit, "userPromptSubmitted"}, {StopFailure, ""},
	},
	refine: copilotEvent,
	record: copilotRecord,
	// Copilot reads a note only at the top of the answer, in both dialects.
	dialect: func(h *Host, r Reply, b *body) Reply {
		b.Context = r.Context
		return portable(h, r, b)
	},
	Settings: hookfile.Settings{
		Program: "copilot",
		Dir:     hookfile.Path{Variable: "COPILOT_HOME", Name: ".copilot"},
		Project: ".github/hooks/ralph.json", User: "hooks/ralph.json",
		ReadsOf: ClaudeCode, Reads: []string{hookfile.Project, hookfile.Local},
		Starts: []string{".github/hooks/*.json"},
		Form:   hookfile.Form{Flat: true, Version: "1", Command: copilotShell, Timeout: "timeoutSec"},
		Trust:  &copilotTrust,
		Cap:    hookfile.Cap{Most: 8},
	},
}

var copilotTrust = hookfile.Trust{
	What:    "Copilot CLI does not trust this directory, so it runs no hooks of it",
	Fix:     "start copilot in PROJECT and trust the directory; copilot -p has --trust-folder for one run",
	Asks:    true,
	Env:     "GITHUB_COPILOT_PROMPT_MODE_REPO_HOOKS=true",
	Folders: hookfile.Path{Name: "config.json"},
	Key:     "trustedFolders",
}

// copilotShell returns the key for the command line of the shell that Copilot uses on goos.
func copilotShell(goos string) string {
	if goos == "windows" {
		return "powershell"
	}
	return "bash"
}

func copilotEvent(in object, ev *Event) {
	if ev.AgentType == "" {
		ev.AgentType = in.text("agent_name")
	}
	if in.text(vocab.HookEventName) != "" {
		return
	}
	switch stops := in.has("stopReason") || in.has("stop_reason") || in.has(vocab.StopHookActive); {
	case stops && ev.AgentType != "":
		ev.Name = SubagentStop
	case stops:
		ev.Name = Stop
	case in.has("prompt"):
		ev.Name = UserPromptSubmit
	case in.has("trigger") && in.has("customInstructions"):
		ev.Name = PreCompact
	case slices.Contains([]string{"complete", "error", "abort", "timeout", "user_exit"}, ev.Reason):
		ev.Name = SessionEnd
	default:
		ev.Name = Unnamed
	}
}

// copilotRecord reads an event of Copilot CLI. A continuation is a user message, as a prompt is.
func copilotRecord(r record) entry {
	e := entry{kind: noise}
	raw := r.get("data")
	d := readFields(raw, nil)
	if r.typ == "" || !d.whole {
		return entry{}
	}
	usage := d.get("usage")
	switch r.typ {
	case "assistant.message":
		e.usage.replied = d.get("outputTokens").Int()
	case "session.usage_record":
		e.usage.used = plus(usage.Field("inputTokens").Int(), usage.Field("outputTokens").Int())
	}
	if d.text("parentToolCallId") != "" {
		return e // a subagent's
	}
	switch r.typ {
	case "user.message":
		if e.parts = readContent(d.get("content")).parts; len(e.parts) > 0 {
			e.kind = opening
		}
	case "assistant.message":
		e.kind, e.parts = assistant, readContent(d.get("content")).parts
		for c := d.get("toolRequests").Elements(); c.Next(); {
			call := readFields(c.Value, nil)
			e.parts = append(e.parts, use(call.get("toolCallId"), call.get("name"), call.get("arguments")))
		}
	case "tool.execution_complete":
		e.kind = result
		e.results = func() []part {
			ok := d.is("success")
			if code := d.get("shellExecution").Field("exitCode"); code.There() {
				ok = ok && string(code) == "0"
			}
			if status, known := statusBehind(d.get("result").Field("content").Text(), " with exit code "); known {
				ok = ok && status == "0"
			}
			return []part{{kind: gave, id: d.text("toolCallId"), ok: ok, failed: !ok}}
		}
	case "session.usage_record":
		if usage.Field("parentToolCallId").Text() == "" {
			e.usage.tokens = e.usage.used
		}
	default:
		e.failed = copilotFailure(r.typ, raw)
	}
	return e
}

// copilotFailure reads an event of Copilot CLI.
func copilotFailure(typ string, data jsontext.Value) *Failure {
	switch typ {
	case "abort":
		return &Failure{Kind: Interrupted, Text: data.Field("reason").Text()}
	case "session.error", "model.call_failure":
	default:
		return nil
	}
	f := &Failure{Text: data.Field("message").Text()}
	if f.Text == "" {
		f.Text = data.Field("errorMessage").Text()
	}
	switch kind := data.Field("errorType").Text(); {
	case kind == "authentication", kind == "authorization":
		f.Kind = Auth
	case kind == "quota":
		f.Kind = Billing
	case kind == "rate_limit":
		f.Kind = RateLimited
	case kind == "context_limit", overflows(data.Field("errorCode").Text()):
		f.Kind = ContextOverflow
	default:
		f.Kind = kindOfStatus(data.Field("statusCode").Int())
	}
	return f
}
