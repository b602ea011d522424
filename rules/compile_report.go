package rules

import (
	"fmt"

	"github.com/ralph-sdk/ralph/internal/source"
)

func (c *compiler) place(f *file, at source.Pos) Pos {
	return Pos{File: f.name, Line: at.Line, Col: at.Col}
}

func (c *compiler) report(f *file, from, to source.Pos, sev Severity, check, help, message string) {
	if c.diags.full(sev) {
		return
	}
	*c.diags = append(*c.diags, Diagnostic{
		Pos: c.place(f, from), End: c.place(f, to), Severity: sev, Check: check,
		Message: message, Help: help, Line: source.Line(f.src, from.Line),
	})
}

// errorf reports an error about the whole of a node.
func (c *compiler) errorf(sc *scope, n *source.Node, check, help, format string, args ...any) {
	c.report(sc.file, n.Start, n.End(), Error, check, help, fmt.Sprintf(format, args...))
}

func (c *compiler) warnf(sc *scope, n *source.Node, check, help, format string, args ...any) {
	c.report(sc.file, n.Start, n.End(), Warning, check, help, fmt.Sprintf(format, args...))
}

// errorAt reports an error about a name at a place.
func (c *compiler) errorAt(sc *scope, pos Pos, name, check, help, format string, args ...any) {
	if c.diags.full(Error) {
		return
	}
	end := pos
	end.Col += len([]rune(name))
	*c.diags = append(*c.diags, Diagnostic{
		Pos: pos, End: end, Check: check, Message: fmt.Sprintf(format, args...), Help: help, Line: source.Line(sc.file.src, pos.Line),
	})
}

// snippet is an expression within a node of a file: all of it, or a part such as
// the hole of a text.
type snippet struct {
	scope  *scope
	src    string
	node   *source.Node
	offset int // of src in the node's value, in runes
}

// whole is the snippet of a node that is an expression.
func whole(sc *scope, n *source.Node) snippet { return snippet{scope: sc, src: n.Value, node: n} }

// at is the place in the file of a rune of the snippet.
func (s *snippet) at(rune int) source.Pos { return s.node.At(s.offset + rune) }

func (s *snippet) pos(rune int) Pos {
	at := s.at(rune)
	return Pos{File: s.scope.file.name, Line: at.Line, Col: at.Col}
}

// trimmed gives the runes of the snippet without the white space around it.
func (s *snippet) trimmed() (from, to int) {
	runes := []rune(s.src)
	to = len(runes)
	for from < to && isSpace(runes[from]) {
		from++
	}
	for to > from && isSpace(runes[to-1]) {
		to--
	}
	return from, to
}

func isSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }
