package host

import "slices"

// copilot has two dialects: the case in which the event is registered selects the case of the keys. In camelCase an input
// does not name its event, so the keys that only it has name it. A main agent's last text is in no input.
func copilot() *Host {
	return &Host{
		Name: Copilot,
		recognise: func(in object) bool {
			_, stamp := in["timestamp"].(int)
			camel := stamp && in.has("sessionId") && !in.has("hookEventName") && !in.has("hook_event_name")
			return camel || in.has("stopReason") || in.has("stop_reason") || in.within(".copilot")
		},
		refine: func(in object, ev *Event) {
			if ev.AgentType == "" {
				ev.AgentType = in.text("agent_name", "agentName")
			}
			if in.text("hook_event_name", "hookEventName") != "" {
				return
			}
			switch stops := in.has("stopReason") || in.has("stop_reason") || in.has("stop_hook_active"); {
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
		},
		// A note counts at the top of the answer only, in both dialects.
		dialect: func(r Reply, b *body) Reply {
			b.Context = r.Context
			return portable(r, b)
		},
	}
}
