package rules

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// Program is a policy that was read, checked and compiled. It is immutable and
// safe for concurrent use.
type Program struct {
	Name        string   // file name as it was loaded
	Description string   // what the policy says of itself
	Prefix      string   // of log lines, "ralph" if the policy gives none
	Events      []string // that the policy decides
	Gate        Gate
	Limits      Limits
	Rules       []*Rule // in the order in which they are tried, included ones in place
	Files       []File  // the policy and all it includes, the policy first

	when     *cond // what the policy is for, nil if for everything
	facts    []*Fact
	inline   *Fact // the one whose fields are names of the policy
	table    *table
	progress []*cond
	finally  []*finally
	includes []includeAt // of the policy itself

	// Texts compile when their rule first holds, under this lock.
	mu       sync.Mutex
	compiler *compiler

	pool sync.Pool // of *evaluation
}

// File is one file that a program was made of.
type File struct {
	Name string // as diagnostics show it
	Src  []byte
}

// Rule is one rule of a program.
type Rule struct {
	Name   string // with the include's name before a slash: reentry/no-progress
	Pos    Pos
	Verb   Verb
	Unless *Unless // nil if it never steps aside

	when   *cond // nil means true
	text   *text
	notice *text
	log    *text
	then   []*effect
	judged bool // it names a judge
}

// Fact is one declared fact.
type Fact struct {
	Name       string // with the include's name before a slash
	Source     SourceKind
	Schema     *schema.Schema // nil: open
	Settle     time.Duration
	Timeout    time.Duration // 0: the source's own
	HasDefault bool
	Default    any // completed by the schema
	Pos        Pos

	// Options are those of the source that stand fast: int for a count, string for
	// a word. What has holes is handed to [Facts] with each event.
	Options map[string]any

	sym      *symbol
	args     []*path
	question *text // the argument of a source whose argument is a text
	texts    []optionText
	index    int      // among the facts of the program
	fixed    []string // what the source is handed, if it holds no names
	asked    bool     // some rule asks whether it is invalid
}

// optionText is an option with holes: a text, or an argument.
type optionText struct {
	name string
	text *text
	arg  *path
}

// finally is what to do after the verdict was applied.
type finally struct {
	when   *cond
	effect *effect
	log    *text
}

// Handles reports whether the policy decides this event. A prompt is handled by
// every policy that lists it; its rules then only note.
func (p *Program) Handles(event string) bool { return slices.Contains(p.Events, event) }

// Facts lists the declared facts in the order of the policy.
func (p *Program) Facts() []*Fact { return slices.Clone(p.facts) }

// symbolKind tells where the value of a symbol comes from.
type symbolKind uint8

const (
	factSymbol  symbolKind = iota
	letSymbol              // worked out from an expression: let, or a bound param
	constSymbol            // a param with its value
	nameSymbol             // one of ralph's names
	askSymbol              // missing(f) and its like
	tickSymbol             // counts the steps of loops
)

// symbol is one name that operands can read, with its slot in an evaluation.
type symbol struct {
	slot int
	kind symbolKind
	name string // as people write it
	key  string // under which expressions find it
	typ  *schema.Type
	pos  Pos

	fact  *Fact     // factSymbol, askSymbol
	ask   string    // askSymbol: what is asked
	now   *symbol   // askSymbol age: the time of the event
	let   *let      // letSymbol
	value any       // constSymbol
	info  *NameInfo // nameSymbol

	private bool // its value is not shown in traces unless asked for
	used    atomic.Bool
}

// tickKey is the name under which loops in expressions count. No policy can spell it.
const tickKey = "tick()"

// let is an expression with a name.
type let struct {
	decl  letDecl
	scope *scope // in which its names are looked up
	root  *cond
	state letState
}

type letState uint8

const (
	letNew letState = iota
	letOpen
	letDone
)
