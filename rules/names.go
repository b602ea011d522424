package rules

import (
	"fmt"
	"reflect"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// nameInfo is one of the names that every policy has.
type nameInfo struct {
	Name    string // whole path, such as transcript.last
	Doc     string
	Private bool // traces and logs show only how large its value is, and what is made of it

	typ    *schema.Schema // of plain data
	goType reflect.Type   // of functions, times and durations
	askRow bool           // comes from the loop memory
	yields bool           // a policy may declare the name, or its group, itself
	shows  *secrecy       // of a value that is private in part
}

// knownNames are the names that every policy has, without env.NAME, which is open.
func knownNames() []nameInfo {
	text := &schema.Schema{Kind: schema.String}
	boolean := &schema.Schema{Kind: schema.Bool}
	integer := &schema.Schema{Kind: schema.Int}
	texts := &schema.Schema{Kind: schema.Array, Elem: text}
	object := func(fields ...string) *schema.Schema {
		t := &schema.Schema{Kind: schema.Object, Fields: map[string]*schema.Schema{}}
		for _, f := range fields {
			t.Fields[f] = text
		}
		return t
	}
	task := object("id", "type", "status", "description")
	cron := object("id", "schedule", "prompt")
	cron.Fields["recurring"] = boolean
	data := func(name string, t *schema.Schema, doc string) nameInfo {
		return nameInfo{Name: name, typ: t, Doc: doc}
	}
	private := func(n nameInfo) nameInfo { n.Private = true; return n }
	partly := func(n nameInfo, shown ...string) nameInfo { n.shows = showing(shown...); return n }
	native := func(name string, v any, doc string) nameInfo {
		return nameInfo{Name: name, goType: reflect.TypeOf(v), Doc: doc}
	}
	row := func(name string, v any, doc string) nameInfo { n := native(name, v, doc); n.askRow = true; return n }
	ask := func(string) bool { return false }
	failed := object("text")
	failed.Nullable = true
	failed.Fields["kind"] = &schema.Schema{Kind: schema.String, Enum: words(failureKinds())}
	outcome := &schema.Schema{Kind: schema.String, Enum: words(append([]string{"", "ok", "lost"}, failureKinds()...))}
	cost := &schema.Schema{Kind: schema.Number, Nullable: true}
	young := func(n nameInfo) nameInfo { n.yields = true; return n }
	return []nameInfo{
		data("session_id", text, "Session of the agent."),
		data("turn_id", text, "Turn within the session, where the host gives it."),
		data("cwd", text, "Working directory of the agent."),
		data("hook_event_name", text, "Event, under Claude Code's name on every host."),
		data("permission_mode", text, "Permission mode of the session, such as plan."),
		data("stop_hook_active", boolean, "The host reports that this turn was continued before."),
		private(data("last_assistant_message", text, "The last text of the agent, as the host gives it.")),
		data("transcript_path", text, "File of the session."),
		data("agent_id", text, "Subagent that stops; empty for the main agent."),
		data("agent_type", text, "Type of the subagent that stops."),
		partly(data("background_tasks", &schema.Schema{Kind: schema.Array, Elem: task}, "Work that still runs in the background. Only the description is *private*."), "id", "type", "status"),
		partly(data("session_crons", &schema.Schema{Kind: schema.Array, Elem: cron}, "Wake-ups that are set. Only the prompt is *private*."), "id", "schedule", "recurring"),
		private(data("prompt", text, "Prompt of the user, on UserPromptSubmit.")),
		young(data("trigger", &schema.Schema{Kind: schema.String, Enum: words([]string{"", "manual", "auto"})}, "Why the context is compacted, on PreCompact: manual or auto.")),
		young(private(data("custom_instructions", text, "What the user wants of the summary, on PreCompact."))),
		young(data("reason", text, "Why the session ends, on SessionEnd, in the host's words.")),
		young(data("error", text, "What failed, on StopFailure, in the host's words, such as rate_limit.")),
		young(private(data("error_details", text, "More about it."))),
		data("host", text, "Host program, such as claude-code; empty if unknown."),
		private(data("hook.raw", &schema.Schema{}, "The raw hook input, untyped. It differs between hosts.")),
		data("project", text, "Root directory of the project."),

		native("said", ask, "The agent wrote this marker alone on a line, where it counts."),
		native("promised", ask, "The agent wrote this inside <promise>…</promise>, where it counts."),
		native("mentions", ask, "The agent's own text contains this where it counts, ignoring case."),

		private(data("transcript.last", text, "The agent's last text.")),
		private(data("transcript.texts", texts, "The agent's own texts since the last prompt or continuation.")),
		private(native("transcript.turns", func(int) []any { return nil }, "The last n turns, each with role and text.")),
		data("transcript.tools", texts, "Names of the tools used in this turn."),
		native("transcript.passed", ask, "This shell command ran in this turn and passed the last time."),
		native("transcript.passed_since_edit", ask, "This shell command passed the last time, and the agent edited no file since."),
		partly(data("transcript.failed", failed, "How the turn failed, where the session ends in a failed request or an interruption; else nil. Only the text is *private*."), "kind"),
		data("transcript.tokens", integer, "Context size of the last reply."),
		data("transcript.total_tokens", integer, "Tokens that the session has used, sent and received."),
		data("transcript.tasks", integer, "Length of the task list in the session file."),

		row("loop.continuations", 0, "Continuations in this streak."),
		row("loop.total", 0, "Continuations in this session."),
		row("loop.repeats", 0, "Latest continuations with the same progress as now."),
		row("loop.elapsed", time.Duration(0), "Time since the first continuation of the streak."),
		row("loop.step", time.Duration(0), "Time since the latest continuation."),

		row("loop.name", "", "Name of the loop."),

		young(native(sessionElapsed, time.Duration(0), "Time since the session began; if the session file names no time, since the policy saw its first event.")),

		young(data("run.outcome", outcome, "How the latest iteration of the run ended; empty outside of a run.")),
		young(data("run.iteration", integer, "Number of the latest iteration, from 1.")),
		young(native("run.elapsed", time.Duration(0), "Time since the run began.")),
		young(data("run.tokens", integer, "Tokens that the run has used.")),
		young(data("run.cost", cost, "What the run has cost, in US dollars; nil if that is not known.")),
		young(data("run.exit_code", integer, "Exit status of the latest iteration.")),
		young(data("run.session_id", text, "Session of the agent in the latest iteration.")),
		young(native("run.resets_at", time.Time{}, "When the rate limit resets; the zero time if there is none.")),

		young(data("start.name", text, "What ralph start is asked to start. Known only below loop.start, as the other names of start.")),
		young(data("start.prompt", text, "The prompt.")),
		young(data("start.promise", text, "Value of --promise.")),
		young(data("start.max", integer, "Value of --max.")),
		young(data("start.session", text, "Value of --session, or the session that runs the command.")),

		native("now", time.Time{}, "Time of the event."),
		native("exists", ask, "A file or folder exists at this path of the project."),
		native("isdir", ask, "A folder exists at this path of the project."),
		native("anyfile", ask, "This pattern matches a file of the project."),
		native("which", func(string) string { return "" }, "Path of this program, or empty."),
	}
}

const sessionElapsed = "session.elapsed"

// failureKinds are the kinds of transcript.failed.
func failureKinds() []string {
	return []string{"rate_limited", "auth", "billing", "turn_limit", "context_overflow", "budget", "timeout", "crashed", "interrupted"}
}

func words(list []string) []any {
	out := make([]any, len(list))
	for i, w := range list {
		out[i] = w
	}
	return out
}

// called reports whether expressions call the name.
func (n *nameInfo) called() bool {
	return n.goType != nil && n.goType.Kind() == reflect.Func || n.Name == "now"
}

// secrecy is that of its value.
func (n *nameInfo) secrecy() *secrecy {
	if n.Private {
		return hidden()
	}
	return n.shows
}

// take brings what the world gave for a name into the type that rules see. Names
// that are called pay for every call. problem says why it is not of that type.
func (n *nameInfo) take(v any, m *meter) (taken any, problem string) {
	if n.goType == nil {
		switch n.typ.Kind {
		case schema.String:
			if _, ok := v.(string); ok {
				return v, ""
			}
		case schema.Bool:
			if _, ok := v.(bool); ok {
				return v, ""
			}
		}
		plain, err := plainOf(reflect.ValueOf(v), 0)
		if err != nil {
			return nil, "cannot be used: " + err.Error()
		}
		if plain == nil {
			return n.zero(), ""
		}
		r := n.typ.Check(schema.Document{Value: zeroed(n.typ, plain)})
		if len(r.Unusable) > 0 {
			return nil, r.Unusable[0].Text()
		}
		return r.Value, ""
	}
	rv := reflect.ValueOf(v)
	if rv.Kind() == reflect.Func && rv.IsNil() {
		return n.zero(), ""
	}
	if !rv.CanConvert(n.goType) || rv.Kind() != n.goType.Kind() {
		return nil, fmt.Sprintf("cannot be used: expected a %s, got a %T", n.goType, v)
	}
	switch f := rv.Convert(n.goType).Interface().(type) {
	case func(string) bool:
		return func(s string) bool { m.ask(len(s)); return f(s) }, ""
	case func(string) string:
		return func(s string) string { m.ask(len(s)); return f(s) }, ""
	case func(int) []any:
		return func(n int) []any { m.ask(0); return f(n) }, ""
	default:
		return f, ""
	}
}

// zero gives what a name is when the world has nothing to say.
func (n *nameInfo) zero() any {
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
