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
	switch {
	case t == nil:
		return ""
	case len(t.exprs) == 0:
		return strings.TrimRight(limited(t.lits[0]), " \t\r\n")
	}
	var b strings.Builder
	line, filled := "", false // filled: the line has a placeholder
	for i, lit := range t.lits {
		before, rest, ends := strings.Cut(lit, "\n")
		for ; ends; before, rest, ends = strings.Cut(rest, "\n") {
			if line += before; !filled || strings.TrimSpace(line) != "" {
				b.WriteString(line + "\n")
			}
			line, filled = "", false
		}
		line += before
		if i == len(t.exprs) || b.Len() > maxText {
			break
		}
		filled = true
		if r := e.value(t.exprs[i]); r.state == yes {
			line += limited(show(r.value))
		} else {
			line += unknownValue
		}
	}
	return strings.TrimRight(limited(b.String()+line), " \t\r\n")
}

func limited(s string) string {
	if len(s) > maxText {
		return strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return s
}

// fill renders a text whose placeholders must all be known. fit prepares each value for its place, or says why it does not fit,
// and then what the text is for is missing.
func (e *evaluation) fill(t *template, fit func(s string, before string) (string, error)) (string, truth, error) {
	out := t.lits[0]
	for i, x := range t.exprs {
		r := e.value(x)
		if r.state != yes {
			return "", r.state, r.why
		}
		s, err := fit(show(r.value), out)
		if err != nil {
			return "", missing, fmt.Errorf("${%s} %w", x.source, err)
		}
		out += s + t.lits[i+1]
	}
	return out, yes, nil
}

// arguments renders what a source is asked for.
func (e *evaluation) arguments(f *Fact, q *Query) (state truth, err error) {
	state = yes
	switch f.source.argument {
	case aText:
		q.Args = []string{e.render(f.args[0])}
	case aProgram:
		q.Args, state, err = e.programLine(f.args)
	default:
		q.Args = make([]string, 1)
		q.Args[0], state, err = e.path(f.args[0], f.source.argument == aPattern)
	}
	if state == yes && f.command != nil {
		q.Command, state, err = e.programLine(f.command)
	}
	for key, t := range f.options {
		if q.Options == nil {
			q.Options = make(map[string]string, len(f.options))
		}
		if q.Options[key] = e.render(t); key == "dir" && state == yes {
			q.Options[key], state, err = e.path(t, false)
		}
	}
	return state, err
}

// path renders a path. Values stay values: they match only themselves in a pattern, and do not lead out of the project.
func (e *evaluation) path(t *template, pattern bool) (string, truth, error) {
	var spans [][2]int // what came from values
	path, state, err := e.fill(t, func(s, before string) (string, error) {
		if why := unfit(s); why != "" {
			return "", fmt.Errorf("%s: %q", why, text.Cut(s, 60))
		}
		if pattern {
			s = escapeGlob(s)
		}
		spans = append(spans, [2]int{len(before), len(before) + len(s)})
		return s, nil
	})
	if state == yes && climbs(path, spans) {
		return "", missing, fmt.Errorf("the path leads out of its directory: %q", text.Cut(path, 60))
	}
	return path, state, err
}

// unfit says why a value cannot be in a path, "" if it can.
func unfit(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "is empty"
	case strings.ContainsAny(s, "\x00\n"):
		return "is no path"
	case isSlash(rune(s[0])), len(s) > 1 && s[1] == ':':
		return "is an absolute path"
	case s[0] == '~':
		return "begins with ~"
	}
	return ""
}

func isSlash(r rune) bool { return r == '/' || r == '\\' }

// climbs reports whether a step of a path is .. and a value has a part in it. \ separates on all systems, since a state may be written on
// one and read on another.
func climbs(path string, spans [][2]int) bool {
	at := 0
	for _, step := range strings.FieldsFunc(path, isSlash) {
		at += strings.Index(path[at:], step)
		if step == ".." && slices.ContainsFunc(spans, func(s [2]int) bool { return s[0] < at+2 && s[1] > at }) {
			return true
		}
		at += len(step)
	}
	return false
}

// escapeGlob makes a value match only itself. The patterns are those of doublestar, which takes a backslash only before some characters;
// the others are alone in brackets.
func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `[\\]`, ",", "[,]", "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(s)
}

// programLine renders a program and its arguments. A value that begins with a hyphen is refused, since the program would take it for an
// option, unless -- stands before it.
func (e *evaluation) programLine(args []*template) (out []string, state truth, err error) {
	for _, t := range args {
		arg, state, err := e.fill(t, func(s, before string) (string, error) {
			switch {
			case strings.ContainsRune(s, 0):
				return "", fmt.Errorf("has a NUL byte")
			case before == "" && strings.HasPrefix(s, "-") && !slices.Contains(out, "--"):
				return "", fmt.Errorf("begins with a hyphen, and the program could take it for an option: write -- before it")
			}
			return s, nil
		})
		if state != yes {
			return nil, state, err
		}
		out = append(out, arg)
	}
	return out, yes, nil
}
