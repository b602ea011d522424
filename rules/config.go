package rules

import (
	"io/fs"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// Config describes the program that a policy is loaded for. The zero Config
// loads a policy that includes nothing shipped, with the values of its defaults.
type Config struct {
	// Shipped holds the files that policies name with ralph:, such as
	// guards/limit.yaml; nil means that there are none.
	Shipped fs.FS
	// Set gives values of params, as text: what --set and the configuration say.
	// An unknown name is an error.
	Set map[string]string
	// SetAt says where a value of Set is given, for findings about it: a place in a
	// file, or what gives it as the File alone, such as --set. nil says nothing.
	SetAt func(param string) Pos

	Sources   []SourceKind // of your own, beside those of [Sources]; what gathers the facts must know them
	Functions []Function   // of your own, for expressions
	Events    []string     // of your own, beside the hook events; rules decide them as they decide a Stop
	Hosts     []string     // that there are, for [Check]; nil: any
	Effects   []EffectDecl // of your own verbs under then:

	// Allow lists what the policy may touch; nil allows everything. What it touches
	// beyond is an error of Load, at its place.
	Allow *Capabilities
	// Limits bound the policy and what it includes; zero fields are defaults.
	Limits LoadLimits

	// Deadline is when the program that decides gives up, for [Check]; 0 is never.
	Deadline time.Duration
	// Unapproved is why no program of the policy runs and no model is asked, for [Check],
	// such as "the policy is not approved yet"; "" if they are approved.
	Unapproved string

	// Lazy loads a policy that has a when of its own only as far as that. The rest is
	// compiled at the first event that passes the when, and an error found there lets
	// the agent stop and is reported. Findings that are no errors are left out. It is
	// for processes that decide one event and end.
	Lazy bool
}

// Function is a function of your own, for expressions.
type Function struct {
	Name string // an identifier, such as deployed
	Doc  string // one sentence
	// Func is a Go func, which types it. It may take a context first and return an
	// error last; in between, arguments and the result convert as in [ValueOf]. It is
	// called at most once an evaluation for the same arguments, must be safe for
	// concurrent use, and should give the same answer within one evaluation. An error
	// or a panic makes the operand that calls it an error.
	Func any
}

// EffectDecl declares an effect of your own: a verb that rules can write under
// then:, with arguments whose texts may have holes. It becomes an [Effect] of the
// kind VerbEffect, with its name and the evaluated arguments.
type EffectDecl struct {
	Name string         // the key, in kebab-case
	Doc  string         // one sentence
	Args *schema.Schema // of the arguments; nil takes any
}

// Capabilities are what a policy may touch. A nil list allows nothing of its kind.
// Each entry is a name or, with *, all names that match. Pure functions, params, now
// and the names of loop are always allowed.
type Capabilities struct {
	Sources   []string // kinds of fact sources: json, exec, …
	Functions []string // that ask the world: exists, which, said, … and your own; transcript.passed and its like may stand in Names instead
	Effects   []string // set, delete, archive, prune and your own verbs
	Names     []string // ralph's names: session_id, transcript.*, env.HOME, env.*
	// Paths are globs for the paths of facts and effects, and for what exists and its
	// like ask. A path with holes is checked when it is known: outside of the globs
	// the fact is missing.
	Paths []string
}

// LoadLimits bound what Load reads and makes. A zero field stands for its default.
type LoadLimits struct {
	Bytes    int // of all files together: 8 MiB; one file has at most 1 MiB
	Nodes    int // maps, lists, scalars and parts of expressions of all files together: 200,000; a value of a schema counts as 5
	Includes int // files: 64
	Patterns int // instructions of all patterns of matches and schemas together: 500,000
}

// The defaults of LoadLimits.
const (
	defaultLoadBytes    = 8 << 20
	defaultLoadNodes    = 200_000
	defaultLoadIncludes = 64
	defaultLoadPatterns = 500_000
)

func (l LoadLimits) filled() LoadLimits {
	set := func(n *int, usual int) {
		if *n <= 0 {
			*n = usual
		}
	}
	set(&l.Bytes, defaultLoadBytes)
	set(&l.Nodes, defaultLoadNodes)
	set(&l.Includes, defaultLoadIncludes)
	set(&l.Patterns, defaultLoadPatterns)
	return l
}
