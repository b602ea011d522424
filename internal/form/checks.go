package form

import (
	_ "embed"
	"strings"
)

// Check is one check of policies, documented in docs/checks.md.
type Check struct {
	ID       string
	Severity string // error, warning or info
	Doc      string // what it finds, one sentence without a full stop
}

//go:embed checks.txt
var checks string

// Checks returns all checks, in the order of docs/checks.md.
func Checks() []Check {
	var all []Check
	for line := range strings.Lines(checks) {
		id, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if severity, doc, ok := strings.Cut(rest, " "); ok && id != "#" {
			all = append(all, Check{id, severity, doc})
		}
	}
	return all
}
