package state

import (
	"bytes"
	"errors"
	"io/fs"
	"regexp"
	"strings"
	"sync"

	"github.com/ralph-sdk/ralph/schema"
)

var (
	bom      = []byte("\xef\xbb\xbf")
	errUTF16 = errors.New("is UTF-16: save it as UTF-8")
)

// missing is an error that is [fs.ErrNotExist], in words of its own.
type missing string

func (m missing) Error() string        { return string(m) }
func (m missing) Is(target error) bool { return target == fs.ErrNotExist }

// decode returns bytes as text without BOM. Bytes that are not UTF-8 become U+FFFD.
func decode(b []byte) (string, error) {
	if isUTF16(b) {
		return "", errUTF16
	}
	return strings.ToValidUTF8(string(bytes.TrimPrefix(b, bom)), "\uFFFD"), nil
}

// lazy returns a regular expression that is compiled when it is first used: most processes need few of them.
func lazy(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// isUTF16 finds a byte order mark, or a first character that takes two bytes.
func isUTF16(b []byte) bool {
	if len(b) < 2 {
		return false
	}
	return b[0] == 0xff && b[1] == 0xfe || b[0] == 0xfe && b[1] == 0xff || len(b)%2 == 0 && (b[0] == 0) != (b[1] == 0)
}

// ParseText returns a text without BOM and surrounding space. Bytes that are not UTF-8 become U+FFFD. The one error is that it is UTF-16.
func ParseText(b []byte) (string, error) {
	s, err := decode(b)
	return strings.TrimSpace(s), err
}

// ParseJSON reads one JSON value, with or without BOM; see [schema.ParseJSON]. It names UTF-16.
func ParseJSON(b []byte) (any, error) {
	if isUTF16(b) {
		return nil, errUTF16
	}
	return schema.ParseJSON(b)
}
