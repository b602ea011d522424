package host

import (
	_ "embed"

	"github.com/ralph-sdk/ralph/internal/hookfile"
)

// OpenCode is the name of OpenCode.
const OpenCode = "opencode"

//go:embed opencode.js
var openCodePlugin string

// openCode has no hooks. A plugin, which ralph writes, runs those of its settings in Claude Code's form when a session becomes
// idle, and prompts again. So its input is what the plugin makes, and it has no limit of its own.
var openCode = Host{
	Name: OpenCode, Title: "OpenCode",
	Session: []string{"OPENCODE"},
	marks:   func(in object) bool { return in.text("client") == OpenCode },
	events:  []eventName{{SubagentStop, ""}, {PreCompact, ""}, {SessionEnd, ""}, {UserPromptSubmit, ""}},
	dialect: portable,
	Settings: hookfile.Settings{
		Program: "opencode",
		Dir:     hookfile.Path{Variable: "OPENCODE_CONFIG_DIR", Name: ".config/opencode"},
		Project: ".opencode/ralph.json", User: "ralph.json",
		Beside: []hookfile.File{{Name: "plugins/ralph.js", Text: openCodePlugin}},
		Starts: []string{".opencode/plugin/*", ".opencode/plugins/*", "opencode.json", "opencode.jsonc"},
		After:  "New sessions of OpenCode 1 use it; plugins of OpenCode 2 cannot prompt the agent. `opencode run` ends before the answer: use `ralph run` there.",
	},
}
