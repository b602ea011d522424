package jsonedit

import (
	"bytes"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// A source is valid JSON.
type source []byte

// members returns the members of the object or list at i, and the offset of its closing bracket. Other values have
// none.
func (s source) members(i int) (list []jsontext.Member, end int) {
	c := jsontext.Value(s).At(i)
	for c.Next() {
		list = append(list, c.Member)
	}
	return list, max(c.Close, i)
}

// skip returns the offset after the value at i.
func (s source) skip(i int) int { return jsontext.Value(s).EndOfValue(i) }

// before returns the white space before i, without blank lines.
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

// outermost returns the offset of the outermost value.
func (s source) outermost() int {
	return jsontext.Value(s).SkipSpace(len(s) - len(bytes.TrimPrefix(s, bom)))
}

var bom = []byte("\xef\xbb\xbf")
