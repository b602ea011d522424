package jsonedit

import (
	"bytes"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// A source is JSON that is known to be valid.
type source []byte

// members lists what the object or list at i holds, and where its closing
// bracket is. Other values hold nothing.
func (s source) members(i int) (list []jsontext.Member, end int) {
	c := jsontext.Value(s).At(i)
	for c.Next() {
		list = append(list, c.Member)
	}
	return list, max(c.Close, i)
}

// skip is the offset behind the value at i.
func (s source) skip(i int) int { return jsontext.Value(s).EndOfValue(i) }

// before returns the white space in front of i, without blank lines.
func (s source) before(i int) []byte {
	start := i
	for start > 0 && bytes.IndexByte([]byte(" \t\r\n"), s[start-1]) >= 0 {
		start--
	}
	white := s[start:i]
	if nl := bytes.LastIndexByte(white, '\n'); nl > 0 {
		if white[nl-1] == '\r' {
			nl--
		}
		white = white[nl:]
	}
	return white
}

// outermost is the offset of the outermost value.
func (s source) outermost() int {
	return jsontext.Value(s).SkipSpace(len(s) - len(bytes.TrimPrefix(s, bom)))
}

var bom = []byte("\xef\xbb\xbf")
