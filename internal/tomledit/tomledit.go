// Package tomledit reads TOML and edits the arrays of tables in it: it changes only the edited bytes. A path and a value are
// those of package jsonedit.
package tomledit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/ralph-sdk/ralph/internal/jsontext"
	"github.com/ralph-sdk/ralph/schema"
)

// Decode returns the values of src with the types that JSON has; a number is a json.Number, a time a string. The error of
// invalid TOML is a *schema.SyntaxError.
func Decode(src []byte) (map[string]any, error) {
	values := map[string]any{}
	err := toml.Unmarshal(src, &values)
	var bad *toml.DecodeError
	if errors.As(err, &bad) {
		line, col := bad.Position()
		return nil, &schema.SyntaxError{Line: line, Col: col, Message: strings.TrimPrefix(bad.Error(), "toml: ")}
	}
	if err != nil {
		return nil, &schema.SyntaxError{Line: 1, Col: 1, Message: strings.TrimPrefix(err.Error(), "toml: ")}
	}
	return plain(values).(map[string]any), nil
}

// plain converts values to the types of JSON.
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
	case int64, float64:
		return json.Number(fmt.Sprint(v))
	case time.Time, toml.LocalDate, toml.LocalTime, toml.LocalDateTime:
		return fmt.Sprint(v)
	}
	return v
}

// errByHand is for text that an edit would harm.
var errByHand = errors.New("it is written in a way that cannot be edited without harming the rest; edit it by hand")

// Put returns src with value, which is JSON, at path: a new table at the end of an array of tables, an object of strings and
// numbers; or a string or a number of a table. New tables are at the end of the file.
func Put(src []byte, path []any, value []byte) ([]byte, error) {
	name, i, key, err := parts(path)
	if err != nil {
		return nil, err
	}
	tables, err := tablesOf(src, name)
	if err != nil {
		return nil, err
	}
	out := src
	switch {
	case key == "" && i == len(tables):
		var text []byte
		if text, err = tableOf(name, value); err != nil {
			return nil, err
		}
		out = appendTable(src, text)
	case key != "" && i < len(tables):
		t := tables[i]
		if at, ok := t.values[key]; ok {
			out = slices.Concat(src[:at.start], value, src[at.end:])
		} else {
			line := append([]byte(newline(src)+key+" = "), value...)
			out = slices.Concat(src[:t.last], line, src[t.last:])
		}
	default:
		return nil, fmt.Errorf("there is no table %d of %s", i, name)
	}
	return verified(src, out, name, i)
}

// Cut returns src without the table at path, its lines, and the blank line before it, or after it if it begins the file.
func Cut(src []byte, path []any) ([]byte, error) {
	name, i, key, err := parts(path)
	if err != nil {
		return nil, err
	}
	tables, err := tablesOf(src, name)
	if err != nil {
		return nil, err
	}
	if key != "" || i >= len(tables) {
		return nil, fmt.Errorf("there is no table %d of %s", i, name)
	}
	start, end := tables[i].start, tables[i].last
	before := func() bool { return start > 0 && src[start-1] == '\n' }
	back := func() {
		start--
		if start > 0 && src[start-1] == '\r' {
			start--
		}
	}
	blank := func() bool {
		rest := bytes.TrimSuffix(bytes.TrimSuffix(src[:start], []byte("\n")), []byte("\r"))
		return start > 0 && (len(rest) == 0 || rest[len(rest)-1] == '\n')
	}
	if n := bytes.IndexByte(src[end:], '\n'); n >= 0 {
		end += n + 1
		if start == 0 {
			rest := bytes.TrimPrefix(bytes.TrimPrefix(src[end:], []byte("\r")), []byte("\n"))
			end = len(src) - len(rest)
		}
	} else {
		if blank() && before() { // the end of the line before the blank one, which had none
			back()
		}
		if before() {
			back()
		}
		return verified(src, slices.Clone(src[:start]), name, i)
	}
	if blank() && before() {
		back()
	}
	return verified(src, slices.Concat(src[:start], src[end:]), name, i)
}

func parts(path []any) (name string, i int, key string, err error) {
	if len(path) == 2 || len(path) == 3 {
		n, isName := path[0].(string)
		at, isIndex := path[1].(int)
		isKey := true
		if len(path) == 3 {
			key, isKey = path[2].(string)
		}
		if isName && isIndex && isKey && at >= 0 {
			return n, at, key, nil
		}
	}
	return "", 0, "", fmt.Errorf("%s is no table of an array and no value of one", schema.PointerOf(path))
}

// A table is one [[name]], with its bytes and those of its values.
type table struct {
	start  int // of the line of its header
	last   int // after its last value, or its header
	values map[string]span
}

type span struct{ start, end int }

// tablesOf returns the tables of an array.
func tablesOf(src []byte, name string) (tables []table, err error) {
	values, err := Decode(src)
	if err != nil {
		return nil, err
	}
	var p unstable.Parser
	p.Reset(src)
	inside := false // a table of the array, or a part of one
	for p.NextExpression() {
		e := p.Expression()
		var keys []*unstable.Node
		for k := e.Key(); k.Next(); {
			keys = append(keys, k.Node())
		}
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			if string(keys[0].Data) == name && e.Kind == unstable.ArrayTable && len(keys) == 1 {
				tables = append(tables, table{start: bytes.LastIndexByte(src[:keys[0].Raw.Offset], '\n') + 1, values: map[string]span{}})
			}
			if inside = string(keys[0].Data) == name && len(tables) > 0; !inside {
				continue
			}
			last := keys[len(keys)-1].Raw
			end := int(last.Offset + last.Length)
			end += bytes.IndexByte(src[end:], ']') + 1
			if e.Kind == unstable.ArrayTable {
				end++
			}
			tables[len(tables)-1].last = end
		case unstable.KeyValue:
			if !inside {
				continue
			}
			t, v := &tables[len(tables)-1], e.Value()
			t.last = int(e.Raw.Offset + e.Raw.Length)
			if len(keys) == 1 && v.Raw.Length > 0 {
				t.values[string(keys[0].Data)] = span{int(v.Raw.Offset), int(v.Raw.Offset + v.Raw.Length)}
			}
		}
	}
	if list, _ := values[name].([]any); len(list) != len(tables) {
		return nil, fmt.Errorf("cannot edit %s: %w", name, errByHand)
	}
	return tables, nil
}

// tableOf returns the text of a table, without the end of its last line.
func tableOf(name string, value []byte) ([]byte, error) {
	text := []byte("[[" + name + "]]")
	for m := jsontext.Value(value).Members(); m.Next(); {
		text = append(append(append(append(text, '\n'), m.Key...), " = "...), m.Value...)
	}
	return text, nil
}

// newline returns the line end of a file.
func newline(src []byte) string {
	if bytes.Contains(src, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// appendTable adds a table at the end, after a blank line, also in an empty file. A file without a final line end gets none,
// and no file has no blank line.
func appendTable(src, text []byte) []byte {
	end := newline(src)
	text = bytes.ReplaceAll(text, []byte("\n"), []byte(end))
	switch {
	case src == nil:
		return append(text, '\n')
	case len(src) == 0 || bytes.HasSuffix(src, []byte("\n")):
		return slices.Concat(src, []byte(end), text, []byte(end))
	}
	return slices.Concat(src, []byte(end+end), text)
}

// verified returns out if its values are those of src but for one table of an array.
func verified(src, out []byte, name string, i int) ([]byte, error) {
	before, err := Decode(src)
	if err != nil {
		return nil, err
	}
	after, err := Decode(out)
	if err == nil {
		was, _ := before[name].([]any)
		is, _ := after[name].([]any)
		switch len(is) - len(was) {
		case 1:
			is = is[:len(was)]
		case -1:
			was = slices.Delete(slices.Clone(was), i, i+1)
		default:
			was, is = slices.Delete(slices.Clone(was), i, i+1), slices.Delete(slices.Clone(is), i, i+1)
		}
		delete(before, name)
		delete(after, name)
		if reflect.DeepEqual(before, after) && (len(was)+len(is) == 0 || reflect.DeepEqual(was, is)) {
			return out, nil
		}
	}
	return nil, fmt.Errorf("cannot edit %s: %w", name, errByHand)
}
