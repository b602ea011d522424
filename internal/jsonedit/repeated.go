package jsonedit

import (
	"bytes"
	"encoding/json"
)

// Repeated finds the first key that an object repeats, and where, from 1. It looks at
// the key name of the outermost object and at all that lies in its values. src is a JSON object.
func Repeated(src []byte, name string) (key string, line, col int, ok bool) {
	s := source(src)
	start := s.space(len(src) - len(bytes.TrimPrefix(src, bom)))
	at := -1
	seen := false
	outer, _ := s.members(start)
	for _, m := range outer {
		switch {
		case !s.keyIs(m, name):
			continue
		case seen:
			at = m.key
		default:
			seen = true
			at = s.repeated(m.value)
		}
		if at >= 0 {
			break
		}
	}
	if at < 0 {
		return "", 0, 0, false
	}
	if json.Unmarshal(s[at:s.skip(at)], &key) != nil {
		return "", 0, 0, false
	}
	before := s[:at]
	last := before[bytes.LastIndexByte(before, '\n')+1:]
	return key, bytes.Count(before, []byte("\n")) + 1, len([]rune(string(bytes.TrimPrefix(last, bom)))) + 1, true
}

// repeated gives the offset of the first key in the value at i that is in its object
// already, or -1.
func (s source) repeated(i int) int {
	list, _ := s.members(i)
	seen := map[string]bool{}
	for _, m := range list {
		if m.keyEnd > m.key {
			var key string
			if json.Unmarshal(s[m.key:m.keyEnd], &key) == nil {
				if seen[key] {
					return m.key
				}
				seen[key] = true
			}
		}
		if at := s.repeated(m.value); at >= 0 {
			return at
		}
	}
	return -1
}
