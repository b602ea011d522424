package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"

	procs "github.com/ralph-sdk/ralph/internal/process"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// droppedMeta is the key of the variables that a program did not get, in the trace.
const droppedMeta = "without"

// gatherExec runs a program and returns its output. An exit status is part of the value, not an error.
func gatherExec(ctx context.Context, q Query) rules.Value {
	f, err := process{argv: q.Args, dir: q.Root.Dir(), stdin: q.Options["stdin"], timeout: timeoutOf(q.Fact), allowed: q.allowed}.run(ctx)
	if errors.As(err, new(withheldError)) {
		return withheld(err)
	}
	if err != nil {
		return missing(err.Error())
	}
	stdout := f.stdout.String()
	var cut []string
	stderr := f.stderr.String()
	for i, s := range []procs.End{f.stdout, f.stderr} {
		if s.Cut {
			cut = append(cut, fmt.Sprintf("%s is its last %d MiB", []string{"stdout", "stderr"}[i], maxOutput>>20))
		}
	}
	v := rules.Value{Problem: strings.Join(cut, ", ")}
	if len(f.dropped) > 0 {
		v.Meta = map[string]any{droppedMeta: listOf(f.dropped, asAny)}
	}
	document, problem := printed(schemaOf(q.Fact), f, &v)
	if problem != "" && q.Fact.Schema != nil {
		// Code and text of a failed program may still be of use.
		v.Unusable = append(v.Unusable, schema.Violation{Pointer: "/json", Message: "is unknown: " + problem})
	}
	v.V = map[string]any{
		"code": f.code, "stdout": stdout, "stderr": stderr, "lines": lines(stdout), "json": document,
	}
	return v
}

// printed parses a program's output with the schema of the fact.
func printed(s *schema.Schema, f finished, v *rules.Value) (document any, problem string) {
	switch {
	case f.stdout.Cut:
		return nil, fmt.Sprintf("the output is longer than %d MiB", maxOutput>>20)
	case strings.TrimSpace(string(f.stdout.Bytes())) == "":
		return nil, "the program printed nothing"
	}
	doc, err := schema.ParseJSON(f.stdout.Bytes())
	if err != nil {
		return nil, "the output is not JSON: " + err.Error()
	}
	r := s.Check(doc)
	for _, found := range [][]schema.Violation{r.Unusable, r.Warnings} {
		for i := range found {
			found[i].Pointer = "/json" + found[i].Pointer
		}
	}
	v.Unusable, v.Warnings = r.Unusable, r.Warnings
	return r.Value, ""
}

// lines returns the lines of an output, without empty ones at its end.
func lines(s string) []any {
	s = strings.TrimRight(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	if s == "" {
		return []any{}
	}
	return listOf(strings.Split(s, "\n"), asAny)
}
