package host

import (
	"slices"
	"strings"
)

// Decode reads a hook input in this host's manner. The error is an [*InputError]; the Event is then empty but for Host.
// Fields of the wrong type, unknown keys, bytes that are not UTF-8 and numbers of any size are no errors.
func (h *Host) Decode(payload []byte) (Event, error) {
	in, err := parse(payload)
	if err != nil {
		return Event{Host: h.Name, LoopCount: -1}, err
	}
	ev := Event{
		Host:                h.Name,
		Name:                eventName(in.text("hook_event_name", "hookEventName")),
		SessionID:           in.text("session_id", "sessionId", "conversation_id"),
		TurnID:              in.text("prompt_id", "turn_id"),
		Cwd:                 in.text("cwd"),
		PermissionMode:      in.text("permission_mode", "permissionMode"),
		Prompt:              in.text("prompt"),
		Trigger:             in.text("trigger"),
		Instructions:        in.text("custom_instructions", "customInstructions"),
		Reason:              in.text("reason"),
		Error:               in.text("error"),
		ErrorDetails:        in.text("error_details", "errorDetails"),
		AgentID:             in.text("agent_id", "agentId"),
		AgentType:           in.text("agent_type", "agentType"),
		TranscriptPath:      in.text("transcript_path", "transcriptPath"),
		AgentTranscriptPath: in.text("agent_transcript_path", "agentTranscriptPath"),
		Active:              in.flag("stop_hook_active"),
		LoopCount:           in.count("loop_count"),
		BackgroundTasks:     in.objects([]string{"background_tasks"}, []string{"id", "type", "status", "description"}),
		SessionCrons:        in.objects([]string{"session_crons", "crons"}, []string{"id", "schedule", "prompt"}),
		Raw:                 in,
	}
	for _, cron := range ev.SessionCrons {
		cron["recurring"] = object(cron).flag("recurring") == FlagTrue
	}
	ev.StopHookActive = ev.Active == FlagTrue
	ev.Turn = ev.TurnID
	if h.refine != nil {
		h.refine(in, &ev)
	}
	if ev.Name == SubagentStop {
		ev.BackgroundTasks = others(ev.BackgroundTasks, ev.AgentID, ev.AgentType)
	}
	if decides(ev.Name) {
		if ev.LastAssistantMessage == "" {
			ev.LastAssistantMessage = lastMessage(in)
		}
		if _, given := in["cwd"]; !given && ev.Cwd == "" && hasLegacyMessage(in) {
			ev.Cwd = "." // such hosts start their hooks in the project and do not name it
		}
		if ev.Turn == "" && ev.Active == FlagFalse && h.Name != Gemini {
			ev.NewTurn = true // Gemini's flag stays false while the agent uses tools, so there it says nothing
		}
	}
	return ev, nil
}

// others are the tasks without the agent that stops: hosts list one that ran in the background as running still.
func others(tasks []map[string]any, id, typ string) []map[string]any {
	i := slices.IndexFunc(tasks, func(t map[string]any) bool { return id != "" && t["id"] == id })
	if i < 0 {
		i = slices.IndexFunc(tasks, func(t map[string]any) bool {
			return typ != "" && t["type"] == "subagent" && t["agent_type"] == typ && t["status"] == "running"
		})
	}
	if i < 0 {
		return tasks
	}
	return slices.Delete(tasks, i, i+1)
}

// NoSubagent reports whether a SubagentStop is that of no subagent: the host names an empty type, as Claude Code does where
// it summarises the conversation.
func (ev *Event) NoSubagent() bool {
	typ, ok := ev.Raw["agent_type"].(string)
	return ev.Name == SubagentStop && ok && typ == ""
}

// eventName gives the normalised name of an event. Besides those that hosts call differently, a name in camelCase is
// read as the same one in PascalCase.
func eventName(name string) string {
	switch name = strings.TrimSpace(name); name {
	case "", "AfterAgent", "agentStop":
		return Stop
	case "BeforeAgent", "beforeSubmitPrompt", "userPromptSubmitted":
		return UserPromptSubmit
	case "PreCompress":
		return PreCompact
	}
	if c := name[0]; 'a' <= c && c <= 'z' {
		return string(c-'a'+'A') + name[1:]
	}
	return name
}

// BlocksCompaction reports whether a hook of the named host can keep the context as it is. Other hosts ignore the answer, or
// end the turn.
func BlocksCompaction(host string) bool { return host == ClaudeCode || host == "" }

// Watched reports whether hosts read no answer to an event.
func Watched(event string) bool { return event == StopFailure || event == SessionEnd }

// decides reports whether an answer to the event may make the agent go on. Elsewhere the same answer does harm: at a
// prompt it would erase what the user wrote.
func decides(event string) bool { return event == "" || event == Stop || event == SubagentStop }

// legacyMessageKeys are the keys under which older hosts and wrappers send the agent's final text.
func legacyMessageKeys() []string {
	return []string{"response", "content", "message", "text", "assistant_response"}
}

func hasLegacyMessage(in object) bool {
	return slices.ContainsFunc(legacyMessageKeys(), func(k string) bool { _, ok := in[k]; return ok })
}

// lastMessage is the agent's final text. Hosts and wrappers that came before last_assistant_message sent it under other
// names and in other shapes; the first of them that is there counts.
func lastMessage(in object) string {
	for _, k := range []string{"last_assistant_message", "lastAssistantMessage"} {
		if s, ok := in[k].(string); ok {
			return s
		}
	}
	for _, k := range legacyMessageKeys() {
		if v, ok := in[k]; ok {
			return textOf(v)
		}
	}
	return ""
}

// textOf reads a text, a list of texts and of objects with a text, or one such object.
func textOf(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var parts []string
		for _, e := range v {
			switch e := e.(type) {
			case string:
				parts = append(parts, e)
			case map[string]any:
				if s, ok := e["text"].(string); ok {
					parts = append(parts, s)
				}
			}
		}
		return strings.Join(parts, " ")
	case map[string]any:
		if s, ok := v["text"].(string); ok {
			return s
		}
		switch c := v["content"].(type) {
		case string, []any:
			return textOf(c)
		}
	}
	return ""
}
