package rules

import (
	"time"

	"github.com/ralph-sdk/ralph/rules/internal/source"
)

// The syntax tree of one policy or guard file: what the parser saw, before names
// are resolved. Every node keeps the YAML node it came from, for its place.

type file struct {
	name string // as diagnostics show it
	path string // within its file system
	src  []byte
	fs   includeFS
}

type document struct {
	file        *file
	guard       bool // included: only params, facts, lets, rules
	description string
	prefix      string
	events      []string
	gate        Gate
	params      []paramDecl
	when        []*source.Node // of the policy itself
	facts       []factDecl
	lets        []letDecl
	lost        []*source.Node // names of lets that were reported and left out
	limits      Limits
	limitsNode  *source.Node
	progress    []*source.Node
	rules       []*ruleDecl
	finally     []finallyDecl
}

// paramNames lists the names of the params, in order.
func (d *document) paramNames() []string {
	names := make([]string, len(d.params))
	for i, p := range d.params {
		names[i] = p.name
	}
	return names
}

type paramDecl struct {
	name   string
	key    *source.Node
	schema *source.Node
}

type factDecl struct {
	name    string
	key     *source.Node
	kind    SourceKind
	args    []*source.Node
	schema  *source.Node
	deflt   *source.Node
	settle  time.Duration
	timeout time.Duration
	inline  *source.Node            // nil unless true
	texts   map[string]*source.Node // options that are worked out for each event
	options map[string]any          // options that stand fast: int or string
}

type letDecl struct {
	name string
	key  *source.Node
	expr *source.Node
}

type ruleDecl struct {
	node *source.Node // the whole item, for its place

	// an include
	include *source.Node
	with    []letDecl
	lost    []string // names in with that were reported and left out
	blind   bool     // all of with was
	as      *source.Node

	// a rule
	name    *source.Node
	when    []*source.Node
	hasWhen bool
	verb    Verb
	text    *source.Node
	notice  *source.Node
	log     *source.Node
	then    []effectDecl
	unless  *Unless
}

type effectDecl struct {
	kind  EffectKind
	node  *source.Node // set: the assignment; delete, archive: the fact
	glob  *source.Node
	older time.Duration
}

type finallyDecl struct {
	node   *source.Node
	name   string
	when   []*source.Node
	effect effectDecl
	log    *source.Node
}

// Verb is what a rule does when it holds. The zero Verb decides nothing.
type Verb uint8

// The verbs.
const (
	NoVerb       Verb = iota
	VerbContinue      // the agent goes on
	VerbStop          // the agent may stop
	VerbNote          // the person is told
)

// String gives the key of the policy language.
func (v Verb) String() string {
	return [...]string{"", "continue", "stop", "note"}[v]
}

// Gate tells how many continue rules are heard.
type Gate uint8

// The gates.
const (
	First Gate = iota // the first rule that holds decides
	All               // every continue rule that holds is told
)

// gateWords are the words of the gates, in their order.
func gateWords() []string { return []string{"first", "all"} }

// Limits are the bounds of a loop, which hold whatever its rules say.
type Limits struct {
	Continuations int           // in a row
	Repeats       int           // in a row without progress; 0 with Set false means no bound
	Elapsed       time.Duration // since the first continuation of the row
	Total         int           // in a session
	HasRepeats    bool
	Written       bool // the policy states limits of its own
}

// defaultLimits end every loop, also one whose policy forgot to.
func defaultLimits() Limits {
	return Limits{Continuations: 500, Total: 5000, Elapsed: 24 * time.Hour}
}

// Per tells which verdicts unless_repeated counts together.
type Per uint8

// The spans of counting.
const (
	PerSession Per = iota
	PerPrompt
	PerProject
)

// String gives the word of the policy language.
func (p Per) String() string {
	return perWords()[p]
}

// perWords are the words of the spans, in their order.
func perWords() []string { return []string{"session", "prompt", "project"} }

// Unless makes a rule step aside after it has been in Times verdicts within
// Within (0 means ever).
type Unless struct {
	Times  int
	Within time.Duration
	Per    Per
}
