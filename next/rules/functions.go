package rules

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/next/internal/text"
)

// asking are the functions about a fact. Their argument is its name, and they are always decided.
var asking = map[string]bool{"ok": true, "missing": true, "invalid": true, "problem": true, "path": true, "age": true}

// functions returns what expressions call besides the functions of expr, bound to an evaluation when one first needs it. Texts and
// numbers are of any type, since a value may have another Go type than its schema says.
func functions() map[string]func(e *evaluation) any {
	is := func(t truth) func(e *evaluation) any {
		return func(e *evaluation) any { return func(f string) bool { return e.fact(f).state == t } }
	}
	asks := func(name string) func(e *evaluation) any {
		return func(e *evaluation) any {
			return func(s string) (bool, error) { v, err := e.ask(name, s); return v == true, err }
		}
	}
	return map[string]func(e *evaluation) any{
		"ok": is(yes), "missing": is(missing), "invalid": is(failed),
		"problem": func(e *evaluation) any { return func(f string) string { return e.fact(f).problem() } },
		"path":    func(e *evaluation) any { return func(f string) string { return e.fact(f).found.Path } },
		"age": func(e *evaluation) any {
			return func(f string) time.Duration {
				if t := e.fact(f).found.Time; !t.IsZero() {
					return e.in.Now.Sub(t)
				}
				return 0
			}
		},
		"said": asks("said"), "mentions": asks("mentions"), "exists": asks("exists"),
		"which": func(e *evaluation) any {
			return func(s string) (string, error) { v, err := e.ask("which", s); return show(v), err }
		},
		"now": func(e *evaluation) any { return func() time.Time { return e.in.Now } },
		"date": func(e *evaluation) any {
			return func(s string, layout ...string) (time.Time, error) { return date(s, e.in.Now.Location(), layout) }
		},
		"cut":     func(*evaluation) any { return text.Cut },
		"tail":    func(*evaluation) any { return text.Tail },
		"folded":  func(*evaluation) any { return folded },
		"bullets": func(*evaluation) any { return bullets },
	}
}

func folded(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// bullets makes a list of Markdown: each element on a line, cut, and how many more there are.
func bullets(list any, most ...int) (string, error) {
	const length = 200 // characters
	n := append(most, 20)[0]
	v := reflect.ValueOf(list)
	if list == nil {
		return "", nil
	}
	if v.Kind() != reflect.Slice {
		return "", fmt.Errorf("bullets takes a list, and this is %s", kindOf(list))
	}
	var lines []string
	for i := range min(v.Len(), max(n, 0)) {
		lines = append(lines, "- "+text.Cut(strings.Join(strings.Fields(show(v.Index(i).Interface())), " "), length))
	}
	if more := v.Len() - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("- … and %d more", more))
	}
	return strings.Join(lines, "\n"), nil
}

// date reads a time. One without a zone is in zone.
func date(s string, zone *time.Location, layouts []string) (time.Time, error) {
	if len(layouts) == 0 {
		layouts = []string{time.RFC3339, "2006-01-02T15:04:05", time.DateTime, "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly, time.RFC1123Z, time.RFC1123}
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, strings.TrimSpace(s), zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no date such as 2006-01-02 or 2006-01-02T15:04:05Z", text.Cut(s, 40))
}
