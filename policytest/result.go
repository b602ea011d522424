package policytest

import (
	"fmt"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
)

// Result is the result of one test.
type Result struct {
	Name     string        `json:"name"`
	Pos      rules.Pos     `json:"pos"`
	Failures []Failure     `json:"failures,omitempty"`
	Hints    []string      `json:"hints,omitempty"` // possible oversights of the author
	Record   loop.Record   `json:"record"`          // the decision, with its trace
	Took     time.Duration `json:"took_ns"`
}

// Passed reports whether all expectations were met.
func (r Result) Passed() bool { return len(r.Failures) == 0 }

// Failure is one expectation that was not met.
type Failure struct {
	Pos  rules.Pos `json:"pos"`  // of the expectation
	What string    `json:"what"` // the key of expect, or given
	Want string    `json:"want"`
	Got  string    `json:"got"`
}

// String returns the failure as lines: the position, the expected and the actual value.
func (f Failure) String() string {
	indent := func(s string) string { return strings.ReplaceAll(s, "\n", "\n        ") }
	if f.Want == "" {
		return fmt.Sprintf("%s: %s: %s", f.Pos, f.What, indent(f.Got))
	}
	return fmt.Sprintf("%s: %s\n  want  %s\n  got   %s", f.Pos, f.What, indent(f.Want), indent(f.Got))
}
