package host

import (
	"bytes"
	"cmp"
	_ "embed"
	"io"
	"strings"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/state"
)

// ClaudeCode is the name of the host that commands take where none is named. [Names] returns all.
const ClaudeCode = "claude-code"

// portable is the answer that most hosts read. A blocked stop is all that some others know of it.
var (
	portable = answer{
		decision: map[string]any{"decision": "block"}, reason: []string{"reason"}, notice: "systemMessage", note: []string{specific + ".additionalContext"},
	}
	blocked = answer{decision: portable.decision, reason: portable.reason}
)

// claudeHook is the form of a hook that most hosts read.
const claudeHook = `{"type": "command", "command": COMMAND, "timeout": TIMEOUT}`

// hosts is the table, the portable form last. Marks are tried from its end.
var hosts = []*Host{
	{
		Name: ClaudeCode, Title: "Claude Code",
		Session: []string{"CLAUDECODE"},
		marks:   []string{"prompt_id", "background_tasks", "session_crons", "hook_event_name"},
		prompt:  prompt{id: "prompt_id", flag: true},
		answer:  portable, tasks: "tasks",
		file:  sessionFiles{read[record], "projects/*/SESSION.jsonl"},
		limit: limit{most: 8, perTool: true, variable: "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"},
		Settings: Settings{
			Project: ".claude/settings.json", Local: ".claude/settings.local.json", User: "settings.json",
			Dir: ".claude", Variable: "CLAUDE_CONFIG_DIR",
			hook: claudeHook, arguments: true,
		},
		refine: func(in object, ev *loop.Event) { // it ends an agent without a type when it summarizes the conversation
			if _, there := in["agent_type"]; ev.Name == subagentStop && there && in.text("agent_type") == "" {
				ev.Name = "Summary"
			}
		},
	},
	{
		Name: "codex", Title: "Codex",
		Gate:     "Codex runs a hook after you trusted the project's directory, which it asks for, and the hook itself: type /hooks in it, also after each change of the entry.",
		Session:  []string{"CODEX_THREAD_ID", "CODEX_CI", "CODEX_SANDBOX"},
		marks:    []string{"turn_id"},
		prompt:   prompt{id: "turn_id", flag: true},
		answer:   portable, // a stop with any other field is an error
		file:     sessionFiles{read[codexRecord], "sessions/*/*/*/rollout-*SESSION.jsonl"},
		Settings: Settings{Project: ".codex/hooks.json", User: "hooks.json", Dir: ".codex", Variable: "CODEX_HOME", hook: claudeHook},
	},
	{
		Name: "gemini", Title: "Gemini CLI",
		Gate:    "Gemini CLI runs hooks of a project after you trusted its directory, which it asks for; gemini -p needs GEMINI_CLI_TRUST_WORKSPACE=true.",
		Session: []string{"GEMINI_CLI"},
		marks:   []string{"prompt_response"},
		events:  map[string]string{stop: "AfterAgent", promptSubmit: "BeforeAgent", subagentStop: ""},
		prompt:  prompt{text: "prompt"}, // stop_hook_active is false after a tool too
		answer:  portable,
		file:    sessionFiles{read: read[geminiRecord]}, // prompt_response joins the messages of all continuations
		Settings: Settings{
			Project: ".gemini/settings.json", User: "settings.json", Dir: ".gemini",
			hook: claudeHook, unit: 1000, comments: true,
		},
	},
	{
		Name: "qwen", Title: "Qwen Code",
		Gate:    "If security.folderTrust.enabled is set, Qwen Code runs hooks of a project after you trusted its directory, which it asks for.",
		Session: []string{"QWEN_CODE"},
		marks:   []string{"crons", "context_limit", "context_usage"},
		fields:  map[string]string{"session_crons": "crons"},
		prompt:  prompt{id: "prompt_id", flag: true},
		answer:  portable,
		file:    sessionFiles{read[record], "projects/*/chats/SESSION.jsonl"},
		limit:   limit{most: 7, variable: "QWEN_CODE_STOP_HOOK_BLOCK_CAP"},
		Settings: Settings{
			Project: ".qwen/settings.json", User: "settings.json", Dir: ".qwen", Variable: "QWEN_HOME",
			hook: claudeHook, unit: 1000, comments: true, // numbers from 1000 are milliseconds
		},
	},
	{
		Name: "copilot", Title: "Copilot CLI",
		Gate:    "Copilot CLI runs hooks of a project after you trusted its directory, which it asks for; copilot -p has --trust-folder.",
		Session: []string{"COPILOT_CLI"},
		marks:   []string{"stop_reason"},
		prompt:  prompt{flag: true},
		answer:  answer{decision: portable.decision, reason: portable.reason, notice: portable.notice, note: []string{"additionalContext"}},
		file:    sessionFiles{read: read[copilotRecord]},
		limit:   limit{most: 8},
		Settings: Settings{
			Project: ".github/hooks/ralph.json", User: "hooks/ralph.json", Dir: ".copilot", Variable: "COPILOT_HOME",
			hook: `{"type": "command", "command": COMMAND, "timeoutSec": TIMEOUT}`, flat: true, version: "1",
		},
	},
	{
		Name: "kimi", Title: "Kimi Code",
		marks:  []string{"client_type"},
		events: map[string]string{subagentStop: ""},
		prompt: prompt{flag: true}, // it asks no hook after a continuation
		answer: answer{
			decision: map[string]any{specific + ".permissionDecision": "deny"}, reason: []string{specific + ".permissionDecisionReason"}, note: []string{"message"},
		},
		limit:    limit{most: 1},
		Settings: Settings{User: "config.toml", Dir: ".kimi-code", Variable: "KIMI_CODE_HOME", TOML: true},
	},
	{
		Name: "opencode", Title: "OpenCode",
		Gate:    "OpenCode runs the hook by the plugin beside it, in its terminal and its server; opencode run ends before the answer: use ralph run there.",
		Session: []string{"OPENCODE"},
		marks:   []string{"client"},
		events:  map[string]string{subagentStop: "", promptSubmit: ""},
		prompt:  prompt{id: "prompt_id", flag: true},
		answer:  portable,
		Settings: Settings{
			Project: ".opencode/ralph.json", User: "ralph.json", Dir: ".config/opencode", Variable: "OPENCODE_CONFIG_DIR",
			Beside: []File{{"plugins/ralph.js", openCodePlugin}}, hook: claudeHook,
		},
	},
	{
		Name: "cursor", Title: "Cursor", Documented: true,
		Gate:    "Cursor runs hooks of a project in trusted workspaces.",
		Session: []string{"CURSOR_AGENT"},
		fields:  map[string]string{"session_id": "conversation_id"},
		events:  map[string]string{stop: "stop", subagentStop: "subagentStop", promptSubmit: "beforeSubmitPrompt"},
		roots:   "workspace_roots",
		prompt:  prompt{count: "loop_count"},
		answer:  answer{reason: []string{"followup_message"}, note: []string{"additional_context"}, submit: map[string]any{"continue": true}},
		file:    sessionFiles{read: read[record]},
		Settings: Settings{
			Project: ".cursor/hooks.json", User: "hooks.json", Dir: ".cursor",
			hook: `{"command": COMMAND, "loop_limit": null}`, flat: true, version: "1", // which lifts its limit of 5
		},
		refine: func(in object, ev *loop.Event) {
			if s := in.text("status"); stops(ev.Name) && (s == "aborted" || s == "error") {
				ev.Failed = s
			}
		},
	},
	{
		Name: "droid", Title: "Factory Droid",
		marks:    []string{"tool_execution_count"},
		events:   map[string]string{subagentStop: ""}, // it reports one, and drops the answer
		prompt:   prompt{flag: true},
		answer:   portable,
		file:     sessionFiles{read: read[record]},
		Settings: Settings{Project: ".factory/settings.json", Local: ".factory/settings.local.json", User: "settings.json", Dir: ".factory", hook: claudeHook},
		refine:   called,
	},
	{
		Name: "vscode", Title: "VS Code", Documented: true,
		Gate:    "Copilot CLI reads this file too, so install one of the two in a project.",
		Session: []string{"COPILOT_AGENT"},
		fields:  map[string]string{"session_id": "sessionId", "hook_event_name": "hookEventName"},
		prompt:  prompt{flag: true},
		answer: answer{
			decision: map[string]any{"decision": "block", specific + ".decision": "block"}, reason: []string{"reason", specific + ".reason"},
			notice: portable.notice, note: portable.note,
		},
		Settings: Settings{Project: ".github/hooks/ralph-vscode.json", hook: claudeHook, flat: true},
	},
	{
		Name: "goose", Title: "Goose", Documented: true,
		Session: []string{"GOOSE_TERMINAL"},
		fields:  map[string]string{"hook_event_name": "event", "cwd": "working_dir"}, // without one, hooks start in the project
		events:  map[string]string{subagentStop: "", promptSubmit: ""},
		answer:  blocked, // any other field is an error
		limit:   limit{most: 8, variable: "GOOSE_STOP_HOOK_BLOCK_CAP"},
		Settings: Settings{
			Project: ".agents/plugins/ralph/hooks/hooks.json", User: "plugins/ralph/hooks/hooks.json", Dir: ".agents",
			Beside: []File{{"../plugin.json", goosePlugin}}, hook: claudeHook,
		},
	},
	{
		Name: "openhands", Title: "OpenHands", Documented: true,
		Gate:     "OpenHands reads a person's own settings only in projects that have none.",
		fields:   map[string]string{"hook_event_name": "event_type", "cwd": "working_dir", "prompt": "message"},
		events:   map[string]string{subagentStop: ""},
		answer:   answer{decision: map[string]any{"decision": "deny"}, reason: portable.reason, note: []string{"additionalContext"}},
		Settings: Settings{Project: ".openhands/hooks.json", User: "hooks.json", Dir: ".openhands", hook: claudeHook},
	},
	{
		Name: "kiro", Title: "Kiro", Documented: true,
		Gate:    "The IDE of Kiro is said to drop the answer; its CLI (v3) reads it.",
		Session: []string{"KIRO_SESSION_ID"},
		events:  map[string]string{subagentStop: "", promptSubmit: ""},
		answer:  blocked, // it does not continue for status 2
		Settings: Settings{
			Project: ".kiro/hooks/ralph.json", User: "hooks/ralph.json", Dir: ".kiro", listed: true, version: `"v1"`,
			hook: `{"name": "ralph", "trigger": EVENT, "action": {"type": "command", "command": COMMAND}, "timeout": TIMEOUT}`,
		},
	},
	{
		Name: "antigravity", Title: "Antigravity", Documented: true,
		Session:  []string{"ANTIGRAVITY_AGENT"},
		fields:   map[string]string{"session_id": "conversationId"}, // it names no event: it has a hook for stops only
		events:   map[string]string{subagentStop: "", promptSubmit: ""},
		roots:    "workspacePaths",
		answer:   answer{decision: map[string]any{"decision": "continue"}, reason: portable.reason},
		Settings: Settings{Project: ".agents/hooks.json", User: "hooks.json", Dir: ".gemini/config", hook: claudeHook, flat: true, root: "ralph"},
		refine: func(in object, ev *loop.Event) {
			if why := in.text("terminationReason"); in.text("error") != "" || !strings.EqualFold(why, "no_tool_call") {
				ev.Failed = failure("", cmp.Or(in.text("error"), why))
			}
			if idle, known := in.flag("fullyIdle"); known && !idle {
				ev.Names["background_tasks"] = []any{map[string]any{"id": "", "type": "", "status": "running", "description": ""}}
			}
		},
	},
	{
		Name: "json", Title: "the portable form", // Claude Code's names, for wrappers and hosts that have no row
		prompt: prompt{id: "prompt_id", flag: true},
		answer: portable,
		file:   sessionFiles{read: read[record]},
	},
}

// openCodePlugin runs the hooks of the settings beside it when a session of OpenCode becomes idle.
//
//go:embed opencode.js
var openCodePlugin string

// goosePlugin makes a directory a plugin of Goose.
const goosePlugin = `{"name": "ralph", "version": "1.0.0", "description": "Asks ralph whether the agent may stop."}
`

// called makes the stop of a Droid that another one called a subagent's: its session file begins with the caller.
func called(in object, ev *loop.Event) {
	f, _, err := state.OpenRegular(in.text("transcript_path"))
	if err != nil {
		return
	}
	defer f.Close()
	begin := make([]byte, 4096)
	n, _ := io.ReadFull(f, begin)
	if first, _, _ := bytes.Cut(begin[:n], []byte("\n")); ev.Name == stop && bytes.Contains(first, []byte(`"callingSessionId":"`)) {
		ev.Name, ev.Names["agent_id"] = subagentStop, ev.Session
		in["agent_transcript_path"] = in["transcript_path"]
	}
}
