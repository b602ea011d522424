package host

import "github.com/ralph-sdk/ralph/internal/vocab"

// The names of events, whatever the host calls them. Other events keep the host's name.
const (
	Stop             = vocab.Stop             // the agent is about to end its turn
	SubagentStop     = vocab.SubagentStop     // an agent that the agent started is about to end
	StopFailure      = vocab.StopFailure      // the turn ended by an error or by the user, not by the agent
	UserPromptSubmit = vocab.UserPromptSubmit // the user sent a prompt
	PreCompact       = vocab.PreCompact       // the host is about to replace the conversation by a summary
	SessionEnd       = vocab.SessionEnd       // the session ends
	Unnamed          = "Unnamed"              // the host does not name the event, and it is none of the above
)

// Event is one hook input, under Claude Code's names on every host. What the input does not say, or says with a value of
// the wrong type, is the zero value; no field but Cwd is ever guessed.
type Event struct {
	Host string // the name of the host that decoded it; "" is the portable host
	Name string // the event; an input that names none is a Stop

	ID             string // the caller's own name for the decision on the event, which becomes that of its record; "" for a hook
	Run            string // the run of ralph run that the event is of; "" for a hook
	SessionID      string
	TurnID         string // the host's own id of the turn: prompt_id of Claude Code and Qwen, turn_id of Codex
	Cwd            string // the agent's working directory, as the host wrote it; it follows the agent's cd. "." is the hook's own
	PermissionMode string
	Prompt         string // what the user asked; hosts send it with few events
	Trigger        string // why the context is compacted, with PreCompact: "manual" or "auto"
	Instructions   string // what the user wants of the summary, with PreCompact
	Reason         string // why the session ends, with SessionEnd
	Error          string // what failed, with StopFailure, such as rate_limit
	ErrorDetails   string // more about it
	AgentID        string // the subagent, with SubagentStop
	AgentType      string

	// LastAssistantMessage is the agent's final text. Claude Code gives only the last block of it, and nothing when the
	// agent ended without a text. Of Gemini, which repeats the texts of all continuations, it is taken from the first
	// stop of a prompt only; the transcript has the others.
	LastAssistantMessage string

	TranscriptPath      string // the session file of the main agent, also with SubagentStop
	AgentTranscriptPath string // the session file of the subagent

	StopHookActive bool // a hook has made the agent go on in this turn already; on Cursor, LoopCount says so
	LoopCount      int  // the continuations that Cursor counts, -1 where the host sends no count

	BackgroundTasks []map[string]any // each has at least the texts id, type, status and description
	SessionCrons    []map[string]any // each has at least the texts id, schedule and prompt, and the bool recurring

	// Turn distinguishes one turn of a session from the next: it stays the same through all continuations of one prompt. It is
	// TurnID where the host has one, and a digest of the prompt on Gemini, where two equal prompts in a row therefore
	// look like one turn. "" means that it cannot be known; see NewTurn.
	Turn string

	// NewTurn is true where the input itself says that a turn begins: Cursor counts 0 continuations, or a host without
	// Turn says that no hook is active. An absent flag says nothing.
	NewTurn bool

	// Values are values of facts and names for this event alone, which a program gives as with loop.WithValues; no input of a
	// host has them.
	Values map[string]any

	// Raw is the whole input. Whole numbers are int, others float64; a number too large for both is its text, as a
	// json.Number.
	Raw map[string]any
}
