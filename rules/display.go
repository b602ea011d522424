package rules

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ralph-sdk/ralph/internal/jsontext"
)

// display returns a value as texts and paths show it.
func display(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(appendDisplay(nil, v))
}

// appendDisplay appends a value to b: nil as nothing, a list as one item a line, an object as JSON.
func appendDisplay(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return b
	case string:
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	case int:
		return strconv.AppendInt(b, int64(v), 10)
	case float64:
		return strconv.AppendFloat(b, v, 'f', -1, 64)
	case time.Duration:
		return append(b, v.Round(time.Second).String()...)
	case time.Time:
		return v.AppendFormat(b, time.RFC3339)
	case map[string]any:
		return append(b, asJSON(v)...)
	}
	items, err := elements(v)
	if err != nil {
		return append(b, asJSON(v)...)
	}
	for i, item := range items {
		if i > 0 {
			b = append(b, '\n')
		}
		b = appendDisplay(b, item)
	}
	return b
}

// asJSON returns a value as JSON, without escaping <, > and &: it is for users and agents, not for web pages.
func asJSON(v any) string {
	if b := jsontext.Encode(v); b != nil {
		return string(b)
	}
	return fmt.Sprint(v)
}

// short truncates a value to what a trace shows.
func short(v any) any {
	const most = 120
	switch v := v.(type) {
	case nil, bool, int:
		return v
	case float64:
		if s := strconv.FormatFloat(v, 'g', -1, 64); !json.Valid([]byte(s)) { // JSON has no infinity
			return s
		}
		return v
	case string:
		return cut(v, most)
	case time.Duration:
		return v.String()
	case time.Time:
		return v.Format(time.RFC3339)
	}
	head, _ := beginning(v, most+1) // a list may be long; only its beginning is shown
	b, err := json.Marshal(head)
	if err != nil {
		return fmt.Sprintf("(%T)", v)
	}
	if len(b) > most {
		return cut(string(b), most)
	}
	return json.RawMessage(b)
}

// beginning returns v truncated to n bytes of JSON, and how many of these bytes remain.
func beginning(v any, n int) (head any, left int) {
	switch v := v.(type) {
	case string:
		return v[:min(len(v), max(n, 0))], n - len(v)
	case []any:
		out := make([]any, 0, min(len(v), max(n, 0)))
		for _, e := range v {
			if n < 0 {
				break
			}
			e, n = beginning(e, n-1)
			out = append(out, e)
		}
		return out, n
	case map[string]any:
		if len(v) > max(n, 0) { // sorting it would take long, and not all of it is shown anyway
			return fmt.Sprintf("(%d fields)", len(v)), -1
		}
		out := make(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if n < 0 {
				break
			}
			out[key], n = beginning(v[key], n-len(key)-3)
		}
		return out, n
	}
	return v, n - 1
}

// kindOf returns the kind of a value for messages.
func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "nothing"
	case bool:
		return "true or false"
	case string:
		return "a string"
	case int, float64:
		return "a number"
	case []any, []string, []int:
		return "an array"
	case map[string]any:
		return "an object"
	}
	return fmt.Sprintf("%T", v)
}

// elements returns the items of a list of any type; nil has none.
func elements(v any) ([]any, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case []any:
		return v, nil
	}
	rv := reflect.ValueOf(v)
	if rv.Kind() != reflect.Slice {
		return nil, errors.New("not an array")
	}
	out := make([]any, rv.Len())
	for i := range out {
		out[i] = rv.Index(i).Interface()
	}
	return out, nil
}

// inCode quotes an expression for a message.
func inCode(s string) string {
	if strings.ContainsAny(s, "\n") {
		s = strings.Join(strings.Fields(s), " ")
	}
	return "`" + cut(s, 60) + "`"
}

// cut shortens s to n runes including an ellipsis. expr's own slices count bytes and would split characters.
func cut(s string, n int) string {
	if n <= 0 {
		return ""
	}
	if len(s) <= n {
		return s
	}
	count := 0
	last := 0 // byte offset of rune n
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

// cutFront returns the last n characters of a string, the first of them … if there are more.
func cutFront(s string, n int) string {
	first := len(s) // byte offset of the last n-1 characters
	for at := len(s); at > 0; n-- {
		if n <= 0 {
			return "…" + s[first:]
		}
		first = at
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	return s
}

// maxText bounds a rendered text, in bytes: one placeholder can show a whole file, and a text can have many.
const maxText = 1 << 20
