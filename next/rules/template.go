package rules

import (
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
	t := &template{node: n}
	var lit strings.Builder
	for rest := n.Value; ; {
		i := strings.Index(rest, "${")
		if i < 0 {
			lit.WriteString(rest)
			t.lits = append(t.lits, lit.String())
			return t
		}
		if i > 0 && rest[i-1] == '$' {
			lit.WriteString(rest[:i-1] + "${")
			rest = rest[i+2:]
			continue
		}
		lit.WriteString(rest[:i])
		rest = rest[i+2:]
		at := spot{n, utf8.RuneCountInString(n.Value[:len(n.Value)-len(rest)])}
		end := closing(rest)
		if end < 0 {
			c.report(at.plus(-2), 2, "placeholder", "this placeholder is not closed", "close it with }, or write $${ for the two characters")
			return nil
		}
		t.lits = append(t.lits, lit.String())
		lit.Reset()
		t.exprs = append(t.exprs, c.newExpression(at, rest[:end], anyValue))
		rest = rest[end+1:]
	}
}

// closing returns the place of the brace that closes a placeholder, -1 if none does.
func closing(s string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch ch := s[i]; {
		case quote != 0:
			if ch == '\\' && quote != '`' {
				i++
			} else if ch == quote {
				quote = 0
			}
		case ch == '"' || ch == '\'' || ch == '`':
			quote = ch
		case ch == '{':
			depth++
		case ch == '}':
			if depth--; depth < 0 {
				return i
			}
		}
	}
	return -1
}
