package host

import (
	"github.com/ralph-sdk/ralph/internal/hookfile"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// Cursor is the name of Cursor.
const Cursor = "cursor"

// cursor counts the continuations itself, names a conversation instead of a session and roots instead of a directory,
// and continues with a message instead of a decision. It shows no notices, so they go to stderr, its hook log.
var cursor = Host{
	Name: Cursor, Title: "Cursor",
	Session: []string{"CURSOR_AGENT"},
	marks: func(in object) bool {
		return in.has("cursor_version") || in.has("conversation_id") && (in.has("loop_count") || in.has("generation_id"))
	},
	events: []eventName{
		{Stop, "stop"}, {StopFailure, "stop"}, {SubagentStop, "subagentStop"},
		{UserPromptSubmit, "beforeSubmitPrompt"}, {PreCompact, "preCompact"}, {SessionEnd, "sessionEnd"},
	},
	refine: func(in object, ev *Event) {
		if roots, ok := in["workspace_roots"].([]any); ok && ev.Cwd == "" && len(roots) > 0 {
			ev.Cwd, _ = roots[0].(string)
		}
		if ev.Name == Stop {
			switch in.text("status") {
			case "aborted", "error":
				ev.Name, ev.Error = StopFailure, in.text("status") // ended by the user or an error: it must not continue
			}
		}
		ev.NewTurn = ev.Name == Stop && ev.LoopCount == 0
		if _, known := in.flag(vocab.StopHookActive); !known {
			ev.StopHookActive = ev.LoopCount > 0
		}
	},
	dialect: func(_ *Host, r Reply, b *body) Reply {
		if r.Continue {
			b.Followup = r.Reason
		}
		if r.Context != "" {
			b.Submit, b.Beside = true, r.Context // Cursor accepts it, although its documentation has only "continue"
		}
		return r
	},
	Settings: hookfile.Settings{
		Program: "cursor-agent",
		Dir:     hookfile.Path{Name: ".cursor"},
		Project: ".cursor/hooks.json", User: "hooks.json",
		ReadsOf: ClaudeCode, Reads: []string{hookfile.Project, hookfile.Local, hookfile.User},
		ReadsWhere: "if third-party hooks are on in Cursor's settings",
		After:      "Cursor uses it in trusted workspaces.",
		Form:       hookfile.Form{Flat: true, Untyped: true, Version: "1", Timeout: "-", Loop: true},
	},
}
