package rules

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/ralph-sdk/ralph/internal/escape"
	"github.com/ralph-sdk/ralph/internal/form"
)

// Pos is a position in a policy file. Line and Col count from 1, Col in runes of the line. The zero Pos is an unknown
// position.
type Pos struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
}

// String returns the position as compilers print it: file:line:col.
func (p Pos) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
}

// Severity is how serious a finding is: an error keeps a policy from being loaded.
type Severity uint8

// The severities. The zero Severity is Error, so that a diagnostic without a severity is not overlooked.
const (
	Error   Severity = iota // the policy cannot be used
	Warning                 // the policy can be used, but is probably not meant so
	Info                    // the policy is correct and could be better
)

var severities = [...]string{Error: "error", Warning: "warning", Info: "info"}

// String returns the printed name.
func (s Severity) String() string {
	if int(s) >= len(severities) {
		s = Error
	}
	return severities[s]
}

// severityOf returns the severity of a check.
func severityOf(id string) Severity {
	for _, c := range form.Checks() {
		if c.ID == id {
			return Severity(slices.Index(severities[:], c.Severity))
		}
	}
	return Error
}

// MarshalText writes the severity as its name, for JSON.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Related is another position that a diagnostic refers to.
type Related struct {
	Pos     Pos    `json:"pos"`
	Message string `json:"message"`
}

// Diagnostic is one finding about a policy.
type Diagnostic struct {
	Pos      Pos       `json:"pos"`      // the first character
	End      Pos       `json:"end"`      // just after the last character
	Severity Severity  `json:"severity"` //
	Check    string    `json:"check"`    // ID of the check, such as unknown-key
	Message  string    `json:"message"`  // what is wrong and what was expected, lower case
	Help     string    `json:"help,omitempty"`
	Related  []Related `json:"related,omitempty"`
	Line     string    `json:"line,omitempty"` // the source line at Pos

	// Situation is a state that demonstrates a finding about the policy as a whole: the JSON of a [Situation]. nil if there
	// is none.
	Situation json.RawMessage `json:"situation,omitempty"`

	cause error // for Err to unwrap to; may be nil
}

// String returns the diagnostic on one line: file:line:col: message [check].
func (d Diagnostic) String() string {
	sev := ""
	if d.Severity != Error {
		sev = d.Severity.String() + ": "
	}
	return fmt.Sprintf("%s: %s%s [%s]", d.Pos, sev, d.Message, d.Check)
}

// Diagnostics are all findings of one load, sorted by position; nil if there are none. Most findings are advice; use
// [Diagnostics.Err] to get the errors.
type Diagnostics []Diagnostic

// Err returns the findings that are errors as one error with a line for each: file:line:col: message. It returns nil if
// there are none. The error unwraps to the causes, such as [io/fs.ErrNotExist] or the error of a context.
func (ds Diagnostics) Err() error {
	var e loadError
	for _, d := range ds {
		if d.Severity != Error {
			continue
		}
		e.lines = append(e.lines, d.Pos.String()+": "+d.Message)
		if d.cause != nil {
			e.causes = append(e.causes, d.cause)
		}
	}
	if e.lines == nil {
		return nil
	}
	return &e
}

type loadError struct {
	lines  []string
	causes []error
}

func (e *loadError) Error() string   { return strings.Join(e.lines, "\n") }
func (e *loadError) Unwrap() []error { return e.causes }

// bug reports a panic in ralph's own code.
func bug(file string, r any) Diagnostic {
	return Diagnostic{Pos: Pos{File: file}, Check: "internal", Message: fmt.Sprintf("internal error: %v", r), Help: "please report it, with the policy"}
}

// maxFindings bounds the findings of a load.
const maxFindings = 250

// full reports whether to drop another finding. The first error is always kept.
func (ds Diagnostics) full(s Severity) bool {
	return len(ds) >= maxFindings && (s != Error || ds.hasErrors())
}

// hasErrors reports whether any finding keeps the policy from being used.
func (ds Diagnostics) hasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// sorted orders findings by file, position and check, and drops duplicates.
func (ds Diagnostics) sorted() Diagnostics {
	for i := range ds { // quoted values may contain anything
		ds[i].Message = escape.Line(ds[i].Message)
		ds[i].Help = escape.Line(ds[i].Help)
	}
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Pos.File, b.Pos.File),
			cmp.Compare(a.Pos.Line, b.Pos.Line),
			cmp.Compare(a.Pos.Col, b.Pos.Col),
			cmp.Compare(a.Check, b.Check),
			cmp.Compare(a.Message, b.Message),
		)
	})
	return slices.CompactFunc(ds, func(a, b Diagnostic) bool {
		return a.Pos == b.Pos && a.Check == b.Check && a.Message == b.Message
	})
}

// Format renders the findings as a compiler does: the one-line form, the source line, carets under the range, and the
// help.
//
//	speckit.yaml:37:17: unknown field "phaze" in state [unknown-field]
//	   |
//	37 |     when: state.phaze != "execution"
//	   |                 ^~~~~
//	   = help: did you mean "phase"?
func (ds Diagnostics) Format() string {
	var b strings.Builder
	for _, d := range ds {
		d.format(&b)
	}
	return b.String()
}

func (d Diagnostic) format(b *strings.Builder) {
	fmt.Fprintln(b, d)
	margin := ""
	if d.Line != "" {
		line, col := window(shownLine(d.Line), d.Pos.Col)
		width := 1
		if d.End.Line == d.Pos.Line && d.End.Col > d.Pos.Col {
			width = d.End.Col - d.Pos.Col
		} else if d.End.Line > d.Pos.Line {
			width = len(line)
		}
		width = max(1, min(width, len(line)-col+1))
		num := strconv.Itoa(d.Pos.Line)
		margin = strings.Repeat(" ", len(num)+1)
		fmt.Fprintf(b, "%s|\n%s | %s\n", margin, num, string(line))
		fmt.Fprintf(b, "%s| %s^%s\n", margin, strings.Repeat(" ", col), strings.Repeat("~", width-1))
	}
	if d.Help != "" {
		fmt.Fprintf(b, "%s= help: %s\n", margin, d.Help)
	}
	if d.Situation != nil {
		fmt.Fprintf(b, "%s= situation: %s\n", margin, d.Situation)
	}
	for _, r := range d.Related {
		fmt.Fprintf(b, "%s= note: %s (%s)\n", margin, r.Message, r.Pos)
	}
}

// shownLine returns a line of a file with one visible character for each of its own.
func shownLine(line string) []rune {
	var shown escape.Text
	return []rune(strings.Map(func(r rune) rune {
		switch {
		case shown.Shows(r):
			return r
		case r == '\t':
			return ' '
		}
		return unicode.ReplacementChar
	}, line))
}

// window returns the part of a long line around a column, and the new column, counted from 1 with the space that
// precedes the line.
func window(line []rune, col int) ([]rune, int) {
	const before, behind = 60, 100
	col = max(1, min(col, len(line)+1))
	if len(line) <= before+behind {
		return line, col - 1
	}
	from, to := max(0, col-before), min(len(line), col+behind)
	out := slices.Clone(line[from:to])
	if to < len(line) {
		out = append(out, '…')
	}
	if from > 0 {
		out = append([]rune{'…'}, out...)
		return out, col - from
	}
	return out, col - 1
}
