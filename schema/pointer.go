package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// PointerOf returns the JSON pointer (RFC 6901) of a path of object keys (string) and array indexes (int): ["a", 0] is
// "/a/0". The empty path is "", the whole document. A segment of another type is written as fmt.Sprint writes it.
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

// SplitPointer returns the unescaped segments of a JSON pointer: "/a~1b/0" is ["a/b", "0"], "" has none. A pointer that
// lacks its leading slash is read as if it had one.
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

// child is the pointer of the field called name in the object at pointer.
func child(pointer, name string) string { return pointer + "/" + escape(name) }

// element is the pointer of the i-th element of the array at pointer.
func element(pointer string, i int) string { return pointer + "/" + strconv.Itoa(i) }

// parent cuts the last segment off; the parent of the whole document is itself.
func parent(pointer string) string {
	return pointer[:max(strings.LastIndexByte(pointer, '/'), 0)]
}

func escape(segment string) string {
	return strings.ReplaceAll(strings.ReplaceAll(segment, "~", "~0"), "/", "~1")
}

func unescape(segment string) string {
	return strings.ReplaceAll(strings.ReplaceAll(segment, "~1", "/"), "~0", "~")
}
