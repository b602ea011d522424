package schema

import (
	"fmt"
)

// Limits of what is read. They keep every parser and every recursion of this package far from the end of the stack.
const (
	MaxSchemaSize   = 256 << 10 // bytes of a schema document
	MaxDocumentSize = 8 << 20   // bytes of a JSON document
	MaxDepth        = 1000      // arrays and objects inside one another, in schemas and documents
)

// CompileError says why a schema cannot be used.
type CompileError struct {
	Name      string // the schema's name, as given to Compile or FromValue
	Line, Col int    // where in its source; from 1, columns count characters; 0, 0 for schemas made from a value
	Pointer   string // JSON pointer of the place in the schema; "" is its root
	Message   string // what was expected there and what was found
	Help      string // what to write instead, such as `did you mean "string"?`; "" if there is no suggestion
}

// Error is one line: the name, the place, the message and the help.
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

// SyntaxError says why a text is not one JSON document.
type SyntaxError struct {
	Line, Col int    // from 1, columns count characters
	Message   string // what was found and what was expected
}

// Error is one line: line:col: message.
func (e *SyntaxError) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Col, e.Message) }

// Violation is one way in which a document or a schema is not as it should be.
type Violation struct {
	Pointer   string // JSON pointer (RFC 6901, not percent-encoded) of the value; of an absent field, where it should be
	Line, Col int    // from 1; of an absent field, those of the object that lacks it; 0, 0 if unknown
	Message   string // what is wrong there; a clause without subject, such as `is "abc", expected integer`
	Help      string // what to write instead, such as `did you mean "list"?`; "" if there is no suggestion
	Clamped   bool   // the value that rules read is not that of the document: the number is beyond ±(2^53-1), and counts as that
	Keyword   string // the JSON Schema keyword that is broken; "type" for a wrong type; "" for numbers that are Clamped and if unknown
	Value     any    // what the document has there, as decoded; nil if nothing, and for the document itself. It must not be changed
}

// Harms reports whether users are to know of it where the value is read: a wrong type, a number out of its range or beyond
// ±(2^53-1), a string that breaks its format. Anything else, such as a broken enum, files in the field have without harm.
func (v Violation) Harms() bool {
	switch v.Keyword {
	case "type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "format":
		return true
	}
	return v.Clamped
}

// Text is the message and the help.
func (v Violation) Text() string { return withHelp(v.Message, v.Help) }

func withHelp(message, help string) string {
	if help == "" {
		return message
	}
	return message + "; " + help
}

// String is one line: the place, the pointer, the message and the help.
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

// place looks up the position of v. That of a missing value is the position of what should hold it.
func (v *Violation) place(position func(pointer string) (line, col int)) {
	for at := v.Pointer; ; at = parent(at) {
		if v.Line, v.Col = position(at); v.Line > 0 || at == "" {
			return
		}
	}
}
