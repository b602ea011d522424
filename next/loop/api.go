package loop

import (
	"context"
	"encoding/json"
	"io/fs"
	"time"

	"github.com/ralph-sdk/ralph/next/rules"
)

// Loop decides by one policy, and counts. It is safe for concurrent use. There is no zero value: Load or New makes one.
type Loop struct{}

// Load reads a policy from a file system, such as embed.FS or os.DirFS. Schemas that it names are read from there too.
func Load(fsys fs.FS, name string, opts ...Option) (*Loop, error) { panic("later") }

// New makes a loop of a policy.
func New(p *rules.Policy, opts ...Option) (*Loop, error) { panic("later") }

// Option configures a loop.
type Option func(*config)

type config struct{}

func WithRoot(dir string) Option                        { panic("later") } // where the files of facts are; without it there are none
func WithStore(s Store) Option                          { panic("later") } // default: a map in memory
func WithClock(now func() time.Time) Option             { panic("later") }
func WithEnv(lookup func(string) (string, bool)) Option { panic("later") } // env.NAME; default os.LookupEnv
func WithRecorder(r Recorder) Option                    { panic("later") }
func WithDeadline(d time.Duration) Option               { panic("later") }
func WithValues(values map[string]any) Option           { panic("later") } // their types, as rules.WithValues
func WithParams(params map[string]string) Option        { panic("later") }
func WithSource(name string, f SourceFunc) Option       { panic("later") }
func WithFunction(name string, fn any) Option           { panic("later") }
func WithEffect(name string, f EffectFunc) Option       { panic("later") }
func WithAllow(what ...string) Option                   { panic("later") } // "exec", "judge", "env", "home", "run", or "all"; default: nothing of these
func WithCeilings(l rules.Limits) Option                { panic("later") }
func WithScope(scope string) Option                     { panic("later") } // before each key of the store: keeps tenants apart
func WithApproval(why func() string) Option             { panic("later") } // asked once, when something needs approval; "" is yes

// SourceFunc gathers a fact. An error that is fs.ErrNotExist means missing, any other invalid.
type SourceFunc func(ctx context.Context, q rules.Query) (any, error)

// EffectFunc makes an effect of the program after the verdict is saved.
type EffectFunc func(ctx context.Context, text string) error

// Event is an agent about to stop, or a prompt.
type Event struct {
	Name         string // "Stop" if empty, "SubagentStop", "UserPromptSubmit"
	Session      string
	ID           string                                   // of the delivery: the one decided last gets the same answer
	PromptID     string                                   // another one begins a new prompt
	NewPrompt    bool                                     // this is the first stop of a prompt
	AfterStop    bool                                     // the sender tells no prompts: one ends at a stop that a rule made
	Dir          string                                   // cwd
	Message      string                                   // last_assistant_message
	Failed       string                                   // the turn failed, and why: it is not continued
	Names        map[string]any                           // others of ralph's names, such as stop_hook_active and permission_mode
	Conversation Conversation                             // nil: only Message is known
	Tasks        func(ctx context.Context) ([]any, error) // the host's task list
	Run          bool                                     // an iteration of ralph run
	Values       map[string]any                           // values of facts, and of WithValues
}

// Conversation reads what was said in a session.
type Conversation interface {
	// Turns returns the last n turns, the oldest first.
	Turns(ctx context.Context, n int) ([]Turn, error)
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

// Decision is the answer to an event.
type Decision struct {
	Outcome rules.Outcome
	Policy  string
	Rule    string
	Reason  string   // to the agent if it is continued
	Notice  string   // to the person
	Note    string   // to the agent beside a prompt
	Log     []string // lines for stderr
	Err     error    // of an outcome that failed
}

// Continue reports whether the agent goes on.
func (d Decision) Continue() bool { return d.Outcome == rules.Continued }

// Decide decides one event: gathers, evaluates, changes files, counts, records. The error is for a misuse by the program, such as a
// value that it forgot; with any error the agent may stop.
func (l *Loop) Decide(ctx context.Context, ev Event) (Decision, error) { panic("later") }

// NewPrompt begins a new prompt of a session.
func (l *Loop) NewPrompt(ctx context.Context, session string) error { panic("later") }

// Replace lets the loop decide by another policy from now on, with the counts that it has.
func (l *Loop) Replace(p *rules.Policy) error { panic("later") }

// Explain evaluates an event and changes nothing.
func (l *Loop) Explain(ctx context.Context, ev Event) (rules.Verdict, error) { panic("later") }

// Start makes the changes of the policy's start.
func (l *Loop) Start(ctx context.Context, text string) error { panic("later") }

// Policy returns the policy by which the loop decides.
func (l *Loop) Policy() *rules.Policy { panic("later") }

// Store keeps documents by key. See looptest.Store for what it promises.
type Store interface {
	Load(ctx context.Context, key string) ([]byte, error) // nil if there is none
	// Update is atomic and serialized by key. The same bytes write nothing, empty ones remove the document.
	Update(ctx context.Context, key string, change func(old []byte) (new []byte, err error)) error
	Keys(ctx context.Context, prefix string) ([]string, error)
}

// Dir returns a store in a directory, which is made with mode 0700 when it is first written.
func Dir(path string) Store { panic("later") }

// Map returns a store in memory.
func Map() Store { panic("later") }

// Recorder gets a record of each decision, after it is saved.
type Recorder func(ctx context.Context, r Record) error

// Record is what the log keeps of a decision.
type Record struct {
	Time     time.Time         `json:"time"`
	Session  string            `json:"session,omitempty"`
	Scope    string            `json:"scope,omitempty"`
	Project  string            `json:"project,omitempty"`
	Policy   string            `json:"policy"`
	Event    string            `json:"event"`
	Outcome  rules.Outcome     `json:"outcome"`
	Rule     string            `json:"rule,omitempty"`
	Reason   string            `json:"reason,omitempty"`
	Notice   string            `json:"notice,omitempty"`
	Rules    []rules.RuleTrace `json:"rules,omitempty"`
	Facts    []rules.FactTrace `json:"facts,omitempty"`
	Counts   rules.Memory      `json:"counts,omitzero"`
	Progress json.RawMessage   `json:"progress,omitempty"`
	Took     time.Duration     `json:"took_ns"`
}
