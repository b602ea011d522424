package rules

import (
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/source"
)

// path is a template whose holes are taken literally: a value from a state file
// can name a file but never reach out of the project or widen a pattern.
type path struct {
	node *source.Node
	segs []segment
	kind SourceKind

	chars string // escaped in the values of a pattern's holes
}

func (c *compiler) newPath(sc *scope, n *source.Node, kind SourceKind) *path {
	p := &path{node: n, segs: c.segments(sc, n), kind: kind}
	c.checkPath(sc, n, kind, p.segs)
	if kind.Glob {
		p.chars = globChars(p.segs)
	}
	return p
}

// fixed gives the text of a path without holes.
func (p *path) fixed() (string, bool) {
	switch {
	case len(p.segs) == 0:
		return "", true
	case len(p.segs) == 1 && p.segs[0].literal != "":
		return p.segs[0].literal, true
	}
	return "", false
}

// ofSession gives the path with the id of a session in its only hole.
func (p *path) ofSession(id string) (string, bool) {
	var b strings.Builder
	holes := 0
	for _, s := range p.segs {
		if s.hole == nil {
			b.WriteString(s.literal)
			continue
		}
		if holes++; !isSessionID(s.hole) {
			return "", false
		}
		b.WriteString(id)
	}
	return b.String(), holes == 1
}

// isSessionID reports whether an expression is ralph's name session_id.
func isSessionID(c *cond) bool {
	return c.op == leaf && c.operand.plain != nil && c.operand.plain.sym != nil &&
		c.operand.plain.sym.kind == nameSymbol && c.operand.plain.sym.name == "session_id"
}

// globChars gives the characters that mean something in the pattern that these
// segments make: a comma does between braces, and a dash, ! and ^ between
// brackets. Elsewhere they must not be escaped, since a folder that a pattern
// names without wildcards is compared as it is written.
func globChars(segs []segment) string {
	chars := `*?[]{}\`
	for _, s := range segs {
		if strings.Contains(s.literal, "{") {
			chars += ","
		}
		if strings.Contains(s.literal, "[") {
			chars += "-!^"
		}
	}
	return chars
}
