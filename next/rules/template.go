package rules

import (
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// template is a text with placeholders: the literals, and the expressions between them.
type template struct {
	node  *yaml.Node
	lits  []string // one more than exprs
	exprs []*expression
}

// template reads a text. ${expression} is a placeholder, which ends at the brace that closes it outside of quotes; $${ is literal.
func (c *compiler) template(n *yaml.Node, what string) *template {
	if !c.scalar(n, what) {
		return nil
	}
	t, lit := &template{node: n}, ""
	for rest := n.Value; ; {
		before, after, found := strings.Cut(rest, "${")
		lit += before
		if !found {
			t.lits = append(t.lits, lit)
			return t
		}
		if rest = after; strings.HasSuffix(before, "$") {
			lit += "{"
			continue
		}
		where := spot{n, utf8.RuneCountInString(n.Value[:len(n.Value)-len(rest)])}
		end := closing(rest)
		if end < 0 {
			c.report(where.plus(-2), 2, "placeholder", "this placeholder is not closed", "close it with }, or write $${ for the two characters")
			return nil
		}
		t.lits, lit = append(t.lits, lit), ""
		t.exprs = append(t.exprs, c.newExpression(where, rest[:end]))
		rest = rest[end+1:]
	}
}

// closing returns the place of the brace that closes a placeholder, -1 if none does.
func closing(s string) int {
	depth := 0
	return unquoted(s, func(i int) bool {
		switch s[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		return depth < 0
	})
}

// unquoted returns the place of the first byte outside of quotes for which is holds, -1 if there is none.
func unquoted(s string, is func(i int) bool) int {
	quote := byte(0)
	for i := 0; i < len(s); i++ {
		switch {
		case quote != 0 && s[i] == '\\' && quote != '`':
			i++
		case quote != 0 && s[i] == quote:
			quote = 0
		case quote != 0:
		case strings.IndexByte("\"'`", s[i]) >= 0:
			quote = s[i]
		case is(i):
			return i
		}
	}
	return -1
}

// pathTemplate reads a path, and reports one that leads out of the project as it is written.
func (c *compiler) pathTemplate(n *yaml.Node, what string) *template {
	t := c.template(n, what)
	if t == nil {
		return nil
	}
	bad := strings.HasPrefix(t.lits[0], "/") || strings.HasPrefix(t.lits[0], `\`)
	for _, lit := range t.lits {
		bad = bad || slices.Contains(strings.FieldsFunc(lit, isSlash), "..")
	}
	if bad {
		c.report(at(n), 0, "path", "the path leads out of the project", "write a path from the project's root, or one that begins with ~/")
	}
	return t
}

// program reads a program and its arguments. The program itself is literal: no value may choose it.
func (c *compiler) program(n *yaml.Node, what string) (args []*template) {
	for _, x := range c.list(n, what) {
		t := c.template(x, what)
		if t == nil {
			return nil
		}
		if len(args) == 0 && len(t.exprs) > 0 {
			c.report(at(x), 0, "program", "the program is written out, without placeholders", "")
		}
		args = append(args, t)
	}
	if len(args) == 0 && n != nil && n.Kind == yaml.SequenceNode {
		c.report(at(n), 0, "program", what+" names no program", "write "+what+": [program, argument]")
	}
	return args
}
