// Package jsonout writes JSON field by field. The bytes are those that encoding/json
// writes for the same values, but that package first studies the types it meets,
// which a process that writes one line and ends never earns back.
//
// It promises valid JSON if keys and values alternate inside an object and all that
// was begun is ended; it leaves out reading, and numbers other than int. Start with
// [To].
package jsonout

import (
	"encoding/json"
	"strconv"
)

// A Writer appends one JSON value to a buffer.
type Writer struct {
	buf   []byte
	start int // where the value begins
	err   error
}

// To gives a Writer that appends to dst.
func To(dst []byte) *Writer { return &Writer{buf: dst, start: len(dst)} }

// Append lets f append one value.
func (w *Writer) Append(f func(dst []byte) ([]byte, error)) {
	w.separate()
	b, err := f(w.buf)
	if err != nil {
		w.fail(err)
		return
	}
	w.buf = b
}

// Bytes gives what was written, or the first error: a value that JSON cannot hold.
func (w *Writer) Bytes() ([]byte, error) { return w.buf, w.err }

// Begin opens an object with '{' or a list with '['.
func (w *Writer) Begin(bracket byte) {
	w.separate()
	w.buf = append(w.buf, bracket)
}

// End closes what was begun, with '}' or ']'.
func (w *Writer) End(bracket byte) { w.buf = append(w.buf, bracket) }

// Key writes the name of a field, whose value follows. It is not escaped.
func (w *Writer) Key(name string) {
	w.separate()
	w.buf = append(append(append(w.buf, '"'), name...), '"', ':')
}

// separate puts a comma between what stands there and what comes.
func (w *Writer) separate() {
	if len(w.buf) == w.start {
		return
	}
	switch w.buf[len(w.buf)-1] {
	case '{', '[', ':':
	default:
		w.buf = append(w.buf, ',')
	}
}

// Raw writes what is JSON already.
func (w *Writer) Raw(b []byte, err error) {
	if err != nil {
		w.fail(err)
		return
	}
	w.separate()
	w.buf = append(w.buf, b...)
}

func (w *Writer) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Text writes a string.
func (w *Writer) Text(s string) {
	w.separate()
	start := len(w.buf)
	w.buf = append(w.buf, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			w.buf = append(w.buf, '\\', c)
		case c == '<' || c == '>' || c == '&':
			w.buf = append(w.buf, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		case c == '\n':
			w.buf = append(w.buf, '\\', 'n')
		case c >= ' ' && c <= '~':
			w.buf = append(w.buf, c)
		default: // rare, and not simple
			b, _ := json.Marshal(s) // a string never fails
			w.buf = append(w.buf[:start], b...)
			return
		}
	}
	w.buf = append(w.buf, '"')
}

const hex = "0123456789abcdef"

// Int writes a number.
func (w *Writer) Int(n int64) {
	w.separate()
	w.buf = strconv.AppendInt(w.buf, n, 10)
}

// Bool writes true or false.
func (w *Writer) Bool(b bool) {
	w.separate()
	w.buf = strconv.AppendBool(w.buf, b)
}

// Value writes a value of any type.
func (w *Writer) Value(v any) {
	switch v := v.(type) {
	case string:
		w.Text(v)
	case int:
		w.Int(int64(v))
	case bool:
		w.Bool(v)
	default:
		w.Raw(json.Marshal(v))
	}
}

// The fields that encoding/json leaves out when they are empty.

// OptText writes a field unless s is empty.
func (w *Writer) OptText(name, s string) {
	if s != "" {
		w.Key(name)
		w.Text(s)
	}
}

// OptInt writes a field unless n is 0.
func (w *Writer) OptInt(name string, n int64) {
	if n != 0 {
		w.Key(name)
		w.Int(n)
	}
}

// OptBool writes a field unless b is false.
func (w *Writer) OptBool(name string, b bool) {
	if b {
		w.Key(name)
		w.Bool(b)
	}
}

// OptValue writes a field unless v is nil.
func (w *Writer) OptValue(name string, v any) {
	if v != nil {
		w.Key(name)
		w.Value(v)
	}
}

// OptTexts writes a list of strings unless it is empty.
func (w *Writer) OptTexts(name string, list []string) {
	OptList(w, name, list, w.Text)
}

// OptList writes a list unless it is empty, each element by write.
func OptList[T any](w *Writer, name string, list []T, write func(T)) {
	if len(list) == 0 {
		return
	}
	w.Key(name)
	w.Begin('[')
	for _, v := range list {
		write(v)
	}
	w.End(']')
}
