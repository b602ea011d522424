package schema

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/nearest"
)

// maxWarnings is how many warnings one Check gives.
const maxWarnings = 1000

const (
	maxShownText  = 1000 // characters of a pattern in a message
	maxCandidates = 250  // names that a name is compared with to guess which was meant
)

// findings words what keyword of n has against the value v at a place. Most keywords have one thing to say; required and
// additionalProperties say one per field. Keywords without words of their own say nothing.
func (n *node) findings(keyword, at string, v any) []Violation {
	one := func(format string, args ...any) []Violation {
		return []Violation{{Pointer: at, Message: fmt.Sprintf(format, args...), Keyword: keyword}}
	}
	switch keyword {
	case "":
		return one("is not allowed here")
	case "type":
		return one("is %s, expected %s", show(v), joinKinds(n.kinds.list()))
	case "const":
		return one("is %s, expected %s", show(v), show(n.keywords[keyword]))
	case "enum":
		return one("is %s, expected %s", show(v), oneOf(n.keywords[keyword]))
	case "pattern":
		return one("is %s, expected string that matches %s", show(v), cut(n.text(keyword), maxShownText))
	case "format":
		if n.format != nil {
			return []Violation{{Pointer: at, Message: "is " + show(v) + ", expected " + n.format.expected, Help: n.format.help, Keyword: keyword}}
		}
		return one("is %s, expected the format %s", show(v), cut(n.text(keyword), maxShownText))
	case "required":
		return n.missing(at, v)
	case "additionalProperties":
		return n.surplus(at, v)
	}
	words := map[string]string{
		"minimum": "at least", "maximum": "at most", "exclusiveMinimum": "more than", "exclusiveMaximum": "less than", "multipleOf": "a multiple of",
		"minLength": "at least", "minItems": "at least", "minProperties": "at least",
		"maxLength": "at most", "maxItems": "at most", "maxProperties": "at most",
	}[keyword]
	bound := show(n.keywords[keyword])
	switch _, count := v.(string); {
	case words == "":
		return nil
	case count || kindOf(v) == Array || kindOf(v) == Object:
		return one("has %s, expected %s %s", size(v), words, bound)
	}
	return one("is %s, expected %s %s", show(v), words, bound)
}

func (n *node) missing(at string, v any) []Violation {
	m, _ := v.(map[string]any)
	var all []Violation
	for _, name := range n.required {
		if _, ok := m[name]; !ok && len(all) < maxWarnings {
			all = append(all, Violation{Pointer: child(at, name), Message: "is required but missing", Keyword: "required"})
		}
	}
	return all
}

// surplus names the fields that a closed object has too many. It cannot word the case of patternProperties beside it.
func (n *node) surplus(at string, v any) []Violation {
	m, _ := v.(map[string]any)
	if n.has("patternProperties") {
		return nil
	}
	known := n.known
	expected := "expected none"
	if len(known) > 0 {
		expected = "expected " + strings.Join(known[:min(len(known), 20)], ", ")
	}
	if len(known) > maxCandidates {
		known = nil
	}
	var all []Violation
	for name := range m {
		if n.fields[name] != nil || len(all) == maxWarnings {
			continue
		}
		message := "is not a field of this object, " + expected
		all = append(all, Violation{Pointer: child(at, name), Message: message, Help: nearest.DidYouMean(name, known), Keyword: "additionalProperties"})
	}
	return all
}

func oneOf(values any) string {
	list, _ := values.([]any)
	words := make([]string, 0, len(list))
	for _, v := range list[:min(len(list), 20)] {
		words = append(words, show(v))
	}
	if len(list) > len(words) {
		return "one of " + strings.Join(words, ", ") + fmt.Sprintf(" or %d others", len(list)-len(words))
	}
	if last := len(words) - 1; last > 0 {
		return "one of " + strings.Join(words[:last], ", ") + " or " + words[last]
	}
	return strings.Join(words, "")
}

// size returns how many characters, elements or fields a value has.
func size(v any) string {
	count, unit := 0, ""
	switch v := v.(type) {
	case string:
		count, unit = utf8.RuneCountInString(v), "character"
	case []any:
		count, unit = len(v), "element"
	case map[string]any:
		count, unit = len(v), "field"
	}
	if count != 1 {
		unit += "s"
	}
	return strconv.Itoa(count) + " " + unit
}

// compareViolations orders by position, what has none last, then by pointer, then by message. Pointers are compared by
// their segments, and indexes as numbers.
func compareViolations(a, b Violation) int {
	known := func(v Violation) int {
		if v.Line > 0 {
			return 0
		}
		return 1
	}
	if d := known(a) - known(b); d != 0 {
		return d
	}
	if d := a.Line - b.Line; d != 0 {
		return d
	}
	if d := a.Col - b.Col; d != 0 {
		return d
	}
	if d := comparePointers(a.Pointer, b.Pointer); d != 0 {
		return d
	}
	return strings.Compare(a.Message, b.Message)
}

func comparePointers(a, b string) int {
	from := 0 // the last segment that begins alike
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

// firstSegment is the first segment of a pointer, with its slash.
func firstSegment(pointer string) string {
	if end := strings.IndexByte(pointer[1:], '/'); end >= 0 {
		return pointer[:end+1]
	}
	return pointer
}
