package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ralph-sdk/ralph/next/internal/text"
)

// maxText bounds a rendered text, in bytes.
const maxText = 256 << 10

// unknownValue is what a text shows for a placeholder that cannot be evaluated.
const unknownValue = "(?)"

// render fills in a text. A line that had only empty placeholders goes away.
func (e *evaluation) render(t *template) string {
	if t == nil {
		return ""
	}
	var b, line strings.Builder
	filled := false // the line has a placeholder
	flush := func(end string) {
		if s := line.String(); !filled || strings.TrimSpace(s) != "" {
			b.WriteString(s + end)
		}
		line.Reset()
		filled = false
	}
	for i, lit := range t.lits {
		for l := range strings.Lines(lit) {
			whole, ends := strings.CutSuffix(l, "\n")
			line.WriteString(whole)
			if ends {
				flush("\n")
			}
		}
		if i == len(t.exprs) || b.Len() > maxText {
			break
		}
		filled = true
		if r := e.value(t.exprs[i]); r.state == yes {
			line.WriteString(limited(show(r.value)))
		} else {
			line.WriteString(unknownValue)
		}
	}
	flush("")
	return strings.TrimRight(limited(b.String()), " \t\r\n")
}

func limited(s string) string {
	if len(s) > maxText {
		return strings.ToValidUTF8(s[:maxText], "") + "…"
	}
	return s
}

// arguments renders what a source is asked for.
func (e *evaluation) arguments(f *Fact, q *Query) (truth, error) {
	switch f.source.argument {
	case aText:
		q.Args = []string{e.render(f.args[0])}
	case aProgram:
		args, state, err := e.programLine(f.args)
		if state != yes {
			return state, err
		}
		q.Args = args
	default:
		for _, t := range f.args {
			s, state, err := e.path(t, f.source.argument == aPattern)
			if state != yes {
				return state, err
			}
			q.Args = append(q.Args, s)
		}
	}
	for key, t := range f.options {
		if q.Options == nil {
			q.Options = make(map[string]string, len(f.options))
		}
		if key != "dir" {
			q.Options[key] = e.render(t)
			continue
		}
		s, state, err := e.path(t, false)
		if state != yes {
			return state, err
		}
		q.Options[key] = s
	}
	if len(f.command) > 0 {
		args, state, err := e.programLine(f.command)
		if state != yes {
			return state, err
		}
		q.Command = args
	}
	return yes, nil
}

// path renders a path. Values stay values: they match only themselves in a pattern, and do not lead out of the project. A path whose
// value is missing, empty or of such a kind leads nowhere.
func (e *evaluation) path(t *template, pattern bool) (string, truth, error) {
	var b strings.Builder
	var spans [][2]int // of b that came from values
	for i, lit := range t.lits {
		b.WriteString(lit)
		if i == len(t.exprs) {
			break
		}
		x := t.exprs[i]
		r := e.value(x)
		if r.state != yes {
			return "", r.state, r.why
		}
		s := show(r.value)
		if why := unfit(s, b.Len() == 0); why != "" {
			return "", missing, fmt.Errorf("${%s} %s", x.source, why)
		}
		from := b.Len()
		if pattern {
			s = escapeGlob(s)
		}
		b.WriteString(s)
		spans = append(spans, [2]int{from, b.Len()})
	}
	if climbs(b.String(), spans) {
		return "", missing, fmt.Errorf("the path leads out of its directory: %s", text.Line(text.Cut(b.String(), 100)))
	}
	return b.String(), yes, nil
}

// unfit says why a value cannot be in a path, "" if it can.
func unfit(s string, first bool) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "is empty"
	case strings.ContainsAny(s, "\x00\n"):
		return "has a line break or a NUL byte, and is no path"
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, `\`), len(s) > 1 && s[1] == ':' && isName(s[:1]):
		return "is an absolute path: " + text.Line(text.Cut(s, 60))
	case strings.HasPrefix(s, "~"):
		return "begins with ~: " + text.Line(text.Cut(s, 60))
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

// escapeGlob makes a value match only itself.
func escapeGlob(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`*?[]{}\`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// programLine renders a program and its arguments. A value that begins with a hyphen is refused, since the program would take it for an
// option, unless -- stands before it.
func (e *evaluation) programLine(args []*template) (out []string, state truth, err error) {
	ended := false
	for _, t := range args {
		var b strings.Builder
		for i, lit := range t.lits {
			b.WriteString(lit)
			if i == len(t.exprs) {
				break
			}
			r := e.value(t.exprs[i])
			if r.state != yes {
				return nil, r.state, r.why
			}
			s := show(r.value)
			switch {
			case strings.ContainsRune(s, 0):
				return nil, missing, fmt.Errorf("${%s} has a NUL byte", t.exprs[i].source)
			case b.Len() == 0 && strings.HasPrefix(s, "-") && !ended:
				return nil, missing, fmt.Errorf("${%s} begins with a hyphen, and the program could take it for an option: write -- before it", t.exprs[i].source)
			}
			b.WriteString(s)
		}
		ended = ended || len(t.exprs) == 0 && b.String() == "--"
		out = append(out, b.String())
	}
	return out, yes, nil
}
