package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/ralph-sdk/ralph/internal/text"
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

// closing returns the place of the brace that closes a placeholder, -1 if none does. Those within quotes do not count.
func closing(s string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case quote != 0 && b == '\\' && quote != '`':
			i++
		case quote != 0 && b == quote:
			quote = 0
		case quote != 0:
		case strings.IndexByte("\"'`", b) >= 0:
			quote = b
		case b == '{':
			depth++
		case b == '}' && depth == 0:
			return i
		case b == '}':
			depth--
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
	bad := strings.HasPrefix(t.lits[0], "/") || strings.HasPrefix(t.lits[0], `\`) || slices.ContainsFunc(t.lits, climbs)
	if n.Value == "" {
		c.report(at(n), 1, "path", "the path is empty", "write a path from the project's root")
	} else if bad {
		c.report(at(n), 0, "path", "the path leads out of the project", "write a path from the project's root, or one that begins with ~/")
	}
	return t
}

// program reads a program and its arguments. The program itself is literal: no value may choose it.
func (c *compiler) program(n *yaml.Node, what string) (args []*template) {
	if n != nil && n.Kind == yaml.ScalarNode {
		line := "[" + strings.Join(strings.Fields(n.Value), ", ") + "]"
		if strings.ContainsAny(n.Value, `|&;<>$"'{`) {
			line = "[PROGRAM, ARGUMENT], or [sh, -c, LINE] for a line of a shell"
		}
		c.report(at(n), 0, "type", what+" is a list of a program and its arguments", "write "+what+": "+line)
		return nil
	}
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

// maxText bounds a rendered text, in bytes.
const maxText = 256 << 10

// unknownValue is what a text shows for a placeholder that cannot be evaluated.
const unknownValue = "(?)"

// render fills in a text. A line that had only empty placeholders goes away.
func (e *evaluation) render(t *template) string {
	if t == nil {
		return ""
	}
	var b strings.Builder
	line, filled := "", false // filled: the line has a placeholder
	for i, lit := range t.lits {
		for n, part := range strings.Split(lit, "\n") {
			if n > 0 && (!filled || strings.TrimSpace(line) != "") {
				b.WriteString(line + "\n")
			}
			if n > 0 {
				line, filled = "", false
			}
			line += part
		}
		if i == len(t.exprs) || b.Len() > maxText {
			break
		}
		filled = true
		if r := e.value(t.exprs[i]); r.state == yes {
			line += show(r.value)
		} else {
			line += unknownValue
		}
	}
	s := b.String() + line
	if len(s) > maxText {
		s = strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return strings.TrimRight(s, " \t\r\n")
}

// fill renders an argument whose placeholders must all be known. Values stay values: they match only themselves in a pattern, lead nowhere
// out of the project in a path, and are no option of a program. An argument with one that does not fit is missing.
func (e *evaluation) fill(t *template, as argument) (string, truth, error) {
	out := t.lits[0]
	for i, x := range t.exprs {
		r := e.value(x)
		if r.state != yes {
			return "", r.state, r.why
		}
		s := show(r.value)
		if why := unfit(s, out, as); why != "" {
			return "", missing, fmt.Errorf("${%s} %s: %q", x.source, why, text.Cut(s, 60))
		}
		if as == aPattern {
			s = escapeGlob(s)
		}
		out += s + t.lits[i+1]
	}
	if len(t.exprs) > 0 && as < aProgram && climbs(out) {
		return "", missing, fmt.Errorf("the path leads out of its directory: %q", text.Cut(out, 60))
	}
	return out, yes, nil
}

// fillAll renders what a source, an option or an effect takes. What follows -- in a program is no option.
func (e *evaluation) fillAll(args []*template, as argument) (out []string, state truth, err error) {
	if as >= aText {
		return []string{e.render(args[0])}, yes, nil
	}
	for _, t := range args {
		arg, state, err := e.fill(t, as)
		if state != yes {
			return nil, state, err
		}
		if out = append(out, arg); arg == "--" && as == aProgram {
			as = aText
		}
	}
	return out, yes, nil
}

// arguments renders what a source is asked for.
func (e *evaluation) arguments(f *Fact, q *Query) (state truth, err error) {
	q.Args, state, err = e.fillAll(f.args, f.source.argument)
	for key, args := range f.options {
		var out []string
		if state == yes {
			out, state, err = e.fillAll(args, f.source.options[key])
		}
		if key == "command" {
			q.Command = out
		} else if state == yes {
			q.Options = merged(q.Options, map[string]string{key: out[0]})
		}
	}
	return state, err
}

// unfit says why a value cannot be in an argument after a text, "" if it can.
func unfit(s, before string, as argument) string {
	switch {
	case strings.ContainsRune(s, 0):
		return "has a NUL byte"
	case as == aText, as == aProgram && (before != "" || !strings.HasPrefix(s, "-")):
		return ""
	case as == aProgram:
		return "begins with a hyphen, and the program could take it for an option (write -- before it)"
	case strings.TrimSpace(s) == "", strings.Contains(s, "\n"):
		return "is empty, or no path"
	case strings.ContainsAny(s[:1], `/\~`), len(s) > 1 && s[1] == ':':
		return "is an absolute path"
	}
	return ""
}

// climbs reports whether a step of a path is .. . On all systems both signs separate steps, since a state may be written on one and read on
// another.
func climbs(path string) bool {
	return slices.Contains(strings.Split(strings.ReplaceAll(path, `\`, "/"), "/"), "..")
}

// escapeGlob makes a value match only itself. The patterns are those of doublestar, which takes a backslash only before some characters;
// the others are alone in brackets.
func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `[\\]`, ",", "[,]", "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(s)
}
