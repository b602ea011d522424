package schema

import (
	"cmp"
	"strings"
)

// compareViolations compares by position, unknown ones last, then by pointer, then by message. Pointers compare by
// segment, with indexes as numbers.
func compareViolations(a, b Violation) int {
	unknown := func(v Violation) int {
		if v.Line > 0 {
			return 0
		}
		return 1
	}
	return cmp.Or(unknown(a)-unknown(b), a.Line-b.Line, a.Col-b.Col, comparePointers(a.Pointer, b.Pointer), strings.Compare(a.Message, b.Message))
}

func comparePointers(a, b string) int {
	from := 0 // the last segment with a common beginning
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			from = i
		}
	}
	for a, b = a[from:], b[from:]; a != "" && b != ""; {
		x, y := firstSegment(a), firstSegment(b)
		if x != y && len(x) != len(y) && isIndex(x[1:]) && isIndex(y[1:]) {
			return len(x) - len(y)
		}
		if d := strings.Compare(x, y); d != 0 {
			return d
		}
		a, b = a[len(x):], b[len(y):]
	}
	return len(a) - len(b)
}

// firstSegment returns the first segment of a pointer, with its slash.
func firstSegment(pointer string) string {
	if end := strings.IndexByte(pointer[1:], '/'); end >= 0 {
		return pointer[:end+1]
	}
	return pointer
}
