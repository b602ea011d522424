package rules

import (
	"context"
	"io/fs"
	"time"

	"github.com/ralph-sdk/ralph/next/schema"
)

// Parse reads a policy file. name is the file's name for messages, and without its ending the policy's name. The error is of type
// Findings, and holds errors only; Check finds what is dubious. Without Lazy, every expression is compiled.
func Parse(name string, src []byte, opts ...Option) (*Policy, error) { panic("later") }

// Option changes how Parse reads a policy.
type Option func(*config)

type config struct{}

// WithFiles says where schemas are that a policy names by their paths. Without it, such a schema is an error.
func WithFiles(fsys fs.FS) Option { panic("later") }

// WithParams sets params by text, as --set does. An unknown name or a value that breaks the param's schema is a finding.
func WithParams(params map[string]string) Option { panic("later") }

// WithValues declares names with the Go types of the values, besides those of the policy. For a fact of source value with that name,
// and without schema, it gives the type.
func WithValues(values map[string]any) Option { panic("later") }

// WithFunction declares a function of the embedding program, which expressions call. fn is a Go function, whose last result may be an error.
func WithFunction(name string, fn any) Option { panic("later") }

// WithSource declares a source of the embedding program: facts may be written {name: argument}. World.Fact gathers them.
func WithSource(name string) Option { panic("later") }

// WithEffect declares an effect of the embedding program: rules may write then: [{name: text}].
func WithEffect(name string) Option { panic("later") }

// Lazy makes Parse compile an expression when a decision first reaches it, for a process that makes one decision. What is wrong with it
// is then a problem of the verdict.
func Lazy() Option { panic("later") }

// Policy is a policy file that can be evaluated. It does not change and is safe for concurrent use.
type Policy struct {
	Name        string // of the file, without directory and ending
	Description string
	Events      []string // "Stop", "SubagentStop"; notes are for UserPromptSubmit besides
	Limits      Limits
	Facts       []*Fact // in the order of the file
	Params      []Param
	Rules       []RuleInfo
}

// Param is a param of a policy, with the value that it has.
type Param struct {
	Name, Description string
	Schema            *schema.Schema
	Value             any
}

// RuleInfo is what others show of a rule.
type RuleInfo struct {
	Name, Verb, When string // Verb: "continue", "stop", "done", "note" or ""
	Line             int
}

// Reaches lists what of the policy reaches beyond the project and so needs approval, such as "runs go", "asks a model",
// "reads the variable HOME", "reads ~/notes.md"; empty if nothing does.
func (p *Policy) Reaches() []string { panic("later") }

// Bound says in one sentence which limit ends a loop of this policy at the latest.
func (p *Policy) Bound() string { panic("later") }

// Limits end every loop. A zero value means the default: 100, 10 where there is progress, 24h, 1000.
type Limits struct {
	Continuations, Repeats, Total int
	Elapsed                       time.Duration
}

// Fact is one declared fact.
type Fact struct {
	Name    string
	Source  string         // "text", "json", … or one of WithSource
	Parse   string         // of a glob: "", "json", "frontmatter", "checklist"
	Schema  *schema.Schema // nil: none is declared
	Inline  bool
	Timeout time.Duration // 0: the default of the source
	Line    int
	OnePath bool // it is read from one file of the project
}

// Query asks for a fact.
type Query struct {
	Fact    *Fact
	Args    []string          // the argument, rendered: a path, a question, or a program and its arguments
	Options map[string]string // rendered: dir of exec; model, system, turns, max_tokens, … of judge
	Command []string          // of judge: the program that is asked instead of a service
	// Usable reports why a decoded value cannot be used at all, nil if it can. A young file is read again until it can.
	Usable func(value any) error
}

// Status says whether a fact has a value.
type Status int

const (
	Missing Status = iota // nothing is there
	OK
	Invalid // something is there and cannot be used
)

// Found is the answer to a Query. Value is as it was decoded; the policy's schema is applied to it by Eval.
type Found struct {
	Status  Status
	Value   any
	Problem string // why it is not OK; of a glob, the files that were left out
	Path    string // of the file, from the root
	Time    time.Time
	Version any   // of the file, for the effects that change it; opaque here
	Err     error // what Problem says, for errors.Is
}

// World is what an evaluation asks about everything outside of it. Its methods are called at most once per question, from one
// goroutine. A nil World has nothing.
type World interface {
	// Fact gathers a fact that has no value in Input.Values.
	Fact(ctx context.Context, q Query) Found
	// Name returns the value of one of ralph's names when it is first read, such as "session_id", "env" or "transcript", or nil for its
	// zero value. An error makes what reads it unknown.
	Name(ctx context.Context, name string) (any, error)
	// Ask answers the functions said, mentions, exists (all bool) and which (string).
	Ask(ctx context.Context, function, argument string) (any, error)
}

// Input is what one evaluation gets.
type Input struct {
	Event  string         // "" is "Stop"
	Values map[string]any // by name: values of facts, of ralph's names, and of WithValues
	World  World
	Memory Memory
	Total  int       // continuations of the session by all policies
	Now    time.Time // its zone is that of date
	Limits Limits    // ceilings of the program; zero: none
	Run    bool      // an iteration of ralph run: limits.continuations does not count
	Trace  bool      // fill in Verdict.Trace
}

// Memory is what is kept of a policy between the decisions of a session. Its zero value is that of a new session.
type Memory struct {
	Continuations int                    `json:"continuations,omitempty"` // of this prompt
	Repeats       int                    `json:"repeats,omitempty"`       // of these, since progress changed
	Since         time.Time              `json:"since,omitzero"`          // of the first of them
	Progress      any                    `json:"progress,omitempty"`
	Prompt        map[string]int         `json:"prompt,omitempty"`  // at_most: N, by rule
	Applied       map[string][]time.Time `json:"applied,omitempty"` // at_most: {times, within}, by rule
	Seen          []string               `json:"seen,omitempty"`    // facts whose file was OK in this prompt
}

// NewPrompt forgets what belongs to one prompt.
func (m Memory) NewPrompt() Memory { panic("later") }

// Outcome says how a decision ended.
type Outcome string

const (
	Continued Outcome = "continued"
	Done      Outcome = "done"    // a rule says that the work is done
	Stopped   Outcome = "stopped" // a stop rule holds
	Limit     Outcome = "limit"
	Idle      Outcome = "idle"   // no rule decides
	Failed    Outcome = "failed" // it could not be decided
)

// Verdict is what a policy decides. Everything but Continued lets the agent stop.
type Verdict struct {
	Outcome     Outcome
	Rule        string // that decided, or "limits.NAME"
	Reason      string // the rule's text, or why it could not be decided
	Notices     []string
	Logs        []string
	Notes       []string
	Effects     []Effect
	Memory      Memory
	Err         error // of Failed, or of a done that was refused
	Done, Total int   // of progress: {done, total}, for people
	Trace       *Trace
}

// Effect is a change that a verdict asks for; its values are evaluated.
type Effect struct {
	Kind  string        // "set", "archive", "prune", "run", or one of WithEffect
	Fact  *Fact         // of set and archive
	Found Found         // as the fact was read
	Path  []any         // of set: fields and indices into the fact; empty: the whole
	Value any           // of set
	Args  []string      // of run; of prune: the glob; of WithEffect: the text
	Older time.Duration // of prune
}

// Eval tries the rules. It fails only for a value that the program must give and did not, or whose type is wrong.
// What cannot be decided is a verdict that lets the agent stop.
func (p *Policy) Eval(ctx context.Context, in Input) (Verdict, error) { panic("later") }

// Start evaluates the effects of start. text is the name text there. A policy without start has none.
func (p *Policy) Start(ctx context.Context, in Input, text string) ([]Effect, error) { panic("later") }

// Trace tells how a verdict came about.
type Trace struct {
	Rules []RuleTrace // those that were tried
	Facts []FactTrace // those that were gathered
}

// RuleTrace tells of one rule.
type RuleTrace struct {
	Name     string         `json:"name"`
	Truth    string         `json:"truth"` // "true", "false", "unknown", "skipped"
	Operands []OperandTrace `json:"operands,omitempty"`
	Line     int            `json:"line"`
}

// OperandTrace tells of one operand: what it came to, and the values that it read.
type OperandTrace struct {
	Text   string         `json:"text"`
	Truth  string         `json:"truth"`
	Why    string         `json:"why,omitempty"`    // it is unknown
	Values map[string]any `json:"values,omitempty"` // by path
}

// FactTrace tells of one fact.
type FactTrace struct {
	Name    string `json:"name"`
	Status  string `json:"status"` // "ok", "missing", "invalid"
	Problem string `json:"problem,omitempty"`
	Path    string `json:"path,omitempty"`
}

// Finding is one problem of a policy at its place.
type Finding struct {
	File      string `json:"file"`
	Line      int    `json:"line"`  // from 1
	Col       int    `json:"col"`   // from 1, in characters
	Check     string `json:"check"` // its kind, such as "unknown-name"
	Message   string `json:"message"`
	Help      string `json:"help,omitempty"` // what to write instead
	Warning   bool   `json:"warning,omitempty"`
	Source    string `json:"-"`                   // the line, for the caret
	Width     int    `json:"-"`                   // of the caret
	Situation string `json:"situation,omitempty"` // as a given: of a test
}

// Findings are the problems of a policy, by place.
type Findings []Finding

func (f Findings) Error() string { panic("later") }

// Check finds what is dubious in a policy that Parse accepted: rules that never hold or never decide, params that nothing reads, and so on.
func Check(p *Policy) Findings { panic("later") }

// Difference is a situation in which two policies decide differently.
type Difference struct {
	Old, New  string // such as "continue by next-task"
	Situation string
}

// Diff finds situations in which two policies decide differently, and reports whether it tried them all.
func Diff(ctx context.Context, old, new *Policy) (found []Difference, exhausted bool) { panic("later") }
