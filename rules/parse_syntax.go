package rules

import (
	"time"

	"github.com/ralph-sdk/ralph/internal/source"
)

// The syntax tree of one policy or guard file, before names are resolved. Every node keeps its YAML node, for its
// position.

type document struct {
	file        *file
	description string
	prefix      string
	events      []string
	gate        string // one of gateWords
	params      []paramDecl
	when        []*source.Node // of the policy itself
	loop        *loopDecl      // nil if there is none
	facts       []factDecl
	memory      []memoryDecl
	lets        []letDecl
	lost        []*source.Node // names of lets that were reported and omitted
	limits      Limits
	limitParams []limitParam // limits that are the names of params
	measure     *measureDecl
	run         *runDecl
	progress    []*source.Node
	rules       []*ruleDecl
	finally     []finallyDecl
}

// paramNames returns the names of the params, in order.
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
	fact   *source.Node // the source of the fact that is passed; nil for a value
	inline bool
}

type memoryDecl struct {
	name   string
	key    *source.Node
	schema *source.Node // with per among the keys of a schema
	per    string
}

type factDecl struct {
	name    string
	key     *source.Node
	kind    SourceKind
	args    []*source.Node
	schema  *source.Node
	deflt   *source.Node
	timeout time.Duration
	covers  []string                // nil if not set
	inline  *source.Node            // nil unless true
	texts   map[string]*source.Node // options to evaluate for each event
	options map[string]any          // constant options: int or string
}

// limitParam is a limit with the value of a param.
type limitParam struct {
	key  string
	node *source.Node
}

// measureDecl measures progress.
type measureDecl struct{ done, total *source.Node }

// runDecl has the policy's settings for ralph run.
type runDecl struct {
	at        source.Pos
	args      []string // the program first; nil if not set
	fresh     bool
	iteration time.Duration
}

type letDecl struct {
	name string
	key  *source.Node
	expr *source.Node
}

type ruleDecl struct {
	node *source.Node // the whole item, for its position

	// an include
	include *source.Node
	with    []letDecl
	lost    []string // names in with that were reported and omitted
	blind   bool     // all of with was omitted
	as      *source.Node

	// a rule
	name    *source.Node
	when    []*source.Node
	verb    string
	text    *source.Node
	notice  *source.Node
	log     *source.Node
	then    []effectDecl
	unless  *Unless
	success bool
	empty   string // ok, or ""
}

type effectDecl struct {
	at     source.Pos // of its key
	kind   EffectKind
	node   *source.Node // set, remember: the assignment; delete, archive: the fact; verb: its arguments
	verb   *EffectDecl  // of the embedding program
	glob   *source.Node
	older  time.Duration
	args   []*source.Node // run
	limit  time.Duration  // run
	covers []string       // run; nil if not set
}

type finallyDecl struct {
	name   string
	when   []*source.Node
	effect effectDecl
	log    *source.Node
}
