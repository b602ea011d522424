package rules

import (
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// Status is how a fact stands. The zero Status is OK.
type Status string

// The statuses of a fact.
const (
	OK      Status = ""        // V holds the value
	Missing Status = "missing" // there is no document to judge
	Invalid Status = "invalid" // bytes were read and are not as declared
)

// Value is what gathering a fact gave. V holds only the types that JSON knows,
// with integers as int where the schema declares them: nil, bool, int, float64,
// string, []any, map[string]any. The age of a file in a list is a time.Duration. [ValueOf]
// makes such a value of any other.
type Value struct {
	Status  Status
	V       any
	Problem string    // why it is missing or invalid, to be read behind Path; of a value that is OK, what had to be left out or read leniently
	Quiet   bool      // missing in an ordinary way, such as an absent file, which is not reported
	Path    string    // the file, as users know it; "" if there is none
	Version string    // opaque; equal versions mean equal content
	ModTime time.Time // zero if there is none

	// Private says that value and problem are private, whatever the kind of the source
	// says: traces and logs show only how large they are, and what is made of them.
	Private bool

	// Meta is what else its source has to say of how it was gathered, such as the
	// tokens that a model took. It is shown in the trace, decides nothing, and holds
	// only what JSON knows.
	Meta map[string]any

	read bool // ValueOf made it

	Unusable []schema.Violation // fields whose type is wrong: reading one is an error
	Warnings []schema.Violation // values outside their schema: only the trace shows them, but a number that is Clamped is reported where a rule reads it
}
