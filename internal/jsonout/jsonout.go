// Package jsonout writes JSON field by field. The bytes are those that encoding/json
// writes for the same values, but that package first studies the types it meets,
// which a process that writes one line and ends never earns back.
//
// It promises valid JSON if keys and values alternate inside an object and all that
// was begun is ended; it leaves out reading, and leaves values that are neither text,
// int nor bool to encoding/json. Start with [To]. A Writer belongs to one goroutine.
package jsonout

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Writer appends one JSON value to a buffer.
type Writer struct {
	buf   []byte
	start int  // where the value begins
	signs bool // < > & are written as themselves
	err   error
}

// To gives a Writer that appends to dst.
func To(dst []byte) *Writer { return &Writer{buf: dst, start: len(dst)} }

// KeepSigns writes < > & as themselves from now on, as an encoder does that was told
// not to escape HTML.
func (w *Writer) KeepSigns() { w.signs = true }

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

// Key writes the name of a field, whose value follows.
func (w *Writer) Key(name string) {
	w.Text(name)
	w.buf = append(w.buf, ':')
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

// Text writes a string. What is no UTF-8 in it becomes U+FFFD.
func (w *Writer) Text(s string) {
	w.separate()
	b := append(w.buf, '"')
	done := 0 // so much of s is in b
	for i := 0; i < len(s); {
		c, size := rune(s[i]), 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(s[i:])
		}
		i += size
		if w.plain(c, size) {
			continue
		}
		b = append(b, s[done:i-size]...)
		done = i
		if at := strings.IndexRune(short, c); at >= 0 {
			b = append(b, '\\', letters[at])
		} else {
			b = append(b, '\\', 'u', hex[c>>12&15], hex[c>>8&15], hex[c>>4&15], hex[c&15])
		}
	}
	w.buf = append(append(b, s[done:]...), '"')
}

// plain reports whether a character of this many bytes stands for itself.
func (w *Writer) plain(c rune, size int) bool {
	switch c {
	case '"', '\\', '\u2028', '\u2029': // the last two end lines in JavaScript
		return false
	case '<', '>', '&': // which mean something in HTML
		return w.signs
	case utf8.RuneError:
		return size > 1
	}
	return c >= ' '
}

// The characters that have an escape of two characters, and its letters.
const (
	short   = "\"\\\b\f\n\r\t"
	letters = `"\bfnrt`
	hex     = "0123456789abcdef"
)

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
