// Package source reads the YAML text of a policy into nodes that know where
// every character of theirs stands in the file.
//
// It promises three things. Positions are exact: [Node.At] answers for any rune
// of any scalar, whatever its style, so that an error inside an expression can
// be shown under the very characters that a person typed. YAML's own traps are
// named: a `!` that became a tag, a ` #` that became a comment, a `: ` or
// a bracket that broke a plain value, each with what to write instead. And no
// input makes it panic, run away or expand: size, depth and node count are
// capped, and aliases are refused rather than followed.
//
// It knows YAML and nothing of policies: which keys there are, and what their
// values mean, is for the caller.
//
// Start with [Parse].
package source

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Bounds of what Parse reads. They are far above what people write and far
// below what could make the parser slow.
const (
	MaxSize  = 1 << 20 // bytes of one file
	MaxDepth = 64      // maps and lists inside one another
	MaxNodes = 100_000 // maps, lists and scalars, keys included
)

// maxProblems bounds how many problems one file may report; more would not be read.
const maxProblems = 50

// The checks that a Problem can name.
const (
	CheckSyntax    = "yaml-syntax"   // the text is not YAML
	CheckTag       = "yaml-tag"      // a `!` was read as a tag
	CheckComment   = "yaml-comment"  // a ` #` cut an expression
	CheckFlow      = "yaml-flow"     // a `,` cut an expression inside { } or [ ]
	CheckAlias     = "yaml-alias"    // anchors, aliases and merge keys
	CheckKey       = "yaml-key"      // a key that is not text
	CheckDocument  = "yaml-document" // no document, or more than one
	CheckDepth     = "yaml-depth"    // deeper than MaxDepth
	CheckSize      = "too-big"       // larger than MaxSize or MaxNodes
	CheckEncoding  = "encoding"      // not UTF-8, or characters that cannot be seen
	CheckDuplicate = "duplicate-key" // a key given twice in one map
)

// Pos is a place in a file. Line and Col count from 1, Col in runes (a tab is
// one). A byte order mark at the start of the file counts for nothing. The zero
// Pos means unknown.
type Pos struct{ Line, Col int }

// IsValid reports whether the position is known.
func (p Pos) IsValid() bool { return p.Line > 0 }

// Before reports whether p stands before q.
func (p Pos) Before(q Pos) bool {
	return p.Line < q.Line || p.Line == q.Line && p.Col < q.Col
}

// String is "line:col", or "-" for an unknown position.
func (p Pos) String() string {
	if !p.IsValid() {
		return "-"
	}
	return fmt.Sprintf("%d:%d", p.Line, p.Col)
}

// A Problem is one thing that is wrong with the YAML text.
type Problem struct {
	Start, End Pos    // the offending text; End is just behind it
	Check      string // one of the Check constants
	Message    string // what happened: lower case, no full stop
	Help       string // what to write instead; may be empty
}

// Parse reads one YAML document and reports the problems it finds, up to fifty,
// ordered by position. The root is nil only if nothing usable could be
// read, and then there is at least one problem.
//
// Of a text that is not YAML, or that YAML reads as something else than what was plainly meant (`when: !done`), the first
// place is reported, and the root is nil.
//
// Neither the nodes nor the problems hold on to src. They may be used by many
// goroutines at once.
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

// decode lets the YAML library read the text. Its parser reports some errors by
// panicking; one that it does not catch itself must not reach the caller.
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
	// The library stops where the first value is complete, even if that is in the
	// middle of a line: a key that is indented less than the first would be lost.
	switch err := d.Decode(new(yaml.Node)); err {
	case io.EOF:
		return doc, nil
	case nil:
		return nil, errors.New("yaml: there is text behind the end of the value")
	default:
		return nil, err
	}
}
