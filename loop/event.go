package loop

import (
	"context"

	"github.com/ralph-sdk/ralph/rules"
)

// Event is an agent about to stop, or a prompt. Its zero value is a stop without a session, which only a loop with a root can count.
type Event struct {
	Name      string // "Stop" if empty, "SubagentStop", "UserPromptSubmit"
	Session   string
	ID        string                                   // of the delivery: the one decided last gets the same answer
	PromptID  string                                   // another one begins a new prompt
	NewPrompt bool                                     // this is the first stop of a prompt
	AfterStop bool                                     // the sender does not mark prompts: one ends at a stop that a rule made
	Dir       string                                   // cwd
	Message   string                                   // last_assistant_message
	Failed    string                                   // the turn failed, and why: it is not continued
	Names     map[string]any                           // others of ralph's names, such as stop_hook_active and permission_mode
	Tasks     func(ctx context.Context) ([]any, error) // the host's task list; nil, or an error that is fs.ErrNotExist: there is none. With tasks, the error names those left out
	Run       bool                                     // an iteration of ralph run
	Values    map[string]any                           // values of facts, and of WithValues

	// Conversation returns the last n turns of the session, the oldest first. One decision uses it at a time. nil: only Message is known.
	Conversation interface {
		Turns(ctx context.Context, n int) ([]Turn, error)
	}
}

// Turn is what one side said until the other replied.
type Turn struct {
	Role   string // "user" or "assistant"
	Text   string
	Tools  []Tool
	Tokens int
}

// Tool is one use of a tool.
type Tool struct {
	Name, Command string // Command: of a shell
	Edit, Failed  bool   // it changed a file; it failed, or its outcome is not known
}

// Off is the outcome of an event that is not decided, since a person switched ralph off or stopped the loop.
const Off rules.Outcome = "off"

// Decision is the answer to an event. Its zero value lets the agent stop. Its texts are safe to show: of control
// characters they have line feeds and tabs, and they have none that hide or reorder others.
type Decision struct {
	Outcome rules.Outcome
	Policy  string
	Rule    string   // that decided, or "limits.NAME"
	Reason  string   // to the agent if it is continued; else why it may stop
	Notice  string   // to the person
	Note    string   // to the agent beside a prompt
	Log     []string // lines for stderr
	Err     error    `json:"-"` // of an outcome that failed, or of an effect after the decision
}
