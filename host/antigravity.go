package host

import (
	"cmp"
	"strings"

	"github.com/ralph-sdk/ralph/internal/hookfile"
)

// Antigravity is the name of Google Antigravity.
const Antigravity = "antigravity"

// antigravity is known by its documentation and by recorded inputs. It writes its fields in camelCase and names neither the event nor a directory: the directory is the first of its
// workspaces, or that of hooks.json, in which it starts hooks. It has no hook but that of a stop that ralph can answer. Its
// session file has a form of its own, which ralph does not read.
var antigravity = Host{
	Name: Antigravity, Title: "Antigravity",
	Session: []string{"ANTIGRAVITY_AGENT"},
	marks:   func(in object) bool { return in.has("terminationReason") && in.has("conversationId") },
	events:  []eventName{{SubagentStop, ""}, {StopFailure, ""}, {PreCompact, ""}, {SessionEnd, ""}, {UserPromptSubmit, ""}},
	refine: func(in object, ev *Event) {
		ev.Cwd, ev.TranscriptPath, ev.LoopCount = ".", "", -1
		if list, ok := in["workspacePaths"].([]any); ok && len(list) > 0 {
			if dir, ok := list[0].(string); ok && dir != "" {
				ev.Cwd = dir
			}
		}
		if why := in.text("terminationReason"); ev.Error != "" || !strings.EqualFold(why, "no_tool_call") { // it failed, or someone ended it: it must not continue
			ev.Name, ev.Error = StopFailure, cmp.Or(ev.Error, why)
		}
		if idle, known := in.flag("fullyIdle"); known && !idle {
			ev.BackgroundTasks = []map[string]any{{"id": "", "type": "", "status": "running", "description": ""}}
		}
	},
	dialect: func(_ *Host, r Reply, b *body) Reply {
		if r.Continue {
			b.Decision, b.Reason = "continue", r.Reason
		}
		return r
	},
	Settings: hookfile.Settings{
		Program: "agy",
		Dir:     hookfile.Path{Name: ".gemini/config"},
		Project: ".agents/hooks.json", User: "hooks.json",
		Starts: []string{".agents/hooks.json"},
		After:  "New sessions use it, as its documentation says; no test of ralph runs Antigravity.",
		Form:   hookfile.Form{Named: true, Flat: true},
	},
}
