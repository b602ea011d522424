package rules

import (
	"strings"

	"github.com/ralph-sdk/ralph/internal/source"
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
