// Package format, which may change in any version, lays out policies in the house style.
package format

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/source"
	"github.com/ralph-sdk/ralph/rules"
)

// An Error says that a file cannot be laid out anew without changing what it says.
// It is left as it is.
type Error struct {
	Name     string // of the file
	Reason   string
	Findings rules.Diagnostics // what keeps it from being read, nil if it can be
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s cannot be formatted, it is left as it is: %s", e.Name, e.Reason)
}

// Source lays out a policy, or another YAML file of ralph, in the house style:
//
//   - two blanks of indentation a level, list items indented too
//   - one empty line between rules and between blocks of the top level, never two
//   - no blanks at the end of lines, one line feed at the end of the file
//
// Comments, expressions and texts stay as they are, to the byte: a line is moved or
// indented as a whole. The result was read again and compared with what was there,
// so it means the same to everybody; formatting it again changes nothing. Line ends
// stay those of the first line.
//
// The error is an [*Error].
func Source(name string, src []byte) ([]byte, error) {
	before, problems := source.Parse(src)
	if len(problems) > 0 || before == nil {
		return nil, &Error{Name: name, Reason: "it cannot be read", Findings: findings(name, src, problems)}
	}
	refuse := func(reason string) ([]byte, error) { return nil, &Error{Name: name, Reason: reason} }
	sheet, ok := newSheet(src)
	if !ok {
		return refuse("its lines end in different ways, or it is more than one YAML document")
	}
	was := sheet.content()
	sheet.layOut(before)
	out := sheet.bytes()
	after, problems := source.Parse(out)
	_, plain := newSheet(out)
	switch {
	case !plain:
		return refuse("one of its keys would become a mark between documents")
	case len(problems) > 0 || after == nil || !sameMeaning(before, after):
		return refuse("a text in it depends on how it is indented")
	case !slices.Equal(was, sheet.content()):
		return refuse("a comment would be lost")
	}
	return out, nil
}

// findings is what the YAML reader found.
func findings(name string, src []byte, problems []source.Problem) rules.Diagnostics {
	pos := func(at source.Pos) rules.Pos { return rules.Pos{File: name, Line: at.Line, Col: at.Col} }
	diags := make(rules.Diagnostics, len(problems))
	for i, p := range problems {
		diags[i] = rules.Diagnostic{
			Pos: pos(p.Start), End: pos(p.End), Check: p.Check, Message: p.Message, Help: p.Help, Line: source.Line(src, p.Start.Line),
		}
	}
	return diags
}

// sameMeaning reports whether two trees say the same.
func sameMeaning(a, b *source.Node) bool {
	if a.Kind != b.Kind || a.Tag != b.Tag || a.Value != b.Value || len(a.Fields) != len(b.Fields) || len(a.Items) != len(b.Items) {
		return false
	}
	if a.Kind == source.Scalar && a.Style != b.Style {
		return false
	}
	for i, f := range a.Fields {
		if f.Key.Value != b.Fields[i].Key.Value || !sameMeaning(f.Value, b.Fields[i].Value) {
			return false
		}
	}
	for i := range a.Items {
		if !sameMeaning(a.Items[i], b.Items[i]) {
			return false
		}
	}
	return true
}

// A sheet is a file as lines.
type sheet struct {
	bom     bool
	newline string
	lines   []sheetLine
}

// A sheetLine is a line without its end.
type sheetLine struct {
	text string
	role lineRole
	at   []column // of a structural line: where its parts stood and stand
	open bool     // a block begins below it
	gap  bool     // an empty line belongs above it and its comments
}

// A column is where a key or a dash stood, and where it goes.
type column struct{ old, new int }

type lineRole uint8

const (
	loose      lineRole = iota // an empty line, or a comment
	structural                 // begins with a key or a dash
	inner                      // goes on with the text or brackets of a line above
)

// newSheet splits a file. It gives false if its lines end in different ways.
func newSheet(src []byte) (*sheet, bool) {
	s := &sheet{newline: "\n"}
	if rest, ok := bytes.CutPrefix(src, []byte("\xef\xbb\xbf")); ok {
		s.bom, src = true, rest
	}
	text := string(src)
	if i := strings.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		s.newline = "\r\n"
		if strings.Count(text, "\n") != strings.Count(text, "\r\n") {
			return nil, false
		}
	} else if strings.Contains(text, "\r") {
		return nil, false
	}
	for _, line := range strings.Split(text, s.newline) {
		if strings.HasPrefix(line, "---") || strings.HasPrefix(line, "...") || strings.HasPrefix(line, "%") {
			return nil, false
		}
		s.lines = append(s.lines, sheetLine{text: line})
	}
	return s, true
}

func (s *sheet) bytes() []byte {
	var b strings.Builder
	if s.bom {
		b.WriteString("\ufeff")
	}
	lines := s.lines
	if n := len(lines); n > 0 && lines[n-1].text == "" {
		lines = lines[:n-1]
	}
	for _, l := range lines {
		b.WriteString(l.text)
		b.WriteString(s.newline)
	}
	return []byte(b.String())
}

// content is what stands in the lines, without dashes: whatever becomes of the layout, this must stay.
func (s *sheet) content() []string {
	var all []string
	for _, l := range s.lines {
		text := strings.TrimSpace(l.text)
		for strings.HasPrefix(text, "- ") || text == "-" {
			text = strings.TrimSpace(text[1:])
		}
		if text != "" {
			all = append(all, text)
		}
	}
	return all
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

func isBlank(line string) bool { return strings.TrimSpace(line) == "" }

func isComment(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " \t"), "#") }

// layOut indents all lines and sets the empty ones.
func (s *sheet) layOut(root *source.Node) {
	s.node(root, 0, root.Get("ralph") != nil)
	s.comments()
	s.gaps()
}

// place indents a structural line.
func (s *sheet) place(line, indent int) {
	l := &s.lines[line-1]
	old := indentOf(l.text)
	if l.role == loose {
		l.role = structural
		l.text = strings.Repeat(" ", indent) + strings.TrimRight(l.text[old:], " \t")
	}
	l.at = append(l.at, column{old, indent})
}

// node places a block map or list whose keys or dashes stand at indent.
func (s *sheet) node(n *source.Node, indent int, policy bool) {
	switch {
	case n.Kind == source.Map && n.Style == source.Block:
		wasBlock := false
		for i, f := range n.Fields {
			line := f.Key.Start.Line
			if s.isFirst(f.Key.Start) {
				s.place(line, indent)
			}
			isBlock := s.value(f.Value, line, indent)
			if policy {
				// Blocks of the top level stand apart.
				s.lines[line-1].gap = i > 0 && (isBlock || wasBlock)
				wasBlock = isBlock
				if list := f.Value; list.Kind == source.List && list.Style == source.Block && (f.Key.Value == "rules" || f.Key.Value == "finally") {
					for j, item := range list.Items {
						if dash := s.dashLine(list, item); j > 0 && dash > 0 {
							s.lines[dash-1].gap = true
						}
					}
				}
			}
		}
	case n.Kind == source.List && n.Style == source.Block:
		for _, item := range n.Items {
			line := s.dashLine(n, item)
			if line == 0 {
				continue // the comparison finds out whether that did harm
			}
			if s.isFirst(source.Pos{Line: line, Col: n.Start.Col}) {
				s.placeDash(line, indent)
			}
			s.value(item, line, indent)
		}
	}
}

// isFirst reports whether nothing but blanks stands before a place.
func (s *sheet) isFirst(at source.Pos) bool {
	return s.lines[at.Line-1].role == loose && indentOf(s.lines[at.Line-1].text) == at.Col-1
}

// dashLine finds the line with the dash of an item, from 1; 0 if there is none.
func (s *sheet) dashLine(list, item *source.Node) int {
	for line := item.Start.Line; line >= list.Start.Line; line-- {
		text := s.lines[line-1].text
		if s.lines[line-1].role != loose {
			if line == item.Start.Line {
				return line // placed with a dash before this one
			}
			continue
		}
		if col := list.Start.Col - 1; col < len(text) && text[col] == '-' && (col+1 == len(text) || text[col+1] == ' ' || text[col+1] == '\t') {
			return line
		}
	}
	return 0
}

// placeDash indents the line of a list item, with one blank behind the dash.
func (s *sheet) placeDash(line, indent int) {
	l := &s.lines[line-1]
	old := indentOf(l.text)
	rest := strings.TrimRight(l.text[old+1:], " \t")
	inner := len(rest) - len(strings.TrimLeft(rest, " \t"))
	l.role = structural
	l.text = strings.Repeat(" ", indent) + "-"
	if rest = rest[inner:]; rest != "" {
		l.text += " " + rest
	}
	l.at = append(l.at, column{old, indent}, column{old + 1 + inner, indent + 2})
}

// value places what belongs to a key or dash on a line at indent. It reports
// whether that is a block of several lines.
func (s *sheet) value(n *source.Node, line, indent int) (block bool) {
	end := n.End().Line
	block = end > line
	switch {
	case n.Kind != source.Scalar && n.Style == source.Block:
		s.lines[line-1].open = n.Start.Line > line
		s.node(n, indent+2, false)
		return block
	case n.Kind == source.Scalar && (n.Style == source.Literal || n.Style == source.Folded):
		s.blockText(n, indent)
		return block
	case n.Kind == source.Scalar && n.Style == source.Plain && n.Value == "":
		return false // nothing stands there
	case n.Start.Line < line || n.Start.Line > len(s.lines):
		return block
	}
	// The lines of a text or of brackets move together.
	shift := 0
	at := s.lines[line-1].at
	if n.Start.Line > line {
		old := indentOf(s.lines[n.Start.Line-1].text)
		s.place(n.Start.Line, indent+2)
		s.lines[line-1].open = true
		shift = indent + 2 - old
	} else if len(at) > 0 {
		key := at[len(at)-1]
		shift = key.new - key.old
	}
	for i := n.Start.Line; i < end && i < len(s.lines); i++ {
		l := &s.lines[i]
		l.role = inner
		if !isBlank(l.text) {
			old := indentOf(l.text)
			l.text = strings.Repeat(" ", max(old+shift, 0)) + l.text[old:]
		}
	}
	return block
}

// blockText moves the lines of a block text below the key or dash at indent.
func (s *sheet) blockText(n *source.Node, indent int) {
	first, end := n.Start.Line, max(n.Start.Line, n.End().Line) // indexes of its lines
	mark := regexp.MustCompile(`[|>][-+0-9]*\s*(#.*)?$`).FindString(s.lines[first-1].text)
	mark, _, _ = strings.Cut(mark, "#")
	for strings.Contains(mark, "+") && end < len(s.lines) && isBlank(s.lines[end].text) {
		end++ // they belong to it
	}
	depth := -1 // of its text
	for i := first; i < end && depth < 0; i++ {
		if !isBlank(s.lines[i].text) {
			depth = indentOf(s.lines[i].text)
		}
	}
	shift := indent + 2 - depth
	if at := s.lines[n.Start.Line-1].at; strings.ContainsAny(mark, "123456789") && len(at) > 0 {
		key := at[len(at)-1]
		shift = key.new - key.old // its depth is counted from the key
	}
	for i := first; i < end; i++ {
		l := &s.lines[i]
		l.role = inner
		switch old := indentOf(l.text); {
		case depth < 0:
		case isBlank(l.text) && old <= depth:
			l.text = l.text[old:]
		default:
			l.text = strings.Repeat(" ", max(old+shift, 0)) + l.text[old:]
		}
	}
}

// comments indents comments as what they belong to: what follows, if they stand
// where it stood, else what stood there before.
func (s *sheet) comments() {
	next := column{}
	for i := len(s.lines) - 1; i >= 0; i-- {
		l := &s.lines[i]
		switch {
		case l.role == structural && len(l.at) > 0:
			next = l.at[0]
		case l.role == loose && isComment(l.text):
			text := strings.Trim(l.text, " \t")
			old := len(l.text) - len(strings.TrimLeft(l.text, " \t"))
			indent := next.new
			if old != next.old {
				indent = s.above(i, old, next.new)
			}
			l.text = strings.Repeat(" ", indent) + text
		case l.role == loose && isBlank(l.text):
			l.text = ""
		}
	}
}

// above finds where the nearest part above line i went that stood at old, or else
// the deepest that stood before it.
func (s *sheet) above(i, old, otherwise int) int {
	limit := 1 << 30 // what stands deeper than a line between is closed
	for i--; i >= 0; i-- {
		for _, c := range slices.Backward(s.lines[i].at) {
			if c.old <= old && c.old < limit {
				return c.new
			}
			limit = min(limit, c.old+1)
		}
	}
	return otherwise
}

// gaps sets the empty lines: one where blocks and rules meet, never two, none at
// the ends and none below a line that opens a block.
func (s *sheet) gaps() {
	var out []sheetLine
	blank := func(l sheetLine) bool { return l.role == loose && l.text == "" }
	for i, l := range s.lines {
		switch {
		case blank(l) && (len(out) == 0 || blank(out[len(out)-1]) || out[len(out)-1].open):
			continue
		case blank(l) && !slices.ContainsFunc(s.lines[i:], func(l sheetLine) bool { return !blank(l) }):
			continue
		case l.gap:
			at := len(out)
			for at > 0 && out[at-1].role == loose && out[at-1].text != "" && indentOf(out[at-1].text) <= indentOf(l.text) {
				at--
			}
			if at > 0 && !blank(out[at-1]) && !out[at-1].open {
				out = slices.Insert(out, at, sheetLine{})
			}
		}
		out = append(out, l)
	}
	s.lines = out
}
