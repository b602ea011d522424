package rules

import (
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// path is a template whose placeholders are inserted literally: a value from a state file can name a file but never
// reach out of the project or widen a pattern.
type path struct {
	file *file
	node *yamltree.Node
	segs []segment
	kind SourceKind

	chars string // escaped in values inserted into a pattern

	guarded bool // a program could take a leading placeholder's value for an option
}

func (c *compiler) newPath(sc *scope, n *yamltree.Node, kind SourceKind) *path {
	p := &path{file: sc.file, node: n, segs: c.segments(sc, n), kind: kind}
	c.checkPath(sc, n, kind, p.segs)
	c.paths = append(c.paths, p)
	if kind.Argument == argumentPattern {
		p.chars = globChars(p.segs)
	}
	return p
}

// argv compiles the words of a command line, or the single argument of another source.
func (c *compiler) argv(sc *scope, f *Fact, nodes []*yamltree.Node) (args []*path) {
	for i, n := range nodes {
		p := c.newPath(sc, n, f.Source)
		args = append(args, p)
		if f.Source.Argument != argumentWords {
			continue
		}
		f.Known = append(f.Known, p.known())
		p.guarded = !slices.ContainsFunc(nodes[:i], func(n *yamltree.Node) bool { return n.Value == "--" })
		at := slices.IndexFunc(p.segs, func(s segment) bool { return s.placeholder == nil || !s.constant() })
		if p.guarded && !c.lazy && at >= 0 && p.segs[at].placeholder != nil && !p.segs[at].number {
			c.warnf(sc, n, "exec-option", "write text or -- before it, if the program knows that", "${%s} is refused where it begins with a hyphen, since the program could take it for an option", p.segs[at].src)
		}
	}
	return args
}

// known returns the value of an argument of literals and params, or "".
func (p *path) known() string {
	var b strings.Builder
	for _, s := range p.segs {
		switch {
		case s.placeholder == nil:
			b.WriteString(s.literal)
		case s.placeholder.operand != nil && s.placeholder.operand.plain != nil && s.constant() && len(s.placeholder.operand.plain.path) == 0 && s.placeholder.operand.plain.sym != nil:
			b.WriteString(display(s.placeholder.operand.plain.sym.value))
		default:
			return ""
		}
	}
	return b.String()
}

// fixed returns the text of a path without placeholders.
func (p *path) fixed() (string, bool) {
	switch {
	case len(p.segs) == 0:
		return "", true
	case len(p.segs) == 1 && p.segs[0].literal != "":
		return p.segs[0].literal, true
	}
	return "", false
}

// globChars returns the characters with a meaning in the pattern of these segments: a comma between braces, and a dash,
// ! and ^ between brackets. Elsewhere they must not be escaped, since a directory without wildcards is compared as
// written.
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
