// Package inputs reads the values that a recorded decision used, for tests made from decisions. Start with [Known].
package inputs

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// Known returns the value of an input, see [rules.Input], or of a field of a recorded object. ok is false if the record
// lacks it.
func Known(r *loop.Record, name string) (value any, ok bool) {
	fact, pointer, isFact := strings.Cut(name, "#")
	if !throughList(pointer) {
		for _, in := range r.Trace.Inputs {
			if in.Name == name {
				return plainNumbers(in.Value), !in.Cut
			}
		}
	}
	if !isFact || pointer == "" {
		return nil, false
	}
	up := pointer[:strings.LastIndexByte(pointer, '/')]
	whole, ok := Known(r, fact+"#"+up)
	if !ok {
		return nil, false
	}
	steps := schema.SplitPointer(pointer)
	last := steps[len(steps)-1]
	switch whole := whole.(type) {
	case map[string]any:
		return whole[last], true
	case []any:
		if i, err := strconv.Atoi(last); err == nil && i < len(whole) {
			return whole[i], true
		}
	}
	return nil, false
}

// throughList reports whether a pointer may lead through a list. A record with one element of a list does not have the
// list, and no document has only the second element.
func throughList(pointer string) bool {
	return slices.ContainsFunc(schema.SplitPointer(pointer), func(step string) bool {
		_, err := strconv.Atoi(step)
		return err == nil
	})
}

// Document returns as much of a fact as the record has: a whole value, or an object with the fields that were read; nil
// if nothing was.
func Document(r *loop.Record, fact string) any {
	var doc any
	for _, in := range r.Trace.Inputs {
		pointer, ok := strings.CutPrefix(in.Name, fact+"#")
		if !ok || in.Cut || throughList(pointer) {
			continue
		}
		doc = Placed(doc, schema.SplitPointer(pointer), plainNumbers(in.Value))
	}
	return doc
}

// Placed sets a value at a path of objects, which it creates as needed.
func Placed(doc any, path []string, v any) any {
	if len(path) == 0 {
		if fields, ok := doc.(map[string]any); ok {
			if whole, ok := v.(map[string]any); ok {
				for k, known := range fields {
					whole[k] = known
				}
			}
		}
		return v
	}
	if doc == nil {
		doc = map[string]any{}
	}
	if fields, ok := doc.(map[string]any); ok {
		fields[path[0]] = Placed(fields[path[0]], path[1:], v)
	}
	return doc
}

// plainNumbers converts whole numbers to int: rules distinguish them, JSON does not. The value may come from a log or
// directly from a decision.
func plainNumbers(v any) any {
	switch v := v.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= 1<<53 {
			return int(v)
		}
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = plainNumbers(e)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			out[k] = plainNumbers(e)
		}
		return out
	case json.RawMessage:
		var decoded any
		if json.Unmarshal(v, &decoded) == nil {
			return plainNumbers(decoded)
		}
	}
	return v
}

// Gathered returns the status of a fact; ok is false if it was not gathered.
func Gathered(r *loop.Record, fact string) (read rules.FactRead, ok bool) {
	for _, f := range r.Trace.Facts {
		if f.Name == fact {
			return f, true
		}
	}
	return rules.FactRead{}, false
}

// Memories returns memories of session and project with these numbers of verdicts and these values, in which rules have
// waited so long.
func Memories(p *rules.Program, verdict rules.Said, repeated map[string]int, waited map[string]time.Duration, values map[string]any) (session, project rules.Memory) {
	both := map[bool]*rules.Memory{false: &session, true: &project}
	for _, m := range both {
		m.Said, m.Values = map[string][]rules.Said{}, map[string]any{}
	}
	for _, r := range p.Rules() {
		if r.Unless != nil && repeated[r.Name] > 0 {
			both[r.Unless.Per == "project"].Said[r.Name] = slices.Repeat([]rules.Said{verdict}, repeated[r.Name])
		}
	}
	for name, v := range values {
		both[p.Memory[name].Per == "project"].Values[name] = v
	}
	for name, d := range waited {
		if session.Waits == nil {
			session.Waits = map[string]time.Time{}
		}
		session.Waits[name] = verdict.At.Add(-d)
	}
	return session, project
}
