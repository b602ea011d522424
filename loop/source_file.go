package loop

import (
	"context"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// fileSource reads one file of the project: text, json, frontmatter or checklist.
type fileSource struct {
	kind   rules.SourceKind
	format state.Format
	files  *files // changes it
}

func (s fileSource) Kind() rules.SourceKind { return s.kind }

func (s fileSource) Gather(ctx context.Context, q Query) rules.Value {
	doc, v := q.Read(ctx, factFormat(q.Fact, s.format))
	if v.Status != rules.OK {
		return v
	}
	switch s.format {
	case state.Text:
		v.V = doc.Text
		return v
	case state.Checklist:
		v.V = items(doc.Items)
		return v
	}
	by := q.Fact.Schema
	if by == nil {
		by = openSchema()
	}
	r := by.Check(doc.Document)
	v.Unusable, v.Warnings = r.Unusable, r.Warnings
	fields, ok := r.Value.(map[string]any)
	if !ok {
		v.Status, v.Problem = rules.Invalid, "it does not fit its schema"
		if len(r.Unusable) > 0 {
			v.Problem = r.Unusable[0].Message
		}
		return v
	}
	for _, u := range doc.Unusable {
		v.Unusable = append(v.Unusable, u)
		delete(fields, schema.SplitPointer(u.Pointer)[0])
	}
	if s.kind.Body {
		fields["body"] = doc.Body
	}
	v.V = fields
	return v
}

func items(list []state.Item) []any {
	out := make([]any, len(list))
	for i, it := range list {
		out[i] = map[string]any{
			"text": it.Text, "done": it.Done, "tags": texts(it.Tags), "depth": it.Depth,
			"section": it.Section, "source": it.Source, "line": it.Line,
		}
	}
	return out
}
