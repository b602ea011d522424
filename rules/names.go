package rules

import (
	"reflect"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// NameInfo describes one of the names that every policy has.
type NameInfo struct {
	Name    string // whole path, such as transcript.last
	Doc     string
	Private bool // its value is not shown in traces unless asked for

	typ    *schema.Type // of plain data
	goType reflect.Type // of functions, times and durations
	askRow bool         // comes from the loop memory
}

// Names lists the names that every policy has, without env.NAME, which is open.
func Names() []NameInfo {
	text := &schema.Type{Kind: schema.String}
	boolean := &schema.Type{Kind: schema.Bool}
	integer := &schema.Type{Kind: schema.Int}
	texts := &schema.Type{Kind: schema.Array, Elem: text}
	object := func(fields ...string) *schema.Type {
		t := &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{}}
		for _, f := range fields {
			t.Fields[f] = text
		}
		return t
	}
	task := object("id", "type", "status", "description")
	cron := object("id", "schedule", "prompt")
	cron.Fields["recurring"] = boolean
	data := func(name string, t *schema.Type, doc string) NameInfo { return NameInfo{Name: name, typ: t, Doc: doc} }
	private := func(n NameInfo) NameInfo { n.Private = true; return n }
	native := func(name string, v any, doc string) NameInfo {
		return NameInfo{Name: name, goType: reflect.TypeOf(v), Doc: doc}
	}
	row := func(name string, v any, doc string) NameInfo { n := native(name, v, doc); n.askRow = true; return n }
	ask := func(string) bool { return false }
	return []NameInfo{
		data("session_id", text, "Session of the agent."),
		data("turn_id", text, "Turn within the session, where the host tells it."),
		data("cwd", text, "Directory that the agent is in."),
		data("hook_event_name", text, "Event, under Claude Code's name on every host."),
		data("permission_mode", text, "Permission mode of the session, such as plan."),
		data("stop_hook_active", boolean, "The host says that this turn was continued before."),
		private(data("last_assistant_message", text, "What the agent wrote last.")),
		data("transcript_path", text, "File of the session."),
		data("agent_id", text, "Subagent that stops; empty for the main agent."),
		data("agent_type", text, "Kind of agent that stops."),
		data("background_tasks", &schema.Type{Kind: schema.Array, Elem: task}, "Work that still runs."),
		data("session_crons", &schema.Type{Kind: schema.Array, Elem: cron}, "Wake-ups that are set."),
		private(data("prompt", text, "Prompt of the person, on UserPromptSubmit.")),
		data("host", text, "Host program, such as claude-code; empty if unknown."),
		private(data("hook.raw", &schema.Type{}, "The hook input as it came, untyped.")),
		data("project", text, "Root directory of the project."),

		native("said", ask, "The agent itself wrote this marker alone on a line."),
		native("promised", ask, "The agent itself wrote this inside <promise>…</promise>."),
		native("mentions", ask, "The agent's own words contain this, whatever the case."),

		private(data("transcript.last", text, "The agent's last text.")),
		private(data("transcript.texts", texts, "The agent's own texts since the last prompt or continuation.")),
		private(native("transcript.turns", func(int) []any { return nil }, "The last n turns, each with role and text.")),
		data("transcript.tools", texts, "Names of the tools used in this turn."),
		native("transcript.passed", ask, "This shell command ran in this turn, and passed the last time."),
		data("transcript.tokens", integer, "Context size of the last reply."),
		data("transcript.tasks", integer, "Length of the task list that the session file tells of."),

		row("loop.continuations", 0, "Continuations in this row."),
		row("loop.total", 0, "Continuations in this session."),
		row("loop.repeats", 0, "Latest continuations with the same progress as now."),
		row("loop.elapsed", time.Duration(0), "Time since the first continuation of the row."),
		row("loop.step", time.Duration(0), "Time since the latest continuation."),

		native("now", time.Time{}, "Time of the event."),
		native("exists", ask, "There is a file or folder at this path of the project."),
		native("isdir", ask, "There is a folder at this path of the project."),
		native("anyfile", ask, "This pattern matches a file of the project."),
		native("which", func(string) string { return "" }, "Where this program is, or empty."),
	}
}

// zero gives what a name is when the world has nothing to say.
func (n *NameInfo) zero() any {
	switch n.goType {
	case nil:
	case reflect.TypeFor[func(string) bool]():
		return func(string) bool { return false }
	case reflect.TypeFor[func(string) string]():
		return func(string) string { return "" }
	case reflect.TypeFor[func(int) []any]():
		return func(int) []any { return []any{} }
	default:
		return reflect.Zero(n.goType).Interface()
	}
	return n.typ.Zero()
}
