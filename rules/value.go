package rules

import (
	"context"
	"fmt"
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// Status tells how a fact stands. The zero Status is OK.
type Status uint8

// The statuses of a fact.
const (
	OK      Status = iota // V holds the value
	Missing               // there is no document to judge
	Invalid               // bytes were read and are not as declared
)

// String gives the word that traces show.
func (s Status) String() string {
	switch s {
	case Missing:
		return "missing"
	case Invalid:
		return "invalid"
	}
	return "ok"
}

// MarshalText writes the status as its word, for JSON.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (s *Status) UnmarshalText(b []byte) error {
	for _, candidate := range []Status{OK, Missing, Invalid} {
		if candidate.String() == string(b) {
			*s = candidate
			return nil
		}
	}
	return fmt.Errorf("unknown status %q", b)
}

// Value is what gathering a fact gave. V holds only the types that JSON knows,
// with integers as int where the schema declares them: nil, bool, int, float64,
// string, []any, map[string]any. The age of a file in a list is a time.Duration.
type Value struct {
	Status  Status
	V       any
	Problem string    // why it is missing or invalid, to be read behind Path; for lists, the bad elements
	Quiet   bool      // missing in a way that nobody needs to be told of, such as an absent file
	Path    string    // the file, as people know it; "" if there is none
	Version string    // opaque; equal versions mean equal content
	ModTime time.Time // zero if there is none

	Unusable []schema.Violation // fields whose type is wrong: reading one is an error
	Warnings []schema.Violation // values outside their schema: told in the trace only
}

// sentence says what is wrong with the value and where.
func (v *Value) sentence() string {
	if v.Path == "" {
		return v.Problem
	}
	return v.Path + " " + v.Problem
}

// Facts is the one seam between a policy and the world. Real files, literals of
// a test and a recorded decision all implement it. The evaluator asks for each
// fact and name at most once, only when an operand that needs it is reached, and
// from one goroutine.
type Facts interface {
	// Fact gathers one declared fact. args are its rendered arguments: the path
	// or pattern of a file source, the argument list of exec, one text otherwise.
	// Behind them stand the options that have holes, see [Fact.Split]. They must not
	// be changed.
	Fact(ctx context.Context, decl *Fact, args []string) Value

	// Name gives the value of one of ralph's own names, see Names. Names with
	// members are asked for by their whole path ("transcript.last", "env.HOME").
	// The value must be of the type that Names declares; nil stands for its zero value.
	Name(ctx context.Context, name string) any

	// Row gives the loop memory of this policy in this session and row.
	Row(ctx context.Context) Row

	// Given tells in how many verdicts rule has been within its window, for
	// unless_repeated.
	Given(ctx context.Context, rule *Rule) int
}

// Split takes apart what [Facts] is handed: the arguments of the source, and its
// options that have holes, rendered, by name. Options that the policy leaves out
// are not among them.
func (f *Fact) Split(args []string) (arguments []string, options map[string]string) {
	n := max(0, len(args)-len(f.texts))
	for i, o := range f.texts {
		if n+i >= len(args) {
			break
		}
		if options == nil {
			options = make(map[string]string, len(f.texts))
		}
		options[o.name] = args[n+i]
	}
	return args[:n], options
}

// Row is the loop memory that rules read as loop.continuations and so on. A row
// is the continuations given one after another within one turn. The zero Row is
// that of a first stop.
type Row struct {
	Continuations int           // given in this row
	Total         int           // given in this session
	Progress      string        // fingerprint of the policy's progress at the latest one
	Same          int           // how many latest continuations had that fingerprint
	Elapsed       time.Duration // since the first continuation of the row
	Step          time.Duration // since the latest one

	// Steady says that progress is what it was at the latest continuation, whatever
	// Progress holds: for tests, which know the count and not the fingerprint.
	Steady bool
}

// repeats tells how many latest continuations had the progress that now is.
// Progress that cannot be known counts as unchanged: a loop must not run on
// because its measure broke.
func (r Row) repeats(now string, known bool) int {
	if r.Continuations == 0 || known && now != r.Progress && !r.Steady {
		return 0
	}
	return r.Same
}
