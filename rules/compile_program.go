package rules

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/yamltree"
	"github.com/ralph-sdk/ralph/schema"
)

// Program is a loaded and compiled policy. It is immutable and safe for concurrent use. If it was loaded with
// [Config.Lazy], it has only its own facts, rules and files until an event passes its when. The zero Program lets every
// agent stop.
type Program struct {
	Name        string   // file name as it was loaded
	Description string   // the policy's description
	Prefix      string   // of log lines; the default is "ralph"
	Events      []string // that the policy decides; at UserPromptSubmit its rules only take notes
	Gate        string   // "first": the first rule that holds decides; "all": every continue rule that holds counts

	// Memory lists the values that the policy keeps in a [Memory], by name: their scope, session or project, and their
	// default. nil if there are none.
	Memory map[string]struct {
		Per     string
		Default any
	}

	// Run has the policy's settings for ralph run, or is nil. Agent is the command line of the agent, as a fact that
	// needs approval, with Source and Args; nil if the policy has none.
	Run *struct {
		Agent     *Fact
		Fresh     bool          // each iteration has a fresh context
		Iteration time.Duration // the time limit of one; 0 if the policy sets none
	}

	head    head
	facts   []*Fact
	rules   []*Rule
	finally []*finally
	rest    *rest // nil if this is the whole program

	origin  origin
	machine machine
}

// head is what a policy says of the whole loop.
type head struct {
	when     *cond // nil if the policy applies to everything
	loop     *loop // nil if the policy has none
	limits   Limits
	progress []*cond
	measure  []*text // done and total, or empty
}

// origin is what a program was made of.
type origin struct {
	files    []File
	includes []includeAt // of the policy itself
	allow    []Capabilities
	held     atomic.Pointer[[]Capabilities] // of the latest evaluation that they allowed
	digest   atomic.Pointer[string]         // of the files, once it is needed
}

// machine is what evaluations share.
type machine struct {
	table    *table
	overlaps bool // some facts can be gathered at the same time

	// Texts compile when their rule first holds, with this lock held.
	mu       *sync.Mutex
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
	Name   string // with the include's name and a slash: reentry/continued-before
	Pos    Pos
	Verb   string  // continue, stop, ask, wait or note; "" and note do not decide
	Unless *Unless // nil without unless_repeated

	Await *Await // of a wait, nil for other rules

	Success bool // of a stop: the work is complete
	Halts   bool // of a continue: the agent may stop if the condition is unknown
	Empty   bool // of a success: so is a checklist without a box

	// Runs are the programs that its effects run, as facts that need approval: with Source, Args and Timeout, and the
	// name in [Effect].Fact.
	Runs []*Fact
	// Changes are the facts that its effects change, each once, and Effects the effects that the embedding program
	// carries out, with their positions.
	Changes []*Fact
	Effects []Use

	include string // the prefix of the include that it is in, with a slash; "" in the policy itself

	when  *cond // nil means true; of a wait: its own when, and that until is not true
	own   *cond // of a wait: its own when
	until *cond // of a wait
	says  says
	then  []*effect
	late  bool // a note that is tried last, because its condition reads slow facts
}

// action returns the action of a verdict by the rule.
func (r *Rule) action() Action { return Action(max(0, slices.Index(actions[:], r.Verb))) }

// stops reports whether the agent may stop once the rule holds.
func (r *Rule) stops() bool { return r.Verb == verbStop || r.Verb == verbAsk || r.Verb == verbWait }

// ends reports whether the trying ends with the rule when its condition is neither true nor false.
func (r *Rule) ends(o Outcome) bool { return r.Halts && (o == Unknown || o == Broken) }

// decides reports whether the rule decides if it holds.
func (r *Rule) decides() bool { return r.Verb == verbContinue || r.stops() }

// says are the texts of a rule; nil where it has none.
type says struct {
	text   *text // of its verb
	notice *text
	log    *text
}

func (s *says) all() []*text { return []*text{s.text, s.notice, s.log} }

// Fact is one declared fact.
type Fact struct {
	Name       string // with the include's name and a slash
	Source     SourceKind
	Schema     *schema.Schema // nil: open
	Timeout    time.Duration  // 0: the source's default
	HasDefault bool
	Default    any // completed by the schema
	Pos        Pos

	// Options are the source's constant options: int for a count, string for a word, true for lenient. Options with
	// placeholders are passed to [Facts] with each event.
	Options map[string]any
	// File is the file that the fact reads, "" if it reads none or if its path has placeholders.
	File string
	// Args and Texts are for display, as written, with placeholders: the source's argument, which is the words of a
	// list or one string, and the options that are not in Options.
	Args  []string
	Texts map[string]string
	// Private says that value and problem are private: the policy declares it, or all of the source are.
	Private bool
	// Covers are the patterns of the files of the project that the approval of a program covers; nil is the program and
	// what an interpreter runs.
	Covers []string
	// Known are the words of a program's command line, each "" unless params alone determine it.
	Known []string

	plan plan
}

// plan is how an evaluation gathers a fact and keeps its value.
type plan struct {
	handed  []argument // passed to the source
	fixed   []string   // the arguments, if they are constant
	sym     *symbol
	index   int   // in the facts of the program
	private *mask // of its value
}

// argument is what a source receives: its arguments, then its options with placeholders.
type argument struct {
	name string // of an option, "" for an argument
	text *text  // nil: a path
	path *path
}

// finally is an effect to make after the verdict is applied.
type finally struct {
	name   string // for warnings
	when   *cond
	effect *effect
	log    *text
}

// Facts returns the declared facts in the order of the policy.
func (p *Program) Facts() []*Fact { return slices.Clone(p.loaded().facts) }

// takes returns how long gathering the fact may take.
func (f *Fact) takes() time.Duration { return cmp.Or(f.Timeout, f.Source.Timeout) }

// Rules returns the rules in the order in which they are tried, with included ones in place.
func (p *Program) Rules() []*Rule { return slices.Clone(p.loaded().rules) }

// Files returns the files of the program: the policy first, then its includes and the schemas that it names.
func (p *Program) Files() []File { return slices.Clone(p.loaded().origin.files) }

// content returns a digest of the files, whatever their names, as a session counts under it.
func (p *Program) content() string {
	if known := p.origin.digest.Load(); known != nil {
		return *known
	}
	h := sha256.New()
	for _, f := range p.origin.files {
		fmt.Fprintf(h, "%d\n", len(f.Src))
		h.Write(f.Src)
	}
	of := "#" + hex.EncodeToString(h.Sum(nil)[:12])
	p.origin.digest.Store(&of)
	return of
}

// Limits returns the limits of the policy.
func (p *Program) Limits() Limits { return p.loaded().head.limits }

// extended returns a copy of the head of a program, to which the rest is added.
func (p *Program) extended() *Program {
	return &Program{
		Name: p.Name, Description: p.Description, Prefix: p.Prefix, Events: p.Events, Gate: p.Gate, Memory: maps.Clone(p.Memory),
		head: head{limits: p.head.limits, when: p.head.when, loop: p.head.loop}, facts: slices.Clone(p.facts),
		origin:  origin{files: slices.Clone(p.origin.files), includes: slices.Clone(p.origin.includes)},
		machine: machine{table: p.machine.table, mu: p.machine.mu, compiler: p.machine.compiler},
	}
}

// noPolicy is the problem of a nil or zero Program.
const noPolicy = "there is no policy: get a Program from Load"

// loaded returns the fully loaded program, or p until it is loaded.
func (p *Program) loaded() *Program {
	if p == nil {
		return &Program{}
	}
	if p.rest != nil {
		p.rest.mu.Lock()
		defer p.rest.mu.Unlock()
		if p.rest.program != nil {
			return p.rest.program
		}
	}
	return p
}

// repeated returns the number of verdicts with a rule that unless_repeated counts at an event.
func (r *Rule) repeated(session, project *Memory, now time.Time) int {
	return memoryFor(r.Unless.Per, session, project).said(r.Name, r.Unless, session.Turn, now)
}

// line returns the line at pos of a file of the program.
func (p *Program) line(pos Pos) string {
	for _, f := range p.origin.files {
		if f.Name == pos.File {
			return yamltree.Line(f.Src, pos.Line)
		}
	}
	return ""
}

// lineEnd returns the end of the line of pos, without a comment.
func (p *Program) lineEnd(pos Pos) Pos {
	text, _, _ := strings.Cut(p.line(pos), " #")
	pos.Col = max(pos.Col, utf8.RuneCountInString(strings.TrimRight(text, " \t"))+1)
	return pos
}
