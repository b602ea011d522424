package host

import (
	"cmp"
	"math"
	"strings"

	"github.com/ralph-sdk/ralph/internal/hookfile"
	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// ClaudeCode is the name of Claude Code.
const ClaudeCode = "claude-code"

// claudeCode writes the fields under the names that all events have. It accepts a note to a prompt and ignores unknown
// keys.
var claudeCode = Host{
	Name: ClaudeCode, Title: "Claude Code",
	Session: []string{"CLAUDECODE"},
	marks: func(in object) bool {
		return in.has("prompt_id") || in.has(vocab.SessionCrons) || in.has(vocab.BackgroundTasks)
	},
	compacts: true,
	teams:    true,
	dialect:  withContext,
	record:   claudeRecord,
	Settings: hookfile.Settings{
		Program: "claude",
		Dir:     hookfile.Path{Variable: "CLAUDE_CONFIG_DIR", Name: ".claude"},
		Project: ".claude/settings.json", Local: ".claude/settings.local.json", User: "settings.json",
		Managed: claudeManaged,
		Here:    true,
		Goal:    "/goal",
		Form:    hookfile.Form{List: true},
		Plugin:  hookfile.Plugin{Remove: "claude plugin uninstall ralph@ralph", Key: "enabledPlugins"},
		Cap:     hookfile.Cap{Most: 8, PerTool: true, Variable: "CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"},
	},
}

// claudeManaged returns the file in which administrators configure Claude Code.
func claudeManaged(goos string) string {
	switch goos {
	case "darwin":
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		return `C:\Program Files\ClaudeCode\managed-settings.json`
	}
	return "/etc/claude-code/managed-settings.json"
}

// feedback begins the message in which Claude Code shows the agent the reason to continue.
const feedback = "Stop hook feedback:"

// claudeRecord reads a record of Claude Code, and of the hosts that use its form: Qwen Code, and Droid and Cursor,
// which write its messages in records of their own. It writes one record a content block; those of one message share
// its id. Nearly everything that is not the agent's is a user record: prompts, results of tools, output of hooks and
// commands, notifications, and the summary of a conversation that grew too long.
func claudeRecord(r record) entry {
	e := entry{kind: noise}
	raw, role := r.get("message"), r.typ
	switch {
	case raw != nil && (r.typ == "user" || r.typ == "assistant" || r.typ == "tool_result"):
	case raw != nil && (r.typ == "" || r.typ == "message"):
		role = r.text("role")
	case r.typ == "attachment":
		return attached(r)
	case r.typ == "assistant", r.typ == "summary", r.typ == "user" && r.get("content") == nil:
		return e
	default:
		return entry{}
	}
	if r.is("isSidechain") && !r.subagent {
		return e // older versions wrote subagents into the main file
	}
	e.turn, e.changed = r.text("promptId"), r.get("toolUseResult")
	ended := r.get("toolCallResult") // Qwen Code's
	results := func() []part {
		status := ended.Field("status").Text()
		failed := e.changed.Field("interrupted").IsTrue() || status != "" && status != "success"
		parts := readMessage(raw, nil).parts
		for i := range parts {
			parts[i].ok, parts[i].failed = parts[i].ok && !failed, parts[i].failed || failed
		}
		return parts
	}
	if role == "tool_result" || e.changed.There() || role == "user" && raw.HasToken(`"tool_result"`) {
		e.kind, e.results = result, results // unread: results can be large
		return e
	}
	var room [8]member
	m := readMessage(raw, room[:0])
	first := m.first()
	switch cmp.Or(role, m.text("role")) {
	case "assistant":
		switch {
		case r.is("isApiErrorMessage"):
			e.failed = FailureOf(r.text("error"), first)
			return e
		case m.text("model") == "<synthetic>":
			return e
		}
		e.kind, e.id, e.parts = assistant, m.text("id"), m.parts
		e.usage.tokens, e.open = max(m.tokens, r.get("usageMetadata").Field("totalTokenCount").Int()), m.text("stop_reason") == "tool_use"
	case "user":
		switch {
		case m.result:
			e.kind, e.results = result, results
		case interruption(first):
			e.failed = &Failure{Kind: Interrupted, Text: first}
		case r.is("isCompactSummary"):
		case r.is("isMeta") && strings.HasPrefix(first, feedback):
			e.kind, e.again = opening, true
		case r.is("isMeta"), first == "" && !m.media, foreign(r.get("origin")):
		case hasAnyPrefix(first, "<local-command-", "<task-notification>", "<bash-stdout>", "<bash-stderr>"):
			// the user typed a <command-name>; everything else comes from the host
		default:
			e.kind, e.prompt = opening, true
		}
		e.parts = m.parts
	}
	return e
}

// foreign reports whether a message does not come from the user.
func foreign(origin jsontext.Value) bool {
	kind := origin.Field("kind").Text()
	return kind != "" && kind != "human"
}

// message returns the message of a record.
type message struct {
	fields
	content
	tokens int
}

func readMessage(v jsontext.Value, list []member) message {
	m := message{fields: readFields(v, list)}
	body := m.get("content")
	if body == nil {
		body = m.get("parts") // Qwen Code's
	}
	m.content = readContent(body)
	for c := m.get("usage").Members(); c.Next(); {
		switch string(c.Key) {
		case "input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens":
			m.tokens = plus(m.tokens, c.Value.Int())
		}
	}
	return m
}

// attached reads an attachment. A hook's reason to continue arrives as one if the hook passed it as additional context.
func attached(r record) entry {
	a := readFields(r.get("attachment"), nil)
	if event := a.text("hookEvent"); a.text("type") == "hook_additional_context" && (event == Stop || event == SubagentStop) && !r.is("isSidechain") {
		return entry{kind: opening, again: true, parts: readContent(a.get("content")).parts}
	}
	return entry{kind: noise}
}

// plus adds two counts. It saturates, because a session file can hold any number.
func plus(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// interruption reports whether the text of a user record shows that the user interrupted the agent.
func interruption(text string) bool {
	return text == "[Request interrupted by user]" || text == "[Request interrupted by user for tool use]"
}
