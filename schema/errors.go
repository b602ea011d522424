package schema

import (
	"fmt"
)

// Limits on input. They keep every parser and recursion of this package from overflowing the stack.
const (
	MaxSchemaSize   = 256 << 10 // bytes of a schema document
	MaxDocumentSize = 8 << 20   // bytes of a JSON document
	MaxDepth        = 1000      // nested arrays and objects, in schemas and documents
	MaxUnusable     = 1000      // fields and elements; a document with more unusable ones is not one of its schema
)

// CompileError is why a schema cannot be used.
type CompileError struct {
	Name      string // the schema's name, as passed to Compile or FromValue
	Line, Col int    // its position, from 1, columns in characters; 0, 0 for schemas made from a value
	Pointer   string // JSON pointer into the schema; "" is its root
	Message   string // what was expected and what was found
	Help      string // what to write instead, such as `did you mean "string"?`; "" if there is no suggestion
}

// Error returns one line: the name, the position, the message and the help.
func (e *CompileError) Error() string {
	s := e.Name
	if e.Line > 0 {
		s = fmt.Sprintf("%s:%d:%d", s, e.Line, e.Col)
	}
	s += ": " + withHelp(e.Message, e.Help)
	if e.Pointer != "" {
		s += " (at " + e.Pointer + ")"
	}
	return s
}

// SyntaxError is why a text is not one JSON document.
type SyntaxError struct {
	Line, Col int    // from 1, columns in characters
	Message   string // what was found and what was expected
}

// Error returns one line: line:col: message.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Message) }

// Violation is one problem of a document or a schema.
type Violation struct {
	Pointer   string // JSON pointer (RFC 6901, not percent-encoded) of the value, also of a missing field
	Line, Col int    // from 1; for a missing field, those of its object; 0, 0 if unknown
	Message   string // what is wrong; a clause without subject, such as `is "abc", expected integer`
	Help      string // what to write instead, such as `did you mean "list"?`; "" if there is no suggestion
	Clamped   bool   // the number is beyond ±(2^53-1), and rules read that instead
	Keyword   string // the violated JSON Schema keyword; "type" for a wrong type; [Repeated] or [Misspelt]; "" for numbers that are Clamped and if unknown
	Value     any    // the document's value, decoded; nil if missing, and for the document itself. It must not be modified
}

// Keywords of violations that JSON Schema does not have.
const (
	Repeated = "repeated" // an object has the key more than once; the last one counts
	Misspelt = "misspelt" // a declared field is missing, and the object has a key that looks like it
)

// harms reports whether the value must not be read: a wrong type, a number out of range, an invalid format. Others, such
// as an unknown enum value, occur in real files without harm.
func (v Violation) harms() bool {
	switch v.Keyword {
	case "type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "format":
		return true
	}
	return false
}

// Text returns the message and the help.
func (v Violation) Text() string { return withHelp(v.Message, v.Help) }

func withHelp(message, help string) string {
	if help == "" {
		return message
	}
	return message + "; " + help
}

// String returns one line: the position, the pointer, the message and the help.
func (v Violation) String() string {
	s := v.Text()
	if v.Pointer != "" {
		s = v.Pointer + ": " + s
	}
	if v.Line > 0 {
		s = fmt.Sprintf("%d:%d: %s", v.Line, v.Col, s)
	}
	return s
}

// place sets the position of v. That of a missing value is the position of its container.
func (v *Violation) place(position func(pointer string) (line, col int)) {
	for at := v.Pointer; ; at = parent(at) {
		if v.Line, v.Col = position(at); v.Line > 0 || at == "" {
			return
		}
	}
}
