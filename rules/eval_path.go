package rules

import (
	"strings"
)

// argument evaluates one argument of a source. problem says why there is none; quiet reports that the reason is another
// missing fact, which is itself reported. A private value sets ev.quoted.
func (ev *evaluation) argument(p *path) (value string, problem sentence, quiet bool) {
	var b strings.Builder
	var placeholders []span // of b that came from placeholders
	for i := range p.segs {
		s := &p.segs[i]
		if s.placeholder == nil {
			b.WriteString(s.literal)
			continue
		}
		v, state := ev.value(s.placeholder)
		if state != known {
			return "", ev.last.why, state == unknown
		}
		private := ev.last.mark != nil
		ev.here.quoted = ev.here.quoted || private
		at := ev.here.at
		ev.here.at = s.placeholder.last().id
		ev.meter.print(v)
		ev.here.at = at
		text := display(v)
		if p.kind.inProject() {
			if why := unfit(v, text); why != "" {
				return "", sentencef("${%s} %s", s.src, masked(why, private)), false
			}
		}
		if p.kind.Argument == argumentPattern {
			text = escapeGlob(text, p.chars)
		}
		if p.guarded && b.Len() == 0 && strings.HasPrefix(text, "-") && !s.constant() {
			return "", sentencef("${%s} begins with a hyphen, and the program could take it for an option", s.src), false
		}
		placeholders = append(placeholders, span{b.Len(), b.Len() + len(text)})
		b.WriteString(text)
	}
	value = b.String()
	if p.kind.inProject() && climbs(value, placeholders) {
		return "", sentencef("the path leads out of its directory: %s", masked(cut(value, 60), ev.here.quoted)), false
	}
	if p.kind.inProject() && len(placeholders) > 0 && !ev.allowsPath(value) {
		return "", sentencef("the policy may not use the path %s", masked(cut(value, 60), ev.here.quoted)), false
	}
	return value, sentence{}, false
}

// span is a range of bytes.
type span struct{ from, to int }

// unfit returns why a value cannot be in a path, or "".
func unfit(v any, s string) string {
	switch v.(type) {
	case string, int, bool:
	case nil:
		return "is empty"
	default:
		return "is " + kindOf(v) + ", not a name"
	}
	switch {
	case strings.TrimSpace(s) == "":
		return "is empty"
	case strings.ContainsRune(s, 0):
		return "contains a NUL byte"
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, `\`), len(s) > 1 && s[1] == ':' && isLetter(s[0]):
		return "is an absolute path: " + cut(s, 60)
	case strings.HasPrefix(s, "~"):
		return "begins with ~: " + cut(s, 60)
	}
	return ""
}

// climbs reports whether a step of the path is .. and a placeholder contributed to it: only the policy itself may write
// one.
func climbs(path string, placeholders []span) bool {
	at := 0
	// \ separates on all systems: a state file may be written on one and read on another.
	for step := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		at += strings.Index(path[at:], step)
		if step == ".." {
			for len(placeholders) > 0 && placeholders[0].to <= at {
				placeholders = placeholders[1:] // they are sorted, and there may be many
			}
			if len(placeholders) > 0 && placeholders[0].from < at+2 {
				return true
			}
		}
		at += len(step)
	}
	return false
}

// escapeGlob escapes s, so that a pattern matches it literally.
func escapeGlob(s, chars string) string {
	if !strings.ContainsAny(s, chars) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(chars, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
