package loop

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// maxGlob is the default limit on files of a glob.
const maxGlob = 1000

// gatherGlob reads all files that match a pattern. It leaves out a file that it cannot use and names it in the problem
// of the fact, so that the others stay usable.
func gatherGlob(ctx context.Context, q Query) rules.Value {
	limit := maxGlob
	if n, ok := q.Fact.Options["max"].(int); ok {
		limit = n
	}
	format := state.JSON
	if word, ok := q.Fact.Options["parse"].(string); ok {
		format = fileFormat(word)
	}
	by := schemaOf(q.Fact)
	found, more, err := state.ReadAll(ctx, q.Root, state.File{Path: q.Args[0], Format: format, Timeout: q.Fact.Timeout, Now: func() time.Time { return q.Now }}, limit,
		func(doc state.Doc) element { return elementOf(by, format, doc) })
	if err != nil {
		v := rules.Value{Status: rules.Missing, Problem: err.Error(), Path: q.Args[0]}
		var refused *state.PathError
		if errors.As(err, &refused) {
			v.Problem = "has an unusable pattern: it " + refused.Message
		}
		return v
	}
	var bad badFiles
	var clamped []schema.Violation
	list := make([]any, 0, len(found))
	for _, e := range found {
		if e.problem != "" {
			bad.add(e.path, e.problem)
			continue
		}
		name := path.Base(e.path)
		for _, c := range e.clamped {
			c.Pointer, c.Message = fmt.Sprintf("/%d/value%s", len(list), c.Pointer), strings.Map(printable, e.path)+": "+c.Message
			clamped = append(clamped, c)
		}
		list = append(list, map[string]any{
			"path": e.path, "name": strings.TrimSuffix(name, path.Ext(name)),
			"age": max(0, q.Now.Sub(e.changed)), "value": e.value,
		})
	}
	if more > 0 {
		bad.lines = append(bad.lines, fmt.Sprintf("%d more files match than the %d that are read", more, limit))
	}
	return rules.Value{V: list, Problem: bad.String(), Path: q.Args[0], Warnings: clamped}
}

// element is the result for one file of a list.
type element struct {
	path    string
	changed time.Time
	value   any
	problem string // why value is nil
	clamped []schema.Violation
}

// elementOf reads one file with the schema. With many files of any origin, one wrong type invalidates the whole
// element.
func elementOf(s *schema.Schema, format state.Format, doc state.Doc) element {
	e := element{path: doc.Path, changed: doc.ModTime}
	if format == state.Text && doc.Status != state.Invalid && doc.Version != "" {
		e.value = doc.Text // an empty text is valid
		return e
	}
	if doc.Status != state.OK {
		e.problem = doc.Problem
		return e
	}
	r := s.Check(doc.Document)
	if u := r.Unfit(); u != nil {
		e.problem = strings.TrimPrefix(strings.TrimPrefix(u.Pointer, "/")+": "+u.Message, ": ")
		return e
	}
	if fields, ok := r.Value.(map[string]any); ok && format == state.FrontMatter {
		fields["body"] = doc.Body
	}
	for _, w := range r.Warnings {
		if w.Clamped {
			e.clamped = append(e.clamped, w)
		}
	}
	e.value = r.Value
	return e
}

// maxBad is how many invalid files are named one by one.
const maxBad = 20

// badFiles describes the files that a list left out, one line each.
type badFiles struct {
	lines []string
	more  int
}

func (b *badFiles) add(path, problem string) {
	if len(b.lines) == maxBad {
		b.more++
		return
	}
	// A name may contain anything, including line breaks.
	b.lines = append(b.lines, strings.Map(printable, path)+": "+strings.Map(printable, problem))
}

// String returns "" if all files were usable.
func (b *badFiles) String() string {
	all := strings.Join(b.lines, "\n")
	if b.more > 0 {
		all += fmt.Sprintf("\n… and %d more", b.more)
	}
	return all
}

func printable(r rune) rune {
	if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
		return '\ufffd'
	}
	return r
}
