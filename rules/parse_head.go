package rules

import (
	"bytes"

	"github.com/ralph-sdk/ralph/internal/yamltree"
)

// behindHead reports whether a key begins the part that only an event with a loop needs.
func behindHead(key string) bool { return key == "rules" || key == "finally" }

// splitHead splits a policy above its rules, if that part can make an event idle. The rest has an empty line for each
// line of the head. It looks only at the first letters of lines: everything within a key is indented. ok is false if
// the head has neither when nor loop, or if these lines may not be all of it.
func splitHead(src []byte) (head, rest []byte, ok bool) {
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
			return nil, nil, false
		case behindHead(string(key)):
			if end < 0 {
				end = at
			}
		case end >= 0: // a key of the head, too late
			return nil, nil, false
		default:
			has = has || string(key) == "when" || string(key) == "loop"
		}
		at = next
	}
	if end < 0 || !has {
		return nil, nil, false
	}
	return src[:end], append(bytes.Repeat([]byte("\n"), bytes.Count(src[:end], []byte("\n"))), src[end:]...), true
}

// placeOfWhen reports a top-level when among the rules: readers would take it for that of a rule.
func (p *parser) placeOfWhen(root *yamltree.Node) {
	first := ""
	for _, f := range root.Fields {
		switch key := f.Key.Value; {
		case first == "" && behindHead(key):
			first = key
		case first != "" && key == "when":
			p.errorf(f.Key, "own-when", "move it above "+quote(first)+", or indent it if it belongs to a rule",
				"the when of a policy is above its rules")
		}
	}
}
