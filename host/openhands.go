package host

import (
	"github.com/ralph-sdk/ralph/internal/hookfile"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// OpenHands is the name of OpenHands.
const OpenHands = "openhands"

// openHands has Claude Code's events, named under "event_type", and settings in Claude Code's form; see
// https://docs.openhands.dev/openhands/usage/customization/hooks. It denies a stop instead of blocking it. Its input
// has neither the agent's words nor whether a hook is active, and it shows no notices, so they go to stderr.
var openHands = Host{
	Name: OpenHands, Title: "OpenHands",
	marks:    func(in object) bool { return in.text("event_type") != "" && in.text(vocab.HookEventName) == "" },
	eventKey: "event_type",
	events:   []eventName{{SubagentStop, ""}, {StopFailure, ""}, {PreCompact, ""}},
	refine: func(in object, ev *Event) {
		ev.Cwd, ev.Prompt = in.text("working_dir"), in.text("message")
	},
	dialect: func(_ *Host, r Reply, b *body) Reply {
		if r.Continue {
			b.Decision, b.Reason = "deny", r.Reason
		}
		b.Context = r.Context
		return r
	},
	Settings: hookfile.Settings{
		Program: "openhands",
		Dir:     hookfile.Path{Name: ".openhands"},
		Project: ".openhands/hooks.json", User: "hooks.json",
		Starts: []string{".openhands/*.sh"},
		After:  "New conversations use it. OpenHands reads the user's file only in projects that have none.",
	},
}
