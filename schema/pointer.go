package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// PointerOf returns the JSON pointer (RFC 6901) of a path of object keys (string) and array indexes (int): ["a", 0] is
// "/a/0". The empty path is "", the whole document. Segments of other types are formatted with fmt.Sprint.
func PointerOf[S any](path []S) string {
	var b strings.Builder
	for _, segment := range path {
		name, ok := any(segment).(string)
		if !ok {
			name = fmt.Sprint(segment)
		}
		b.WriteByte('/')
		b.WriteString(escape(name))
	}
	return b.String()
}

// SplitPointer returns the unescaped segments of a JSON pointer: "/a~1b/0" is ["a/b", "0"], "" has none. A missing
// leading slash is ignored.
func SplitPointer(p string) []string {
	if p == "" {
		return nil
	}
	segments := strings.Split(strings.TrimPrefix(p, "/"), "/")
	for i, s := range segments {
		segments[i] = unescape(s)
	}
	return segments
}

// child returns the pointer of a field of the object at pointer.
func child(pointer, name string) string { return pointer + "/" + escape(name) }

// element returns the pointer of element i of the array at pointer.
func element(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }

// parent returns the pointer without its last segment; the parent of "" is "".
func parent(pointer string) string {
	return pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
}

func escape(segment string) string {
	return strings.ReplaceAll(strings.ReplaceAll(segment, "~", "~0"), "/", "~1")
}

func unescape(segment string) string {
	return strings.ReplaceAll(strings.ReplaceAll(segment, "~1", "/"), "~0", "~")
}
