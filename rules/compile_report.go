package rules

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/yamltree"
)

func (c *compiler) report(f *file, from, to yamltree.Pos, sev Severity, check, help, message string) {
	c.diags.add(f, from, to, sev, check, message, help)
}

// errorf reports an error about a whole node.
func (c *compiler) errorf(sc *scope, n *yamltree.Node, check, help, format string, args ...any) {
	c.report(sc.file, n.Start, n.End(), Error, check, help, fmt.Sprintf(format, args...))
}

func (c *compiler) warnf(sc *scope, n *yamltree.Node, check, help, format string, args ...any) {
	c.report(sc.file, n.Start, n.End(), Warning, check, help, fmt.Sprintf(format, args...))
}

// errorAt reports an error about a name at a position.
func (c *compiler) errorAt(sc *scope, pos Pos, name, check, help, format string, args ...any) {
	at := yamltree.Pos{Line: pos.Line, Col: pos.Col}
	end := yamltree.Pos{Line: pos.Line, Col: pos.Col + len([]rune(name))}
	c.report(sc.file, at, end, Error, check, help, fmt.Sprintf(format, args...))
}

// snippet is an expression within a node of a file: all of it, or a part such as a placeholder.
type snippet struct {
	scope  *scope
	src    string
	node   *yamltree.Node
	offset int // of src in the node's value, in runes
}

// snippetOf returns the snippet of a node that is an expression.
func snippetOf(sc *scope, n *yamltree.Node) snippet { return snippet{scope: sc, src: n.Value, node: n} }

// at returns the position in the file of a rune of the snippet.
func (s *snippet) at(rune int) yamltree.Pos { return s.node.At(s.offset + rune) }

func (s *snippet) pos(rune int) Pos { return s.scope.file.at(s.at(rune)) }

// trimmed returns the runes of the snippet without surrounding white space.
func (s *snippet) trimmed() (from, to int) {
	const space = " \t\n\r"
	left := strings.TrimLeft(s.src, space)
	from = utf8.RuneCountInString(s.src) - utf8.RuneCountInString(left)
	return from, from + utf8.RuneCountInString(strings.TrimRight(left, space))
}
