package host

import (
	"github.com/ralph-sdk/ralph/internal/hookfile"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// Goose is the name of Goose.
const Goose = "goose"

// goose has Claude Code's events, but names them under "event". It starts hooks in the project, which only some of its
// inputs name. At a stop it treats any object other than a decision as a failure. It reads no notes, so notices go to
// stderr, its log.
var goose = Host{
	Name: Goose, Title: "Goose",
	Session: []string{"GOOSE_TERMINAL"},
	marks: func(in object) bool {
		return in.text("event") != "" && in.text(vocab.SessionID) != "" && in.text(vocab.HookEventName) == ""
	},
	eventKey: "event",
	events:   []eventName{{SubagentStop, ""}, {StopFailure, ""}, {PreCompact, ""}},
	refine: func(in object, ev *Event) {
		if ev.Cwd == "" {
			ev.Cwd = in.text("working_dir")
		}
		if ev.Cwd == "" {
			ev.Cwd = "."
		}
	},
	dialect: func(_ *Host, r Reply, b *body) Reply {
		if r.Continue {
			b.Decision, b.Reason = "block", r.Reason
		}
		return r
	},
	Settings: hookfile.Settings{
		Program: "goose",
		Project: ".agents/plugins/ralph/hooks/hooks.json", User: ".agents/plugins/ralph/hooks/hooks.json",
		Beside: []hookfile.File{{Name: "../plugin.json", Text: goosePlugin}},
		Starts: []string{".agents/plugins/*/hooks/*.json"},
		After:  "New sessions that are started in the project use it.",
		Cap:    hookfile.Cap{Most: 8, Variable: "GOOSE_STOP_HOOK_BLOCK_CAP"},
	},
}

// goosePlugin is the file that makes a directory a plugin.
const goosePlugin = `{
  "name": "ralph",
  "version": "1.0.0",
  "description": "Asks ralph whether the agent may stop."
}
`
