package host

import "github.com/ralph-sdk/ralph/internal/hookfile"

// Kiro is the name of Kiro.
const Kiro = "kiro"

// kiro is known by its documentation, https://kiro.dev/docs/hooks/types: it continues for the portable answer and for
// nothing else, not for status 2. Its input has only these three fields, so no input shows that it is Kiro's, and the entry names
// the host. It shows no notices.
var kiro = Host{
	Name: Kiro, Title: "Kiro",
	Session: []string{"KIRO_SESSION_ID"},
	events:  []eventName{{SubagentStop, ""}, {StopFailure, ""}, {PreCompact, ""}, {SessionEnd, ""}, {UserPromptSubmit, ""}},
	dialect: func(_ *Host, r Reply, b *body) Reply {
		if r.Continue {
			b.Decision, b.Reason = "block", r.Reason
		}
		return r
	},
	Settings: hookfile.Settings{
		Program: "kiro-cli",
		Dir:     hookfile.Path{Name: ".kiro"},
		Project: ".kiro/hooks/ralph.json", User: "hooks/ralph.json",
		Starts: []string{".kiro/hooks/*.json"},
		After:  "New sessions of Kiro's CLI (v3) and of the IDE use it, as its documentation says; no test of ralph runs Kiro.",
		Form:   hookfile.Form{Listed: "trigger", Action: "action", Name: "name", Version: `"v1"`, Args: []string{"--host", Kiro}},
	},
}
