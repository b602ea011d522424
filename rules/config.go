package rules

import (
	"io/fs"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// Config describes the program that loads a policy. With the zero Config, a policy cannot include shipped files, and
// its params have their defaults.
type Config struct {
	// Shipped holds the files that policies name with ralph:, such as guards/limit.yaml; nil means none.
	Shipped fs.FS
	// Set has values of params, as strings, from --set and the configuration. An unknown name is an error.
	Set map[string]string
	// SetAt returns where a value of Set comes from, for findings about it: a position in a file, or a Pos with only a
	// File, such as --set. It may be nil.
	SetAt func(param string) Pos

	Sources   []SourceKind // your own, in addition to those of [SourceKinds]; your Facts must gather them
	Functions []Function   // your own, for expressions
	Events    []string     // your own, in addition to the hook events; rules decide them like a Stop
	Hosts     []string     // the known hosts, for [Check]; nil: any
	Effects   []EffectDecl // your own effects under then:

	// Allow lists what the policy may touch: all of them must allow it, and nil allows everything. Load reports anything
	// else as an error, at its position. It holds in each evaluation, in addition to [Options.Allow].
	Allow []Capabilities
	// Limits bound the policy and its includes; zero fields are defaults.
	Limits LoadLimits

	// Deadline is when your program gives up on a decision, for [Check]; 0 is never.
	Deadline time.Duration
	// Unapproved is why the policy may not run programs or call models, for [Check], such as "the policy is not
	// approved yet"; "" if it may.
	Unapproved string

	// Index is filled by [Check], for editors; nil is not.
	Index *Index

	// Lazy loads a policy with a top-level when only up to that. The rest is compiled at the first event that passes
	// the when; if it has an error, the agent may stop and the error is reported. Findings other than errors are
	// omitted. Use Lazy in processes that decide one event and exit.
	Lazy bool
}

// Function is a function that you add to expressions.
type Function struct {
	Name string // an identifier, such as deployed
	Doc  string // one sentence
	// Func is a Go func, whose type is that of the function. It may take a context first and return an error last;
	// other arguments and the result convert as in [ValueOf]. It must be safe for concurrent use and should return the
	// same result within one evaluation, which calls it at most once for the same arguments. An error or a panic makes
	// the operand an error.
	Func any
}

// EffectDecl declares an effect that you add: a key for rules under then:, with arguments whose strings may have
// placeholders. It becomes an [Effect] of kind OwnEffect, with its name and the evaluated arguments.
type EffectDecl struct {
	Name string         // the key, in kebab-case
	Doc  string         // one sentence
	Args *schema.Schema // of the arguments; nil accepts any
}

// Capabilities list what a policy may touch. A nil list allows nothing of its kind. Each entry is a name or, with *,
// all names that match. Pure functions, params, now and the names of loop are always allowed.
type Capabilities struct {
	Sources   []string // kinds of fact sources: json, exec, …
	Functions []string // that read the world: exists, which, said, … and your own; transcript.passed and similar may be in Names instead
	Effects   []string // set, delete, archive, prune and your own
	Names     []string // ralph's names: session_id, transcript.*, env.HOME, env.*
	// Paths are globs for the paths of facts and effects, and for the arguments of exists and similar. A path with
	// placeholders is checked at run time: outside of the globs the fact is missing.
	Paths []string
}

// LoadLimits bound what Load reads and compiles. A zero field means its default.
type LoadLimits struct {
	Bytes    int // of all files together; default 8 MiB; one file has at most 1 MiB
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
