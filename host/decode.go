package host

import (
	"reflect"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/vocab"
)

// Read parses a hook input. It returns the host that sent it, which is h unless that is nil, and the event. The host is
// never nil: it is the portable host if no known one sends such an input. The error is an [*InputError]; the Event then
// has only its Host. Fields of the wrong type, unknown keys, bytes that are not UTF-8 and numbers of any size are not
// errors.
func Read(payload []byte, h *Host) (*Host, Event, error) {
	in, err := parse(payload)
	switch {
	case h != nil:
	case err != nil:
		h = &Host{}
	default:
		h = detect(in)
	}
	if err != nil {
		return h, Event{Host: h.Name, LoopCount: -1}, err
	}
	return h, h.event(in), nil
}

// event returns the event in a hook input of this host.
func (h *Host) event(in object) Event {
	ev := Event{
		Host:                h.Name,
		AgentTranscriptPath: in.text("agent_transcript_path"),
		LoopCount:           in.count("loop_count"),
		Raw:                 in,
	}
	for _, f := range ev.fields() {
		switch at := f.at.(type) {
		case *string:
			*at = in.text(f.name, f.also)
		case *[]map[string]any:
			*at = in.objects(f.name, f.also)
		}
	}
	if ev.Name == "" && h.eventKey != "" {
		ev.Name = in.text(h.eventKey)
	}
	ev.Name = EventOf(ev.Name)
	active, known := in.flag(vocab.StopHookActive)
	ev.StopHookActive = active
	ev.Turn = ev.HostTurn
	if h.refine != nil {
		h.refine(in, &ev)
	}
	if ev.Name == SubagentStop {
		ev.BackgroundTasks = others(ev.BackgroundTasks, ev.AgentID, ev.AgentType)
	}
	if decides(ev.Name) {
		text, legacy := legacyMessage(in)
		if _, given := in[vocab.LastAssistantMessage].(string); ev.LastAssistantMessage == "" && !given {
			ev.LastAssistantMessage = text
		}
		if _, given := in[vocab.Cwd]; !given && ev.Cwd == "" && legacy {
			ev.Cwd = "." // such hosts start hooks in the project without naming it
		}
		if ev.Turn == "" && known && !active && !h.steady {
			ev.NewTurn = true
		}
	}
	return ev
}

// field maps a field of an event to its key in the hook input. Hosts spell the key like ralph, in camelCase, or
// differently.
type field struct {
	name string
	at   any
	also string
}

func (ev *Event) fields() [21]field {
	return [...]field{
		{vocab.SessionID, &ev.SessionID, "conversation_id"},
		{vocab.TurnID, &ev.HostTurn, "prompt_id"},
		{vocab.Cwd, &ev.Cwd, ""},
		{vocab.HookEventName, &ev.Name, ""},
		{vocab.PermissionMode, &ev.PermissionMode, ""},
		{vocab.StopHookActive, &ev.StopHookActive, ""},
		{vocab.LastAssistantMessage, &ev.LastAssistantMessage, ""},
		{vocab.TranscriptPath, &ev.TranscriptPath, ""},
		{vocab.AgentID, &ev.AgentID, "teammate_name"},
		{vocab.AgentType, &ev.AgentType, ""},
		{vocab.BackgroundTasks, &ev.BackgroundTasks, ""},
		{vocab.SessionCrons, &ev.SessionCrons, "crons"},
		{vocab.Prompt, &ev.Prompt, ""},
		{vocab.Trigger, &ev.Trigger, ""},
		{vocab.CustomInstructions, &ev.Instructions, ""},
		{vocab.Reason, &ev.Reason, ""},
		{vocab.Error, &ev.Error, ""},
		{vocab.ErrorDetails, &ev.ErrorDetails, ""},
		{vocab.TaskID, &ev.TaskID, ""},
		{vocab.TaskSubject, &ev.Task, ""},
		{vocab.TaskDescription, &ev.TaskDetails, ""},
	}
}

// Input returns a field of the hook input by its name in policies, or nil for any other name.
func (ev *Event) Input(name string) any {
	all := ev.fields()
	for i := range all {
		if f := &all[i]; f.name == name {
			return reflect.ValueOf(f.at).Elem().Interface()
		}
	}
	return nil
}

// others returns the tasks without the agent that is stopping: hosts list an agent that ran in the background as still
// running.
func others(tasks []map[string]any, id, typ string) []map[string]any {
	i := slices.IndexFunc(tasks, func(t map[string]any) bool { return id != "" && t["id"] == id })
	if i < 0 {
		i = slices.IndexFunc(tasks, func(t map[string]any) bool {
			return typ != "" && t["type"] == "subagent" && t[vocab.AgentType] == typ && t["status"] == "running"
		})
	}
	if i < 0 {
		return tasks
	}
	return slices.Delete(tasks, i, i+1)
}

// NoSubagent reports whether a SubagentStop is not about a subagent: Claude Code sends an empty type when it summarizes
// the conversation.
func (ev *Event) NoSubagent() bool {
	typ, ok := ev.Raw[vocab.AgentType].(string)
	return ev.Name == SubagentStop && ok && typ == ""
}

// BlocksCompaction reports whether a hook of the named host can prevent compaction. Other hosts ignore the answer or
// end the turn.
func BlocksCompaction(host string) bool {
	h, ok := Lookup(host)
	return host == "" || ok && h.compacts
}

// Watched reports whether hosts ignore the answer to an event.
func Watched(event string) bool { return vocab.Watched(event) }

// decides reports whether an answer to the event may make the agent continue. For other events the same answer does
// harm: at a prompt it would erase what the user wrote.
func decides(event string) bool {
	return event == "" || event == Stop || event == SubagentStop || event == TaskCompleted || event == TeammateIdle
}

// legacyMessage returns the agent's final message from the keys that earlier hosts and wrappers use; ok reports whether
// one of them is set.
func legacyMessage(in object) (text string, there bool) {
	for _, k := range []string{"response", "content", "message", "text", "assistant_response"} {
		if v, ok := in[k]; ok {
			return textOf(v), true
		}
	}
	return "", false
}

// textOf returns the text of a string, of a list of strings and objects with text, or of one such object.
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
