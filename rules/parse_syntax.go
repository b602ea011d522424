package rules

import (
	"time"

	"github.com/ralph-sdk/ralph/internal/yamltree"
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
	when        []*yamltree.Node // of the policy itself
	loop        *loopDecl        // nil if there is none
	facts       []factDecl
	memory      []memoryDecl
	lets        []letDecl
	lost        []*yamltree.Node // names of lets that were reported and omitted
	limits      Limits
	limitParams []limitParam // limits that are the names of params
	measure     *measureDecl
	run         *runDecl
	progress    []*yamltree.Node
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
	name    string
	key     *yamltree.Node
	schema  *yamltree.Node
	fact    *yamltree.Node // the source of the fact that is passed; nil for a value
	private bool
	inline  bool
}

type memoryDecl struct {
	name   string
	key    *yamltree.Node
	schema *yamltree.Node // with per among the keys of a schema
	per    string
}

type factDecl struct {
	name    string
	key     *yamltree.Node
	kind    SourceKind
	args    []*yamltree.Node
	schema  *yamltree.Node
	deflt   *yamltree.Node
	timeout time.Duration
	covers  []string       // nil if not set
	inline  *yamltree.Node // nil unless true
	private bool
	texts   map[string]*yamltree.Node // options to evaluate for each event
	options map[string]any            // constant options: int or string
}

// limitParam is a limit with the value of a param.
type limitParam struct {
	key  string
	node *yamltree.Node
}

// measureDecl measures progress.
type measureDecl struct{ done, total *yamltree.Node }

// runDecl has the policy's settings for ralph run.
type runDecl struct {
	at        yamltree.Pos
	args      []string // the program first; nil if not set
	fresh     bool
	iteration time.Duration
}

type letDecl struct {
	name string
	key  *yamltree.Node
	expr *yamltree.Node
}

type ruleDecl struct {
	node *yamltree.Node // the whole item, for its position

	// an include
	include *yamltree.Node
	with    []letDecl
	lost    []string // names in with that were reported and omitted
	blind   bool     // all of with was omitted
	as      *yamltree.Node

	// a rule
	name    *yamltree.Node
	when    []*yamltree.Node
	verb    string
	text    *yamltree.Node
	notice  *yamltree.Node
	log     *yamltree.Node
	then    []effectDecl
	unless  *Unless
	until   []*yamltree.Node
	await   Await // of a wait
	success bool
	empty   string // ok, or ""
	halt    string // stop, or ""
}

type effectDecl struct {
	at     yamltree.Pos // of its key
	kind   EffectKind
	node   *yamltree.Node // set, remember: the assignment; delete, archive: the fact; own: its arguments
	own    *EffectDecl    // of the embedding program
	glob   *yamltree.Node
	older  time.Duration
	args   []*yamltree.Node // run
	limit  time.Duration    // run
	covers []string         // run; nil if not set
}

type finallyDecl struct {
	name   string
	when   []*yamltree.Node
	effect effectDecl
	log    *yamltree.Node
}
