package rules

import (
	"fmt"
	"strings"

	"github.com/ralph-sdk/ralph/rules/internal/source"
)

// path is a template whose holes are taken literally: a value from a state file
// can name a file but never reach out of the project or widen a pattern.
type path struct {
	node *source.Node
	segs []segment
	kind SourceKind
}

func (c *compiler) newPath(sc *scope, n *source.Node, kind SourceKind) *path {
	return &path{node: n, segs: c.segments(sc, n), kind: kind}
}

// argument works out one argument of a source. The problem says why there is
// none; quiet tells that the reason is another missing fact, which tells itself.
func (ev *evaluation) argument(p *path) (value, problem string, quiet bool) {
	var b strings.Builder
	for _, s := range p.segs {
		if s.hole == nil {
			if s.broken {
				return "", "its path cannot be worked out", false
			}
			b.WriteString(s.literal)
			continue
		}
		v, state := ev.value(s.hole)
		if state != known {
			return "", "${" + s.src + "} is unknown: " + ev.why, state == unknown
		}
		text := display(v)
		if p.kind.Path || p.kind.Glob {
			if err := checkSegment(text); err != "" {
				return "", fmt.Sprintf("${%s} %s", s.src, err), false
			}
		}
		if p.kind.Glob {
			text = escapeGlob(text)
		}
		b.WriteString(text)
	}
	return b.String(), "", false
}

// checkSegment tells why a value may not stand in a path, or "".
func checkSegment(s string) string {
	switch {
	case s == "":
		return "is empty"
	case strings.ContainsRune(s, 0):
		return "holds a zero byte"
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, `\`), len(s) > 1 && s[1] == ':' && isLetter(s[0]):
		return fmt.Sprintf("is an absolute path: %s", cut(s, 60))
	case strings.HasPrefix(s, "~"):
		return fmt.Sprintf("begins with ~: %s", cut(s, 60))
	}
	for _, step := range strings.FieldsFunc(s, func(r rune) bool { return r == '/' || r == '\\' }) {
		if step == ".." {
			return fmt.Sprintf("leaves its folder: %s", cut(s, 60))
		}
	}
	return ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// escapeGlob makes every character of s stand for itself in a pattern.
func escapeGlob(s string) string {
	if !strings.ContainsAny(s, `*?[]{}\!`) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune(`*?[]{}\!`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
