// Package yamltree parses the YAML text of a policy into nodes with the positions of all their characters.
//
// Positions are exact: [Node.At] works for any rune of any scalar style, so that an error inside an expression is shown
// at the characters that the user typed. Common YAML mistakes are reported: a `!` that became a tag, a ` #` that became
// a comment, a `: ` or a bracket that broke a plain value, each with what to write instead. No input makes it panic,
// run away or expand: size, depth and node count are limited, and aliases are rejected.
//
// It leaves out policies: the caller knows the keys and the meaning of their values.
//
// Start with [Parse].
package yamltree

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Limits on what Parse reads. They are far above what people write and far below what could make the parser slow.
const (
	MaxSize  = 1 << 20 // bytes of one file
	MaxDepth = 64      // nested maps and lists
	MaxNodes = 100_000 // maps, lists and scalars, including keys
)

// maxProblems bounds the problems of one file.
const maxProblems = 50

// The checks of Problems.
const (
	CheckSyntax    = "yaml-syntax"   // the text is not YAML
	CheckTag       = "yaml-tag"      // a `!` read as a tag
	CheckComment   = "yaml-comment"  // a ` #` that cut an expression
	CheckFlow      = "yaml-flow"     // a `,` that cut an expression inside { } or [ ]
	CheckAlias     = "yaml-alias"    // anchors, aliases and merge keys
	CheckKey       = "yaml-key"      // a key that is not text
	CheckDocument  = "yaml-document" // no document, or more than one
	CheckDepth     = "yaml-depth"    // deeper than MaxDepth
	CheckSize      = "too-big"       // larger than MaxSize or MaxNodes
	CheckEncoding  = "encoding"      // not UTF-8, or invisible characters
	CheckDuplicate = "duplicate-key" // a duplicate key in a map
)

// Pos is a position in a file. Line and Col count from 1, Col in runes (a tab is one). A byte order mark does not
// count. The zero Pos means unknown.
type Pos struct{ Line, Col int }

// IsValid reports whether the position is known.
func (p Pos) IsValid() bool { return p.Line > 0 }

// Before reports whether p is before q.
func (p Pos) Before(q Pos) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Col < q.Col
}

// String returns "line:col", or "-" for an unknown position.
func (p Pos) String() string {
	if !p.IsValid() {
		return "-"
	}
	return fmt.Sprintf("%d:%d", p.Line, p.Col)
}

// A Problem is one problem of the YAML text.
type Problem struct {
	Start, End Pos    // the range of the invalid text
	Check      string // one of the Check constants
	Message    string // what happened: lower case, no period
	Help       string // what to write instead; may be empty
}

// Parse reads one YAML document and reports its problems, up to fifty, ordered by position. The root is nil only if
// nothing usable could be read, and then there is at least one problem.
//
// If a text is not YAML, or YAML reads it other than was plainly meant (`when: !done`), Parse reports the first
// position, and the root is nil.
//
// Neither nodes nor problems keep src. They are safe for concurrent use.
func Parse(src []byte) (root *Node, problems []Problem) {
	f, problems := newFile(src)
	if f == nil {
		return nil, problems
	}
	b := builder{file: f}
	doc, err := decode(f.text)
	if err == nil {
		root, err = b.document(doc), b.misread
	}
	if err != nil {
		return nil, f.explain(err)
	}
	slices.SortStableFunc(b.problems, func(p, q Problem) int {
		return cmp.Or(cmp.Compare(p.Start.Line, q.Start.Line), cmp.Compare(p.Start.Col, q.Start.Col), cmp.Compare(p.Check, q.Check))
	})
	return root, b.problems
}

// decode parses the text with the YAML library. Its parser panics for some errors; a panic that it does not recover
// must not reach the caller.
func decode(text string) (doc *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			doc, err = nil, fmt.Errorf("yaml: %v", r)
		}
	}()
	doc = new(yaml.Node)
	d := yaml.NewDecoder(strings.NewReader(text))
	if err := d.Decode(doc); err != nil && err != io.EOF {
		return nil, err
	}
	// The library stops where the first value is complete, even within a line: a key that is indented less than the
	// first would be lost.
	switch err := d.Decode(new(yaml.Node)); err {
	case io.EOF:
		return doc, nil
	case nil:
		return nil, errors.New("yaml: unexpected text after the end of the value")
	default:
		return nil, err
	}
}
