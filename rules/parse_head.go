package rules

import (
	"bytes"

	"github.com/ralph-sdk/ralph/rules/internal/source"
)

// behindHead are the keys that stand behind the when of a policy.
func behindHead(key string) bool {
	switch key {
	case "facts", "memory", "let", "limits", "measure", "progress", "rules", "finally":
		return true
	}
	return false
}

// headOf gives the lines of a policy above the first of these keys. It looks at
// the first letters of lines alone: all that stands within a key is indented. ok is
// false if there is no when among these lines, or if they may not be all of the head.
func headOf(src []byte) (lines []byte, ok bool) {
	end, has := -1, false
	for at := 0; at < len(src); {
		line := src[at:]
		next := len(src)
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line, next = line[:i], at+i+1
		}
		key, _, isKey := bytes.Cut(line, []byte(":"))
		switch {
		case len(line) == 0 || line[0] == ' ' || line[0] == '#' || line[0] == '\r':
		case !isKey || line[0] < 'a' || line[0] > 'z': // quoted keys, marks of documents, …
			return nil, false
		case behindHead(string(key)):
			if end < 0 {
				end = at
			}
		case end >= 0 && string(key) == "run": // it may stand anywhere, and a hook needs none of it
		case end >= 0: // a key of the head, too late
			return nil, false
		default:
			has = has || string(key) == "when"
		}
		at = next
	}
	if end < 0 || !has {
		return nil, false
	}
	return src[:end], true
}

// placeOfWhen reports a when of the policy that stands among its rules: it would be
// taken for that of a rule by everybody who reads the file.
func (p *parser) placeOfWhen(root *source.Node) {
	first := ""
	for _, f := range root.Fields {
		switch key := f.Key.Value; {
		case first == "" && behindHead(key):
			first = key
		case first != "" && key == "when":
			p.errorf(f.Key, "own-when", "move it above "+quote(first)+", or indent it if it belongs to a rule",
				"the when of a policy stands above its facts and rules")
		}
	}
}
