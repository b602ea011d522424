package host

import "github.com/ralph-sdk/ralph/internal/vocab"

// The names of events, independent of the host. Other events keep the host's name.
const (
	Stop             = vocab.Stop             // the agent is about to end its turn
	SubagentStop     = vocab.SubagentStop     // a subagent is about to end
	StopFailure      = vocab.StopFailure      // an error or the user ended the turn
	UserPromptSubmit = vocab.UserPromptSubmit // the user sent a prompt
	PreCompact       = vocab.PreCompact       // the host is about to replace the conversation with a summary
	SessionEnd       = vocab.SessionEnd       // the session ends
	TaskCompleted    = vocab.TaskCompleted    // the agent is about to mark a task of its list as completed
	TeammateIdle     = vocab.TeammateIdle     // an agent of a team is about to wait for work
	Unnamed          = "Unnamed"              // the host does not name the event, and ralph does not recognize it
)

// Event is one hook input, with Claude Code's field names for every host. A field is the zero value if the input lacks
// it or has the wrong type; only Cwd is ever guessed.
type Event struct {
	Host string // the host that decoded it; "" is the portable host
	Name string // the event; an input that names none is a Stop

	ID             string // the caller's name for the event, also of its record: the same ID gets the same answer again; "" for a hook
	Run            string // the run of ralph run that sent the event; "" for a hook
	Iteration      int    // of the run that has ended, from 1; 0 before the first
	SessionID      string
	HostTurn       string // the host's own ID of the prompt and its continuations, turn_id in a policy; only Turn counts: prompt_id of Claude Code and Qwen, turn_id of Codex
	Cwd            string // the agent's working directory, as the host wrote it; it follows the agent's cd. "." is the hook's own
	PermissionMode string
	Prompt         string // the user's prompt; hosts send it with few events
	Trigger        string // why the context is compacted, with PreCompact: "manual" or "auto"
	Instructions   string // the user's instructions for the summary, with PreCompact
	Reason         string // why the session ends, with SessionEnd
	Error          string // what failed, with StopFailure, such as rate_limit
	ErrorDetails   string // details of Error
	TaskID         string // the task, with TaskCompleted
	Task           string // its subject
	TaskDetails    string // its description
	AgentID        string // the subagent, with SubagentStop; the teammate, with TaskCompleted and TeammateIdle
	AgentType      string

	// LastAssistantMessage is the agent's final message; "" if the host sends none. Claude Code sends only its last
	// block, and nothing if the turn ends without text. Gemini repeats the text of all continuations, so it is set only
	// at the first stop of a prompt; the transcript has the rest.
	LastAssistantMessage string

	TranscriptPath      string // the session file of the main agent, also with SubagentStop
	AgentTranscriptPath string // the session file of the subagent

	StopHookActive bool // a hook has continued the agent since the last prompt; on Cursor, LoopCount shows it
	LoopCount      int  // the continuations that Cursor counts, -1 if the host sends no count

	BackgroundTasks []map[string]any // each has at least the strings id, type, status and description
	SessionCrons    []map[string]any // each has at least the strings id, schedule and prompt, and the bool recurring

	// Turn identifies the prompt within the session: it stays the same through all continuations of one prompt. It is
	// HostTurn if the host has one, and a digest of the prompt on Gemini, where two equal prompts in a row look like one.
	// "" means that the prompt is unknown; see NewTurn.
	Turn string

	// NewTurn is true if the input itself shows that this is the first stop since a prompt: Cursor counts 0 continuations, or a host without
	// Turn reports that no hook is active. A missing flag shows nothing.
	NewTurn bool

	// Values holds values of facts and names for this event only, such as the answer to a question, as loop.WithValues
	// does for all events. Programs set it; no hook input does. Rules read them while the event is decided: do not change
	// them before Run, or Apply after Preview, has returned.
	Values map[string]any

	// Raw is the whole input. Whole numbers are int, others float64; a number too large for both is a json.Number.
	Raw map[string]any
}
