package rules

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/source"
	"github.com/ralph-sdk/ralph/schema"
)

// Program is a policy that was read, checked and compiled. It is immutable and
// safe for concurrent use. One that was loaded with [Config.Lazy] has no facts, rules
// and files but its own until an event passed its when.
type Program struct {
	Name        string   // file name as it was loaded
	Description string   // what the policy says of itself
	Prefix      string   // of log lines, "ralph" if the policy gives none
	Events      []string // that the policy decides; at UserPromptSubmit its rules only note
	Gate        string   // "first": the first rule that holds decides; "all": every continue rule that holds counts

	// Memory lists what the policy keeps in a [Memory], by name: what a value belongs to,
	// session or project, and what it is before it was remembered. nil if nothing.
	Memory map[string]struct {
		Per     string
		Default any
	}

	// Run is what the policy sets for ralph run, nil if nothing. Agent is the command line
	// of the agent, as a fact that needs an approval: with Source and Args; nil if the
	// policy names none.
	Run *struct {
		Agent     *Fact
		Fresh     bool          // each iteration has a fresh context
		Iteration time.Duration // how long one may take; 0 if the policy does not say
	}

	limits   Limits
	rules    []*Rule
	files    []File
	allow    *Capabilities
	rest     *rest // nil if this is the whole program
	when     *cond // what the policy is for, nil if for everything
	loop     *loop // nil if the policy names none
	facts    []*Fact
	table    *table
	progress []*cond
	measure  []*text // done and total, or nothing
	finally  []*finally
	includes []includeAt // of the policy itself

	// Texts compile when their rule first holds, under this lock.
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
	Name   string // with the include's name before a slash: reentry/no-progress
	Pos    Pos
	Verb   string  // continue, stop or note; "" decides nothing
	Unless *Unless // nil if it never steps aside

	Success bool // of a stop: the work is done

	// Runs are the programs that its effects run, as facts that need an approval: with
	// Source, Args and Timeout, and the name that [Effect].Fact has.
	Runs []*Fact
	// Changes are the facts that its effects change, each once, and Verbs the effects that
	// the embedding program carries out, with their places.
	Changes []*Fact
	Verbs   []Use

	when   *cond // nil means true
	text   *text
	notice *text
	log    *text
	then   []*effect
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
	// a word, true for lenient. What has holes is handed to [Facts] with each event.
	Options map[string]any
	// File is the file that the fact reads, "" if it reads none or its path has placeholders.
	File string
	// Args and Texts are for showing: the argument of the source, which is the words of a
	// list or one text, and the options that are not among Options, as the policy writes
	// them, with their holes.
	Args  []string
	Texts map[string]string
	// Known are the words of a program as it gets them, each "" where more than params determines it.
	Known []string

	sym     *symbol
	handed  []argument // what the source is handed
	index   int        // among the facts of the program
	private *mask      // of its value
	fixed   []string   // what the source is handed, if it holds no names
}

// argument is what a source is handed: its arguments, then its options with placeholders.
type argument struct {
	name string // of an option, "" of an argument
	text *text  // nil: a path
	path *path
}

// finally is what to do after the verdict was applied.
type finally struct {
	name   string // for warnings
	when   *cond
	effect *effect
	log    *text
}

// Facts lists the declared facts in the order of the policy.
func (p *Program) Facts() []*Fact { return slices.Clone(p.whole().facts) }

// takes is how long gathering the fact may take.
func (f *Fact) takes() time.Duration { return cmp.Or(f.Timeout, f.Source.Timeout) }

// Rules lists the rules in the order in which they are tried, included ones in place.
func (p *Program) Rules() []*Rule { return slices.Clone(p.whole().rules) }

// Files lists the files that the program was made of: the policy first, then what it
// includes and the schemas that it names.
func (p *Program) Files() []File { return slices.Clone(p.whole().files) }

// Limits gives the limits of the policy.
func (p *Program) Limits() Limits { return p.whole().limits }

// extended is a copy of the head of a program, for the rest to be added to.
func (p *Program) extended() *Program {
	return &Program{
		Name: p.Name, Description: p.Description, Prefix: p.Prefix, Events: p.Events, Gate: p.Gate, Memory: maps.Clone(p.Memory),
		limits: p.limits, files: slices.Clone(p.files), when: p.when, loop: p.loop, facts: slices.Clone(p.facts),
		table: p.table, includes: slices.Clone(p.includes), mu: p.mu, compiler: p.compiler,
	}
}

// noPolicy is what is reported of a nil or zero Program.
const noPolicy = "there is no policy: get a Program from Load"

// whole is the program with what a lazy one leaves out, once that was loaded.
func (p *Program) whole() *Program {
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

// repeated is in how many verdicts a rule with unless_repeated has been that an
// event counts.
func (r *Rule) repeated(session, project *Memory, now time.Time) int {
	return memoryFor(r.Unless.Per, session, project).said(r.Name, r.Unless, session.Turn, now)
}

// line gives the line at pos of a file that the program was made of.
func (p *Program) line(pos Pos) string {
	for _, f := range p.files {
		if f.Name == pos.File {
			return source.Line(f.Src, pos.Line)
		}
	}
	return ""
}

// lineEnd is where the line of pos ends, without a comment behind it.
func (p *Program) lineEnd(pos Pos) Pos {
	text, _, _ := strings.Cut(p.line(pos), " #")
	pos.Col = max(pos.Col, utf8.RuneCountInString(strings.TrimRight(text, " \t"))+1)
	return pos
}
