package loop

import (
	"context"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
	"github.com/ralph-sdk/ralph/state"
)

// gatherFile reads one file of the project.
func gatherFile(ctx context.Context, q Query) rules.Value {
	format := formatOf(q.Fact)
	doc, v := q.Read(ctx, format)
	switch {
	case v.Status != rules.OK:
		return v
	case format == state.Text:
		v.V = doc.Text
		return v
	case format == state.Checklist:
		v.V = listOf(doc.Items, item)
		return v
	}
	r := schemaOf(q.Fact).Check(doc.Document)
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
	if q.Fact.Source.Value.Body {
		fields["body"] = doc.Body
	}
	v.V = fields
	return v
}

func item(it state.Item) any {
	return map[string]any{
		"text": it.Text, "done": it.Done, "tags": listOf(it.Tags, asAny), "depth": it.Depth,
		"section": it.Section, "source": it.Source, "line": it.Line,
	}
}
