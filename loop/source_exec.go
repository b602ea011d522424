package loop

import (
	"context"
	"fmt"
	"strings"

	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// execSource runs a program and gives what it printed. How it ended is a value: a
// rule asks for its code.
type execSource struct {
	kind rules.SourceKind
}

func (s execSource) Kind() rules.SourceKind { return s.kind }

func (s execSource) Gather(ctx context.Context, q Query) rules.Value {
	if q.Root == nil {
		return noProject()
	}
	timeout := timeoutOf(q.Fact)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	f := process{argv: q.Args, dir: q.Root.Dir(), stdin: q.Options["stdin"]}.run(ctx)
	switch {
	case !f.found:
		return missing("there is no program " + q.Args[0])
	case f.late:
		return missing(fmt.Sprintf("%s did not end within %s", q.Args[0], timeout))
	case f.err != nil:
		return missing(fmt.Sprintf("%s cannot be run: %s", q.Args[0], f.err))
	}
	stdout := f.stdout.String()
	v := rules.Value{Problem: strings.Join(cutStreams(f), ", ")}
	document, problem := any(nil), ""
	if q.Fact.Schema == nil {
		if doc, err := schema.ParseJSON(f.stdout.Kept); err == nil {
			document = inJSON(openSchema().Check(doc.Document()), &v)
		}
	} else {
		document, problem = printed(q.Fact.Schema, f, &v)
	}
	if problem != "" {
		// Code and text of a program that failed are still worth reading.
		v.Unusable = append(v.Unusable, schema.Violation{Pointer: "/json", Message: problem})
	}
	v.V = map[string]any{
		"code": f.code, "stdout": stdout, "stderr": f.stderr.String(), "lines": lines(stdout), "json": document,
	}
	return v
}

// printed reads what a program printed by the schema of the fact.
func printed(s *schema.Schema, f finished, v *rules.Value) (document any, problem string) {
	switch {
	case f.stdout.Cut:
		return nil, fmt.Sprintf("the output is longer than %d MiB", maxOutput>>20)
	case strings.TrimSpace(string(f.stdout.Kept)) == "":
		return nil, "the program printed nothing"
	}
	doc, err := schema.ParseJSON(f.stdout.Kept)
	if err != nil {
		return nil, "the output is not JSON: " + err.Error()
	}
	return inJSON(s.Check(doc.Document()), v), ""
}

// inJSON gives the document that stands in the field json of v, which takes over what is
// wrong with it.
func inJSON(r schema.Result, v *rules.Value) (document any) {
	for _, w := range r.Unusable {
		w.Pointer = "/json" + w.Pointer
		v.Unusable = append(v.Unusable, w)
	}
	for _, w := range r.Warnings {
		w.Pointer = "/json" + w.Pointer
		v.Warnings = append(v.Warnings, w)
	}
	return r.Value
}

func cutStreams(f finished) []string {
	var notes []string
	for _, s := range []struct {
		name string
		cut  bool
	}{{"stdout", f.stdout.Cut}, {"stderr", f.stderr.Cut}} {
		if s.cut {
			notes = append(notes, fmt.Sprintf("%s is cut off after %d MiB", s.name, maxOutput>>20))
		}
	}
	return notes
}

// lines are the lines of an output, without the empty ones at its end.
func lines(s string) []any {
	s = strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	if s == "" {
		return []any{}
	}
	return texts(strings.Split(s, "\n"))
}
