package host

import (
	"math"
	"strings"

	"github.com/ralph-sdk/ralph/internal/hookfile"
	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// ClaudeCode is the name of Claude Code.
const ClaudeCode = "claude-code"

// claudeCode writes the fields under the names that all events have. It takes a note to a prompt, and keys that it does
// not know do no harm.
var claudeCode = Host{
	Name: ClaudeCode, Title: "Claude Code",
	marks: func(in object) bool {
		return in.has("prompt_id") || in.has(vocab.SessionCrons) || in.has(vocab.BackgroundTasks)
	},
	compacts: true,
	dialect:  withContext,
	Settings: hookfile.Settings{
		Dir:     hookfile.Path{Variable: "CLAUDE_CONFIG_DIR", Name: ".claude"},
		Project: ".claude/settings.json", Local: ".claude/settings.local.json", User: "settings.json",
		Managed:     claudeManaged,
		Here:        true,
		Form:        hookfile.Form{List: true},
		Plugin:      hookfile.Plugin{Remove: "claude plugin uninstall ralph@ralph", Key: "enabledPlugins"},
		CapVariable: "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", CapUsual: 8,
	},
}

// claudeManaged is where administrators set what Claude Code does.
func claudeManaged(goos string) string {
	switch goos {
	case "darwin":
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		return `C:\Program Files\ClaudeCode\managed-settings.json`
	}
	return "/etc/claude-code/managed-settings.json"
}

// feedback begins the message in which Claude Code gives the agent the reason to go on.
const feedback = "Stop hook feedback:"

// claude reads a record of Claude Code, and of the hosts that took over its form. It writes one record a content block;
// those of one message share its id. Nearly everything that is not the agent's is a user record: prompts, results of
// tools, what hooks and commands say, notifications, and the summary of a conversation that grew too long.
func (r *record) claude(role string, subagent bool) entry {
	e := entry{kind: noise, turn: r.promptID}
	if r.sidechain && !subagent {
		return entry{kind: noise} // older versions wrote subagents into the main file
	}
	if role == "tool_result" || r.toolUseResult.There() || role == "user" && r.message.HasToken(`"tool_result"`) {
		e.kind = result // without a further look at what may be megabytes
		return e
	}
	m := readMessage(r.message)
	if role == "" {
		role = m.role
	}
	switch role {
	case "assistant":
		if r.apiError || m.model == "<synthetic>" {
			if r.apiError {
				e.failed = FailureOf(r.code, firstText(m.texts))
			}
			return e
		}
		e.kind, e.id = assistant, m.id
		e.texts, e.tools = m.texts, m.tools
		e.tokens, e.open = max(m.tokens, r.usageMetadata.Field("totalTokenCount").Int()), m.stopReason == "tool_use"
	case "user":
		e.texts = m.texts
		first := ""
		if len(m.texts) > 0 {
			first = strings.TrimSpace(m.texts[0])
		}
		switch {
		case m.result:
			e.kind = result
		case interruption(first):
			e.failed = &Failure{Kind: Interrupted, Text: first}
		case r.compact:
		case r.meta && strings.HasPrefix(first, feedback):
			e.kind = opening
		case r.meta, first == "" && !m.media, foreign(r.origin):
		case hasAnyPrefix(first, "<local-command-", "<task-notification>", "<bash-stdout>", "<bash-stderr>"):
			// what the host reports; a <command-name>, however, is what the user typed
		default:
			e.kind = opening
		}
	}
	return e
}

// foreign reports whether a message does not come from the user.
func foreign(origin jsontext.Value) bool {
	kind := origin.Field("kind").Text()
	return kind != "" && kind != "human"
}

// messageContent is what the message of the record consists of; Qwen Code has parts.
func (r *record) messageContent() jsontext.Value {
	if content := r.message.Field("content"); content != nil {
		return content
	}
	return r.message.Field("parts")
}

type message struct {
	blocks
	id, role, model, stopReason string
	tokens                      int
}

func readMessage(v jsontext.Value) message {
	var m message
	var content, usage jsontext.Value
	for c := v.Members(); c.Next(); {
		switch string(c.Key) {
		case "id":
			m.id = c.Value.Text()
		case "role":
			m.role = c.Value.Text()
		case "model":
			m.model = c.Value.Text()
		case "stop_reason":
			m.stopReason = c.Value.Text()
		case "content", "parts": // Qwen Code has parts
			content = c.Value
		case "usage":
			usage = c.Value
		}
	}
	m.blocks = readBlocks(content)
	for c := usage.Members(); c.Next(); {
		switch string(c.Key) {
		case "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens":
			m.tokens = plus(m.tokens, c.Value.Int())
		}
	}
	return m
}

// attached reads an attachment: the reason to go on also comes as one, where a hook gave it as additional context.
func (r *record) attached() entry {
	e := entry{kind: noise}
	var typ, event string
	var content jsontext.Value
	for c := r.attachment.Members(); c.Next(); {
		switch string(c.Key) {
		case "type":
			typ = c.Value.Text()
		case "hookEvent":
			event = c.Value.Text()
		case "content":
			content = c.Value
		}
	}
	if typ == "hook_additional_context" && (event == Stop || event == SubagentStop) && !r.sidechain {
		e.kind, e.texts = opening, readBlocks(content).texts
	}
	return e
}

// plus adds two counts. A session file can hold any number, and no sum of them becomes a small one.
func plus(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// interruption reports whether a text of a user record says that the user interrupted the agent.
func interruption(text string) bool {
	return text == "[Request interrupted by user]" || text == "[Request interrupted by user for tool use]"
}
