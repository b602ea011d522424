package process

import "strings"

// End keeps the end of what is written to it and drops the rest.
type End struct {
	Most int // bytes to keep
	Cut  bool
	kept []byte
}

func (e *End) Write(b []byte) (int, error) {
	e.kept = append(e.kept, b...)
	if len(e.kept) > 2*e.Most { // seldom, so that the bytes are moved seldom
		e.drop()
	}
	return len(b), nil
}

// Bytes returns the kept output. It is valid until the next Write.
func (e *End) Bytes() []byte {
	e.drop()
	return e.kept
}

func (e *End) drop() {
	if over := len(e.kept) - e.Most; over > 0 {
		e.Cut = true
		e.kept = e.kept[:copy(e.kept, e.kept[over:])]
	}
}

// String returns the kept output as valid UTF-8.
func (e *End) String() string { return strings.ToValidUTF8(string(e.Bytes()), "\ufffd") }

// Output keeps the beginning of what is written to it and drops the rest.
type Output struct {
	Kept []byte
	Left int // remaining bytes
	Cut  bool
}

func (o *Output) Write(b []byte) (int, error) {
	n := min(len(b), o.Left)
	o.Kept = append(o.Kept, b[:n]...)
	o.Left -= n
	o.Cut = o.Cut || n < len(b)
	return len(b), nil
}

// String returns the kept output as valid UTF-8.
func (o *Output) String() string { return strings.ToValidUTF8(string(o.Kept), "\ufffd") }
