// Package vocab has the words that policies, tests and hosts share, each in one table: events, kinds of failures and
// names. Start with [Names].
package vocab

import (
	"slices"
	"time"
)

// The hook events that a policy can list, with Claude Code's names.
const (
	Stop             = "Stop"
	SubagentStop     = "SubagentStop"
	UserPromptSubmit = "UserPromptSubmit"
	PreCompact       = "PreCompact"
	StopFailure      = "StopFailure"
	SessionEnd       = "SessionEnd"
	TaskCompleted    = "TaskCompleted"
	TeammateIdle     = "TeammateIdle"
)

// Events returns the hook events.
func Events() []string {
	return []string{Stop, SubagentStop, UserPromptSubmit, PreCompact, StopFailure, SessionEnd, TaskCompleted, TeammateIdle}
}

// Passes reports whether the event ends no turn, whatever rules decide.
func Passes(event string) bool { return event == PreCompact || event == TaskCompleted }

// Watched reports whether hosts ignore the answer to an event, which only has notices, logs and effects.
func Watched(event string) bool { return event == StopFailure || event == SessionEnd }

// Decides reports whether rules can stop or continue an agent at an event.
func Decides(event string) bool { return event != UserPromptSubmit && !Watched(event) }

// The kinds of failures of a turn.
const (
	RateLimited     = "rate_limited"
	Auth            = "auth"
	Billing         = "billing"
	TurnLimit       = "turn_limit"
	ContextOverflow = "context_overflow"
	OverBudget      = "budget"
	Timeout         = "timeout"
	Crashed         = "crashed"
	Interrupted     = "interrupted"
)

// Failures returns the kinds of failures.
func Failures() Enum {
	return Enum{RateLimited, Auth, Billing, TurnLimit, ContextOverflow, OverBudget, Timeout, Crashed, Interrupted}
}

// How an iteration ends that did not fail.
const (
	OK   = "ok"
	Lost = "lost"
)

// The names that code uses.
const (
	SessionID            = "session_id"
	TurnID               = "turn_id"
	Cwd                  = "cwd"
	HookEventName        = "hook_event_name"
	PermissionMode       = "permission_mode"
	StopHookActive       = "stop_hook_active"
	LastAssistantMessage = "last_assistant_message"
	TranscriptPath       = "transcript_path"
	AgentID              = "agent_id"
	AgentType            = "agent_type"
	BackgroundTasks      = "background_tasks"
	SessionCrons         = "session_crons"
	Prompt               = "prompt"
	Trigger              = "trigger"
	CustomInstructions   = "custom_instructions"
	Reason               = "reason"
	Error                = "error"
	ErrorDetails         = "error_details"
	TaskID               = "task_id"
	TaskSubject          = "task_subject"
	TaskDescription      = "task_description"

	Host    = "host"
	HookRaw = "hook.raw"
	Project = "project"
	Answer  = "answer"

	Said     = "said"
	Promised = "promised"
	Mentions = "mentions"

	TranscriptLast            = "transcript.last"
	TranscriptTexts           = "transcript.texts"
	TranscriptPrompt          = "transcript.prompt"
	TranscriptTurns           = "transcript.turns"
	TranscriptTools           = "transcript.tools"
	TranscriptPassed          = "transcript.passed"
	TranscriptPassedSinceEdit = "transcript.passed_since_edit"
	TranscriptFailed          = "transcript.failed"
	TranscriptTokens          = "transcript.tokens"
	TranscriptTotalTokens     = "transcript.total_tokens"
	TranscriptTasks           = "transcript.tasks"

	LoopContinuations = "loop.continuations"
	LoopTotal         = "loop.total"
	LoopRepeats       = "loop.repeats"
	LoopElapsed       = "loop.elapsed"
	LoopStep          = "loop.step"
	LoopName          = "loop.name"
	Waited            = "waited"

	SessionElapsed = "session.elapsed"

	RunStarting  = "run.starting"
	RunOutcome   = "run.outcome"
	RunIteration = "run.iteration"
	RunElapsed   = "run.elapsed"
	RunTokens    = "run.tokens"
	RunCost      = "run.cost"
	RunExitCode  = "run.exit_code"
	RunSessionID = "run.session_id"
	RunResetsAt  = "run.resets_at"
	RunDenied    = "run.denied"

	Now     = "now"
	Exists  = "exists"
	IsDir   = "isdir"
	AnyFile = "anyfile"
	Which   = "which"
)

// Entry is a name that every policy has.
type Entry struct {
	Name    string // the full name, such as transcript.last
	Zero    any    // of its type: a Go value, [Enum], [Items], [Object], or nil for anything
	Doc     string
	Event   string   // the only event with the name; "" for all
	Private bool     // traces and logs show only its size, also of everything derived from it
	Secret  bool     // private, and not the words of a user or agent, which a person may ask to see
	Shown   []string // the fields that are not private, if the others are
	Memory  bool     // comes from the loop memory
	Yields  bool     // a policy may declare the name, or its group
}

// Types without a Go value.
type (
	Enum   []string       // one of these strings
	Items  map[string]any // a list of objects with these fields
	Object map[string]any // an object with these fields, or nil
)

func no(string) bool { return false }

// Names returns the names that every policy has, without env.NAME, which is open. Those of the hook input come first.
func Names() []Entry {
	return []Entry{
		{Name: SessionID, Zero: "", Doc: "Session of the agent."},
		{Name: TurnID, Zero: "", Doc: "ID of the prompt and its continuations, if the host reports one."},
		{Name: Cwd, Zero: "", Doc: "Working directory of the agent."},
		{Name: HookEventName, Zero: "", Doc: "Event, under Claude Code's name on every host."},
		{Name: PermissionMode, Zero: "", Doc: "Permission mode of the session, such as plan."},
		{Name: StopHookActive, Zero: false, Doc: "The host reports that the agent was continued since the last prompt."},
		{Name: LastAssistantMessage, Zero: "", Private: true, Doc: "The last message of the agent, as the host reports it."},
		{Name: TranscriptPath, Zero: "", Doc: "File of the session."},
		{Name: AgentID, Zero: "", Doc: "Subagent that stops, or teammate; empty for the main agent."},
		{Name: AgentType, Zero: "", Doc: "Type of the subagent that stops."},
		{
			Name: BackgroundTasks, Zero: Items{"id": "", "type": "", "status": "", "description": ""}, Shown: []string{"id", "type", "status"},
			Doc: "Work that still runs in the background. Only the description is *private*.",
		},
		{
			Name: SessionCrons, Zero: Items{"id": "", "schedule": "", "prompt": "", "recurring": false}, Shown: []string{"id", "schedule", "recurring"},
			Doc: "Wake-ups that are set. Only the prompt is *private*.",
		},
		{Name: Prompt, Zero: "", Event: UserPromptSubmit, Private: true, Doc: "Prompt of the user, on UserPromptSubmit."},
		{Name: Trigger, Zero: Enum{"", "manual", "auto"}, Event: PreCompact, Yields: true, Doc: "Why the context is compacted, on PreCompact: manual or auto."},
		{Name: CustomInstructions, Zero: "", Event: PreCompact, Private: true, Yields: true, Doc: "What the user wants of the summary, on PreCompact."},
		{Name: Reason, Zero: "", Event: SessionEnd, Yields: true, Doc: "Why the session ends, on SessionEnd, in the host's words."},
		{Name: Error, Zero: "", Event: StopFailure, Yields: true, Doc: "What failed, on StopFailure, in the host's words, such as rate_limit."},
		{Name: ErrorDetails, Zero: "", Event: StopFailure, Private: true, Yields: true, Doc: "More about it."},
		{Name: TaskID, Zero: "", Event: TaskCompleted, Yields: true, Doc: "The task that the agent is about to complete, on TaskCompleted."},
		{Name: TaskSubject, Zero: "", Event: TaskCompleted, Private: true, Yields: true, Doc: "Its title."},
		{Name: TaskDescription, Zero: "", Event: TaskCompleted, Private: true, Yields: true, Doc: "More about it."},

		{Name: Host, Zero: "", Doc: "Host program, such as claude-code; empty if unknown."},
		{Name: HookRaw, Private: true, Secret: true, Doc: "The raw hook input, untyped. It differs between hosts."},
		{Name: Project, Zero: "", Doc: "Root directory of the project."},

		{Name: Answer, Zero: "", Private: true, Doc: "A person's answer to the question of a rule with ask, in the first decision after it; otherwise empty."},

		{Name: Said, Zero: no, Doc: "The agent wrote this marker alone on a line."},
		{Name: Promised, Zero: no, Doc: "The agent wrote <promise>…</promise> with this content alone on a line."},
		{Name: Mentions, Zero: no, Doc: "A guess: the agent's last text contains this, ignoring case, and does not deny it."},

		{Name: TranscriptLast, Zero: "", Private: true, Doc: "The agent's last message."},
		{Name: TranscriptTexts, Zero: []string{}, Private: true, Doc: "The agent's own texts since the last prompt or continuation."},
		{Name: TranscriptPrompt, Zero: "", Private: true, Doc: "The user's last prompt; empty for hosts whose session files do not distinguish prompts from continuations."},
		{Name: TranscriptTurns, Zero: func(int) []any { return []any{} }, Private: true, Doc: "The last n turns, each with role and text."},
		{Name: TranscriptTools, Zero: []string{}, Doc: "Names of the tools used in this turn."},
		{Name: TranscriptPassed, Zero: no, Doc: "This shell command ran in this turn and passed the last time."},
		{Name: TranscriptPassedSinceEdit, Zero: no, Doc: "This shell command passed the last time, and the agent edited no file since."},
		{
			Name: TranscriptFailed, Zero: Object{"kind": Failures(), "text": ""}, Shown: []string{"kind"},
			Doc: "How the turn failed, where the session ends in a failed request or an interruption; else nil. Only the text is *private*.",
		},
		{Name: TranscriptTokens, Zero: 0, Doc: "Context size of the last reply."},
		{Name: TranscriptTotalTokens, Zero: 0, Doc: "Tokens that the session has used, sent and received."},
		{Name: TranscriptTasks, Zero: 0, Doc: "Length of the task list in the session file."},

		{Name: LoopContinuations, Zero: 0, Memory: true, Doc: "Continuations in this streak."},
		{Name: LoopTotal, Zero: 0, Memory: true, Doc: "Continuations in this session, of policies with this name or content."},
		{Name: LoopRepeats, Zero: 0, Memory: true, Doc: "Latest continuations with the same progress as now."},
		{Name: LoopElapsed, Zero: time.Duration(0), Memory: true, Doc: "Time since the first continuation of the streak."},
		{Name: LoopStep, Zero: time.Duration(0), Memory: true, Doc: "Time since the latest continuation."},
		{Name: LoopName, Zero: "", Memory: true, Doc: "Name of the loop."},
		{Name: Waited, Zero: false, Memory: true, Yields: true, Doc: "A rule with wait above has waited as long as it may, in this decision."},

		{
			Name: SessionElapsed, Zero: time.Duration(0), Yields: true,
			Doc: "Time since the session began; if the session file names no time, since the policy saw its first event.",
		},

		{Name: RunStarting, Zero: false, Yields: true, Doc: "A run asks for its first prompt; no iteration has started, and none has ended."},
		{Name: RunOutcome, Zero: append(Enum{"", OK, Lost}, Failures()...), Yields: true, Doc: "How the latest iteration of the run ended; empty outside of a run."},
		{Name: RunIteration, Zero: 0, Yields: true, Doc: "Number of the latest iteration, from 1."},
		{Name: RunElapsed, Zero: time.Duration(0), Yields: true, Doc: "Time that ralph worked on the run, including its waiting."},
		{Name: RunTokens, Zero: 0, Yields: true, Doc: "Tokens that the run has used."},
		{Name: RunCost, Zero: (*float64)(nil), Yields: true, Doc: "What the run has cost, in US dollars; nil if that is not known."},
		{Name: RunExitCode, Zero: 0, Yields: true, Doc: "Exit status of the latest iteration."},
		{Name: RunSessionID, Zero: "", Yields: true, Doc: "Session of the agent in the latest iteration."},
		{Name: RunResetsAt, Zero: time.Time{}, Yields: true, Doc: "When the rate limit resets; the zero time if there is none."},
		{Name: RunDenied, Zero: Items{"tool": "", "input": ""}, Yields: true, Doc: "What the client did not let the agent do in the latest iteration: the tool, and its input in short, such as a command."},

		{Name: "start.name", Zero: "", Yields: true, Doc: "What ralph start is asked to start. Known only below loop.start, as the other names of start."},
		{Name: "start.prompt", Zero: "", Yields: true, Doc: "The prompt."},
		{Name: "start.promise", Zero: "", Yields: true, Doc: "Value of --promise."},
		{Name: "start.max", Zero: 0, Yields: true, Doc: "Value of --max."},
		{Name: "start.session", Zero: "", Yields: true, Doc: "Value of --session, or the session that runs the command."},

		{Name: Now, Zero: time.Time{}, Doc: "Time of the event, in the local time zone. `now().Hour()` is its hour, and `now().Weekday()` its day, 0 for Sunday."},
		{Name: Exists, Zero: no, Doc: "A file or directory exists at this path of the project."},
		{Name: IsDir, Zero: no, Doc: "A directory exists at this path of the project."},
		{Name: AnyFile, Zero: no, Doc: "This pattern matches a file of the project."},
		{Name: Which, Zero: func(string) string { return "" }, Doc: "Path of this program, or empty."},
	}
}

// Inputs returns the names of the hook input.
func Inputs() []Entry {
	all := Names()
	return all[:slices.IndexFunc(all, func(e Entry) bool { return e.Name == Host })]
}

// Find returns the entry of a name; ok is false if there is none.
func Find(name string) (e Entry, ok bool) {
	all := Names()
	i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == name })
	if i < 0 {
		return Entry{}, false
	}
	return all[i], true
}
