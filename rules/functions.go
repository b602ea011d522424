package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/builtin"
)

// functions are the pure functions that ralph adds to expr's own.
func functions() []*builtin.Function {
	return []*builtin.Function{
		{
			Name:  "cut",
			Types: []reflect.Type{reflect.TypeFor[func(string, int) string](), reflect.TypeFor[func(any, int) string]()},
			Func: func(args ...any) (any, error) {
				s, ok := args[0].(string)
				n, isInt := args[1].(int)
				if !ok || !isInt {
					return nil, errors.New("cut takes a text and a number of characters")
				}
				return cut(s, n), nil
			},
		},
		{
			Name:  "bullets",
			Types: []reflect.Type{reflect.TypeFor[func([]any) string](), reflect.TypeFor[func([]any, int) string](), reflect.TypeFor[func(any) string](), reflect.TypeFor[func(any, int) string]()},
			Func: func(args ...any) (any, error) {
				n := 5
				if len(args) > 1 {
					var ok bool
					if n, ok = args[1].(int); !ok {
						return nil, errors.New("bullets takes a list and a number of items")
					}
				}
				items, err := elements(args[0])
				if err != nil {
					return nil, err
				}
				return bullets(items, n), nil
			},
		},
	}
}

func elements(v any) ([]any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []any:
		return v, nil
	}
	rv := reflect.ValueOf(v)
	if rv.Kind() != reflect.Slice {
		return nil, fmt.Errorf("bullets takes a list, not %T", v)
	}
	out := make([]any, rv.Len())
	for i := range out {
		out[i] = rv.Index(i).Interface()
	}
	return out, nil
}

// cut shortens s to n characters, the last of them an ellipsis. Characters are
// runes: expr's own slices count bytes and would tear letters apart.
func cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) <= n {
		return s
	}
	count := 0
	last := 0 // byte offset of the n-th rune
	for i := range s {
		if count == n-1 {
			last = i
		}
		if count == n {
			return s[:last] + "…"
		}
		count++
	}
	return s
}

// bullets writes the first n items as lines of a list, then how many more there are.
func bullets(items []any, n int) string {
	var b strings.Builder
	for i, item := range items {
		if i == n {
			fmt.Fprintf(&b, "- … and %d more", len(items)-n)
			break
		}
		b.WriteString("- ")
		b.WriteString(strings.ReplaceAll(display(item), "\n", "\n  "))
		b.WriteByte('\n')
	}
	return strings.TrimRight(b.String(), "\n")
}

// display writes a value as texts show it: nil as nothing, a list as one item a
// line, an object as JSON.
func display(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case int:
		return strconv.Itoa(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case time.Duration:
		return v.Round(time.Second).String()
	case time.Time:
		return v.Format(time.RFC3339)
	case []any:
		lines := make([]string, len(v))
		for i, item := range v {
			lines[i] = display(item)
		}
		return strings.Join(lines, "\n")
	case []string:
		return strings.Join(v, "\n")
	}
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
