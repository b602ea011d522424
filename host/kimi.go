package host

import "github.com/ralph-sdk/ralph/internal/hookfile"

// Kimi is the name of Kimi Code.
const Kimi = "kimi"

// kimi has Claude Code's names of events and fields, but neither the agent's words nor a session file. Its
// stop_hook_active is always false, and that is true: it asks no hook after a continuation. It reads a decision as one about a
// permission, and what a hook says beside that as text for the agent, so notices go to stderr.
var kimi = Host{
	Name: Kimi, Title: "Kimi Code",
	marks:  func(in object) bool { return in.text("client_type") == "kimi_code_cli" },
	events: []eventName{{SubagentStop, ""}},
	refine: func(in object, ev *Event) {
		if ev.Name == UserPromptSubmit {
			ev.Prompt = textOf(in["prompt"])
		}
		if ev.Name == StopFailure {
			ev.Error, ev.ErrorDetails = in.text("error_type"), in.text("error_message")
		}
	},
	dialect: func(h *Host, r Reply, b *body) Reply {
		if r.Continue {
			b.Specific = &specific{Event: h.EventName(Stop), Permission: "deny", PermissionReason: r.Reason}
		}
		b.Message = r.Context
		return r
	},
	Settings: hookfile.Settings{
		Program: "kimi",
		Dir:     hookfile.Path{Variable: "KIMI_CODE_HOME", Name: ".kimi-code"},
		User:    "config.toml",
		Form:    hookfile.Form{TOML: true, Listed: "event", Untyped: true},
		Goal:    "/goal",
		Cap:     hookfile.Cap{Most: 1},
	},
}
