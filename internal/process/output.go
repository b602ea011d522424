package process

import "strings"

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
