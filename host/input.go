package host

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strconv"
	"strings"

	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/internal/vocab"
)

// MaxInput is the maximum size of a hook input in bytes.
const MaxInput = 16 << 20

// InputError reports why a hook input cannot be used. It never repeats any of the input.
type InputError struct {
	Message string // what is wrong and what was expected
	garbled bool   // the bytes are not one JSON value; otherwise the input is empty or not an event
}

func (e *InputError) Error() string { return "hook input: " + e.Message }

// Quiet reports whether the error is no failure of a hook, see [Trouble].
func (e *InputError) Quiet() bool { return !e.garbled }

// object is a decoded hook input. Its getters treat a value of the wrong type as missing: hosts change their payloads
// without notice, and answering what is understood is better than failing.
type object map[string]any

// parse decodes a hook input, which is one JSON object. It skips a byte order mark before it, and white space or zero
// bytes after it, which hosts on Windows write.
func parse(payload []byte) (object, error) {
	if len(payload) > MaxInput {
		return nil, &InputError{fmt.Sprintf("it is too large: %d bytes (limit %d)", len(payload), MaxInput), true}
	}
	doc := bytes.TrimPrefix(payload, []byte("\ufeff"))
	doc = bytes.TrimRight(doc, " \t\r\n\x00")
	if len(bytes.TrimLeft(doc, " \t\r\n")) == 0 {
		return nil, &InputError{"it is empty; a host sends one JSON object on stdin", false}
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, &InputError{"it is not JSON: " + explain(err), true}
	}
	if end := dec.InputOffset(); end < int64(len(doc)) {
		return nil, &InputError{fmt.Sprintf("unexpected data after the JSON value, at byte %d; send one JSON object", end+1), true}
	}
	in, ok := v.(map[string]any)
	if !ok {
		return nil, &InputError{"it must be one JSON object; got " + jsontext.Kind(v), false}
	}
	for k, v := range in {
		in[k] = plain(v)
	}
	return in, nil
}

func explain(err error) string {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("%s (byte %d)", syntax.Error(), syntax.Offset)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "it ends in the middle of a value"
	}
	return err.Error()
}

// plain converts numbers to Go's types, in place. The decoder bounds the nesting.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = plain(e)
		}
	case []any:
		for i, e := range v {
			v[i] = plain(e)
		}
	case json.Number:
		if n, err := strconv.Atoi(v.String()); err == nil {
			return n
		}
		if f, err := v.Float64(); err == nil && !math.IsInf(f, 0) {
			return f
		}
	}
	return v
}

func (in object) has(key string) bool { _, ok := in[key]; return ok }

// text returns the first string among the values of keys, each of which may also be in camelCase.
func (in object) text(keys ...string) string {
	for _, k := range keys {
		if k == "" {
			continue
		}
		if s, ok := in[k].(string); ok {
			return s
		}
		if s, ok := in[camelCase(k)].(string); ok {
			return s
		}
	}
	return ""
}

// camelCase returns a key in snake_case as some hosts spell it.
func camelCase(key string) string {
	head, tail, ok := strings.Cut(key, "_")
	if !ok || tail == "" {
		return key
	}
	return head + camelCase(strings.ToUpper(tail[:1])+tail[1:])
}

// flag returns a boolean, also if it is written as a string. known is false if it is missing or anything else.
func (in object) flag(key string) (value, known bool) {
	if v, ok := in[key].(bool); ok {
		return v, true
	}
	text, _ := in[key].(string)
	value = strings.EqualFold(text, "true")
	return value, value || strings.EqualFold(text, "false")
}

// count returns a whole number from 0 up, or -1.
func (in object) count(key string) int {
	switch n := in[key].(type) {
	case int:
		if n >= 0 {
			return n
		}
	case float64:
		if n >= 0 && n == math.Trunc(n) && n <= math.MaxInt32 {
			return int(n)
		}
	}
	return -1
}

// objects returns the objects in the first list among the two keys, each copied and with the fields that policies know.
func (in object) objects(name, also string) []map[string]any {
	for _, k := range []string{name, also} {
		list, ok := in[k].([]any)
		if !ok || k == "" {
			continue
		}
		known, _ := vocab.Find(name)
		var all []map[string]any
		for _, e := range list {
			m, ok := e.(map[string]any)
			if !ok {
				continue
			}
			whole := maps.Clone(m)
			for field, zero := range known.Zero.(vocab.Items) {
				whole[field] = object(m).text(field)
				if zero == false {
					whole[field], _ = object(m).flag(field)
				}
			}
			all = append(all, whole)
		}
		return all
	}
	return nil
}

// within reports whether the host keeps its session files in a directory called folder (".claude"), judged by the path
// of the transcript with either kind of slash.
func (in object) within(folder string) bool {
	path := strings.ReplaceAll(in.text(vocab.TranscriptPath), `\`, "/")
	return strings.Contains(path, "/"+folder+"/")
}
