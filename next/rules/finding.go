package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/next/internal/text"
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
//	     = did you mean phase?
func (f Finding) String() string {
	var b strings.Builder
	b.WriteString(f.line())
	margin := "    "
	if f.Source != "" {
		number := fmt.Sprintf("%4d", f.Line)
		margin = strings.Repeat(" ", len(number))
		line, col := window([]rune(text.Line(strings.ReplaceAll(f.Source, "\t", " "))), f.Col-1)
		width := max(1, min(f.Width, len(line)-col))
		fmt.Fprintf(&b, "\n%s | %s\n%s | %s^%s", number, string(line), margin, strings.Repeat(" ", col), strings.Repeat("~", width-1))
	}
	for _, s := range []string{f.Help, f.Situation} {
		if s != "" {
			b.WriteString("\n" + margin + " = " + text.Line(s))
		}
	}
	return b.String()
}

func (f Finding) line() string {
	warning := ""
	if f.Warning {
		warning = "warning: "
	}
	return fmt.Sprintf("%s:%d:%d: %s%s [%s]", text.Line(f.File), f.Line, f.Col, warning, text.Line(f.Message), f.Check)
}

// window returns the part of a long line around a column.
func window(line []rune, col int) ([]rune, int) {
	const before, after = 60, 100
	col = max(0, min(col, len(line)))
	from, to := max(0, col-before), min(len(line), col+after)
	if len(line) <= before+after {
		from, to = 0, len(line)
	}
	return line[from:to], col - from
}

// Findings are the problems of a policy, by place.
type Findings []Finding

// Error returns the first three findings, a line each, with their places and what to write.
func (f Findings) Error() string {
	var lines []string
	for _, x := range f[:min(3, len(f))] {
		line := x.line()
		if x.Help != "" {
			line += ": " + text.Line(x.Help)
		}
		lines = append(lines, line)
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

// spot is a place in a scalar of the policy.
type spot struct {
	node *yaml.Node
	off  int // in characters of the value
}

func (s spot) plus(n int) spot { return spot{s.node, s.off + n} }

const maxFindings = 100

// report adds a finding that begins at a spot and is width characters wide.
func (c *compiler) report(s spot, width int, check, message, help string) {
	line, col := c.place(s)
	c.add(Finding{Line: line, Col: col, Width: width, Check: check, Message: message, Help: help})
}

// reportNode adds a finding about a whole node.
func (c *compiler) reportNode(n *yaml.Node, check, message, help string) {
	width := 1
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		width = utf8.RuneCountInString(n.Value)
	}
	c.add(Finding{Line: n.Line, Col: n.Column, Width: width, Check: check, Message: message, Help: help})
}

func (c *compiler) add(f Finding) {
	if len(c.findings) == maxFindings {
		return
	}
	f.File = c.file
	if f.Line >= 1 && f.Line <= len(c.lines) {
		f.Source = c.lines[f.Line-1]
	}
	f.Message, f.Help = text.Cut(f.Message, 400), text.Cut(f.Help, 400)
	c.findings = append(c.findings, f)
}

// place returns line and column of a character of a scalar: it walks the value and its source side by side.
func (c *compiler) place(s spot) (line, col int) {
	n := s.node
	if n == nil || n.Line < 1 || n.Line > len(c.lines) {
		return 1, 1
	}
	block := n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0
	line, i := n.Line, n.Column-1
	src := []rune(c.lines[line-1])
	indent := -1
	next := func() {
		if line++; line > len(c.lines) {
			line--
		}
		src = []rune(c.lines[line-1])
		i = 0
		for i < len(src) && src[i] == ' ' && (indent < 0 || i < indent) {
			i++
		}
	}
	switch {
	case block:
		for next(); i == len(src) && line < len(c.lines); {
			next()
		}
		indent = i
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		i++
	}
	for k, r := range []rune(n.Value) {
		if !block && r == ' ' && i >= len(src) { // a folded line
			for next(); i == len(src) && line < len(c.lines); {
				next()
			}
			if k == s.off {
				break
			}
			continue
		}
		if k == s.off {
			break
		}
		switch {
		case r == '\n' && i >= len(src), block && r == ' ' && i >= len(src):
			next()
		case n.Style&yaml.DoubleQuotedStyle != 0 && i < len(src) && src[i] == '\\':
			i += escapeLength(src[i:])
		case n.Style&yaml.SingleQuotedStyle != 0 && r == '\'':
			i += 2
		default:
			i++
		}
	}
	return line, i + 1
}

// escapeLength returns the length of an escape in a double quoted scalar.
func escapeLength(src []rune) int {
	if len(src) > 1 {
		switch src[1] {
		case 'x':
			return 4
		case 'u':
			return 6
		case 'U':
			return 10
		}
	}
	return 2
}
