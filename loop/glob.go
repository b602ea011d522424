package loop

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// maxGlob is how many files of a glob are read where the policy does not say.
const maxGlob = 1000

// glob reads all files that match a pattern. One that cannot be used is left out
// and told by the problem of the fact: it must not take the others with it.
func (g *gatherer) glob(ctx context.Context, q Query) rules.Value {
	limit := maxGlob
	if n, ok := q.Fact.Options["max"].(int); ok {
		limit = n
	}
	word, _ := q.Fact.Options["parse"].(string)
	format := map[string]state.Format{"": state.JSON, "json": state.JSON, "frontmatter": state.FrontMatter, "text": state.Text}[word]
	docs, more, err := q.Root.ReadAll(ctx, state.File{Path: q.Args[0], Format: format, Timeout: q.Fact.Timeout}, limit)
	if err != nil {
		v := rules.Value{Status: rules.Missing, Problem: err.Error(), Path: q.Args[0]}
		var refused *state.PathError
		if errors.As(err, &refused) {
			v.Problem = "has an unusable pattern: it " + refused.Message
		}
		return v
	}
	s := q.Fact.Schema
	if s == nil {
		s = g.loop.open
	}
	var bad badFiles
	list := make([]any, 0, len(docs))
	for _, doc := range docs {
		value, problem := element(s, format, doc)
		if problem != "" {
			bad.add(doc.Path, problem)
			continue
		}
		name := path.Base(doc.Path)
		list = append(list, map[string]any{
			"path": doc.Path, "name": strings.TrimSuffix(name, path.Ext(name)),
			"age": max(0, q.Now.Sub(doc.ModTime)), "value": value,
		})
	}
	if more > 0 {
		bad.lines = append(bad.lines, fmt.Sprintf("%d more files match than the %d that are read", more, limit))
	}
	return rules.Value{V: list, Problem: bad.String(), Path: q.Args[0]}
}

// element is the value of one file, or why it has none. Files are many and their
// fields may be anybody's: a wrong type makes the whole element bad.
func element(s *schema.Schema, format state.Format, doc state.Doc) (value any, problem string) {
	if format == state.Text && doc.Status != state.Invalid && doc.Version != "" {
		return doc.Text, "" // a text that is empty is one too
	}
	if doc.Status != state.OK {
		return nil, doc.Problem
	}
	r := s.Check(doc.Document)
	if len(r.Unusable) > 0 {
		return nil, strings.TrimPrefix(strings.TrimPrefix(r.Unusable[0].Pointer, "/")+": "+r.Unusable[0].Message, ": ")
	}
	if fields, ok := r.Value.(map[string]any); ok && format == state.FrontMatter {
		fields["body"] = doc.Body
	}
	return r.Value, ""
}

// maxBad is how many bad files are named one by one.
const maxBad = 20

// badFiles are the elements that a list had to leave out, one line each.
type badFiles struct {
	lines []string
	more  int
}

func (b *badFiles) add(path, problem string) {
	if len(b.lines) == maxBad {
		b.more++
		return
	}
	// A name may hold anything, also what would look like another line.
	b.lines = append(b.lines, strings.Map(printable, path)+": "+strings.Map(printable, problem))
}

// String is "" if nothing was bad.
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
