package rules

import (
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

	// Meta is what else its source has to say of how it was gathered, such as the
	// tokens that a model took. It is shown in the trace, decides nothing, and holds
	// only what JSON knows.
	Meta map[string]any

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
