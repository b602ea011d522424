package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/text"
)

// Finding is one problem of a policy at its place.
type Finding struct {
	File      string `json:"file"`
	Line      int    `json:"line"`  // from 1
	Col       int    `json:"col"`   // from 1, in characters
	Check     string `json:"check"` // its kind, such as "unknown-name"
	Message   string `json:"message"`
	Help      string `json:"help,omitempty"` // what to write instead
	Warning   bool   `json:"warning,omitempty"`
	Source    string `json:"-"`                   // the line, for the caret
	Width     int    `json:"-"`                   // of the caret
	Situation string `json:"situation,omitempty"` // as a given: of a test
}

// String renders a finding as a compiler does, without a line end: place and message, the line of the file, a caret, and what to write.
//
//	policy.yaml:7:19: there is no field phaze in state [unknown-field]
//	   7 |     when: state.phaze == "execution"
//	     |                 ^~~~~
//	     = did you mean "phase"?
func (f Finding) String() string {
	out := f.line()
	if f.Source != "" {
		const before = 80 // characters of a long line
		line := []rune(text.Line(strings.ReplaceAll(f.Source, "\t", " ")))
		col := max(0, min(f.Col-1, len(line)))
		line = line[max(0, col-before):]
		col = min(col, before)
		width := max(1, min(f.Width, len(line)-col))
		out += fmt.Sprintf("\n%4d | %s\n     | %s^%s", f.Line, text.Cut(string(line), 2*before), strings.Repeat(" ", col), strings.Repeat("~", width-1))
	}
	for _, s := range []string{f.Help, f.Situation} {
		if s != "" {
			out += "\n     = " + text.Line(s)
		}
	}
	return out
}

func (f Finding) line() string {
	warning := ""
	if f.Warning {
		warning = "warning: "
	}
	return fmt.Sprintf("%s:%d:%d: %s%s [%s]", text.Line(f.File), f.Line, f.Col, warning, text.Line(f.Message), f.Check)
}

// Findings are the problems of a policy, by place.
type Findings []Finding

// Error returns the first three findings, a line each, with their places and what to write.
func (f Findings) Error() string {
	var lines []string
	for _, x := range f[:min(len(f), 3)] {
		lines = append(lines, strings.TrimSuffix(x.line()+": "+text.Line(x.Help), ": "))
	}
	if more := len(f) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func (f Findings) sorted() Findings {
	slices.SortStableFunc(f, func(a, b Finding) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) })
	return slices.CompactFunc(f, func(a, b Finding) bool { return a.Line == b.Line && a.Col == b.Col && a.Message == b.Message })
}

// spot is a character of a node of the policy. The zero spot is the beginning of the file.
type spot struct {
	node *yaml.Node
	off  int // in the value of a scalar
}

func at(n *yaml.Node) spot { return spot{node: n} }

const maxFindings = 100

// report adds a finding that begins at a spot and is width characters wide; 0 is the whole value.
func (c *compiler) report(s spot, width int, check, message, help string) {
	if len(c.findings) == maxFindings {
		return
	}
	if width == 0 && s.node != nil && s.node.Kind == yaml.ScalarNode {
		width = utf8.RuneCountInString(s.node.Value)
	}
	f := Finding{File: c.file, Width: width, Check: check, Message: text.Cut(message, 400), Help: text.Cut(help, 400)}
	f.Line, f.Col = c.place(s)
	if f.Line <= len(c.lines) {
		f.Source = c.lines[f.Line-1]
	}
	c.findings = append(c.findings, f)
}

// place returns line and column of a spot. The source of a scalar has the characters of its value in their order, and between them what
// YAML takes away: indentation, escapes, quotes.
func (c *compiler) place(s spot) (line, col int) {
	n := s.node
	if n == nil || n.Line < 1 || n.Line > len(c.lines) {
		return 1, 1
	}
	line, col = n.Line, n.Column-1
	src := []rune(c.lines[line-1])
	switch quoted := yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle; {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		col = len(src) // the value begins in the next line
	case n.Style&quoted != 0:
		col++
	}
	for i, r := range []rune(n.Value + "\n") {
		escaped := n.Style&yaml.DoubleQuotedStyle != 0 && col < len(src) && src[col] == '\\'
		for !escaped && !unicode.IsSpace(r) && (col >= len(src) || src[col] != r) {
			if col++; col >= len(src) && line < len(c.lines) {
				line, col, src = line+1, 0, []rune(c.lines[line])
			} else if col >= len(src) {
				return line, col
			}
		}
		switch {
		case i == s.off:
			return line, col + 1
		case escaped:
			col += 2
		case col < len(src) && src[col] == r:
			col++
		}
	}
	return line, col + 1
}
