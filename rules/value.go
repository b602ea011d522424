package rules

import (
	"time"

	"github.com/ralph-sdk/ralph/schema"
)

// Status is the status of a fact. The zero Status is OK.
type Status string

// The statuses of a fact.
const (
	OK      Status = ""        // V has the value
	Missing Status = "missing" // there is no document
	Invalid Status = "invalid" // there is a document, but it does not fit its declaration

	// Withheld says that a person has not approved what gathering takes. No default replaces it, and no function asks
	// around it: a rule that needs it ends the trying.
	Withheld Status = "withheld"
)

// Value is the result of gathering a fact. V has only JSON types, with integers as int where the schema declares them:
// nil, bool, int, float64, string, []any, map[string]any. The age of a file in a list is a time.Duration. Other values
// are made with [ValueOf].
type Value struct {
	Status  Status
	V       any
	Problem string    // why it is missing or invalid, to follow Path; if it is OK, what was omitted or read leniently
	Quiet   bool      // ordinarily missing, such as a missing file, which is not reported
	Found   bool      // it is Quiet, and something is at Path: a text that is not a document, a link to no file
	Path    string    // the file, as users know it; "" if none
	Version string    // opaque; equal versions mean equal content
	ModTime time.Time // zero if none

	// Private says that value and problem are private, whatever the kind of the source: traces and logs show only their
	// sizes, also of everything derived from them.
	Private bool

	// Meta describes how the source gathered the value, for example the tokens that a model used. The trace shows it,
	// and it does not affect decisions. It must have only JSON types.
	Meta map[string]any

	of   *goValue // ValueOf made it, and V is a Go value
	read *reading // what was read of that; V is the same

	Unusable []schema.Violation // fields that rules cannot use, see [schema.Result]: what reads one is undecided
	Warnings []schema.Violation // what else is wrong: reported when a rule reads it, and it decides nothing
}
