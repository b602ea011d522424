package replay

import (
	"context"
	"path"
	"slices"
	"time"

	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// past is the world as a record shows it.
type past struct {
	record  *loop.Record
	unknown []string // what was asked for in vain
}

// Fact gives what the record holds of a fact. Fields that it does not hold look
// absent; check finds them afterwards, among all that was read.
func (w *past) Fact(_ context.Context, decl *rules.Fact, args []string) rules.Value {
	read, ok := w.record.Gathered(decl.Name)
	arguments, _ := decl.Split(args)
	switch {
	case !ok:
		w.miss("the fact %s was not gathered then", decl.Name)
		return rules.Value{Status: rules.Missing, Quiet: true, Problem: "it is not in the log"}
	case read.Source != decl.Source.Name:
		w.miss("the fact %s came from %s then, and comes from %s now", decl.Name, read.Source, decl.Source.Name)
	case decl.Source.Path && read.Path != "" && len(arguments) > 0 && path.Clean(arguments[0]) != path.Clean(read.Path):
		w.miss("the fact %s was read from %s then, and is read from %s now", decl.Name, read.Path, arguments[0])
	}
	v := rules.Value{Status: read.Status, Problem: read.Problem, Path: read.Path, Version: "then", Quiet: true}
	if age, ok := w.record.Known("age(" + decl.Name + ")"); ok {
		if d, err := time.ParseDuration(age.(string)); err == nil {
			v.ModTime = w.record.Time.Add(-d)
		}
	}
	if v.Status == rules.OK {
		v.V = value(decl, w.record.Document(decl.Name))
	}
	return v
}

// value brings what a record holds into the types that rules expect.
func value(decl *rules.Fact, doc any) any {
	switch {
	case decl.Source.Glob:
		files, _ := doc.([]any)
		for _, f := range files {
			if fields, ok := f.(map[string]any); ok {
				if age, ok := fields["age"].(int); ok {
					fields["age"] = time.Duration(age)
				}
			}
		}
		return files
	case decl.Schema == nil || decl.Source.Around != nil:
		if doc == nil && decl.Source.Value != nil && decl.Source.Value.Kind == schema.Array {
			return []any{}
		}
		if doc == nil && decl.Source.Value != nil && decl.Source.Value.Kind == schema.String {
			return ""
		}
		if doc == nil {
			return map[string]any{}
		}
		return doc
	}
	if doc == nil {
		doc = map[string]any{}
	}
	return decl.Schema.Check(schema.Document{Value: doc}).Value
}

// told reports whether a record says this name outside of its inputs.
func told(name string) bool {
	return slices.Contains([]string{"session_id", "hook_event_name", "host", "agent_id", "project"}, name)
}

// Name gives one of ralph's own names.
func (w *past) Name(_ context.Context, name string) any {
	r := w.record
	switch name {
	case "session_id":
		return r.Session
	case "hook_event_name":
		return r.Event
	case "host":
		return r.Host
	case "agent_id":
		return r.Agent
	case "project":
		return r.Root
	case "now":
		return r.Time
	case "said", "promised", "mentions", "transcript.passed", "exists", "isdir", "anyfile":
		return func(text string) bool {
			v, _ := w.call(name, text).(bool)
			return v
		}
	case "which":
		return func(program string) string {
			v, _ := w.call(name, program).(string)
			return v
		}
	case "transcript.turns":
		return func(int) []any {
			w.miss("the conversation is not in the log")
			return []any{}
		}
	}
	v, _ := r.Known(name)
	return v
}

// call gives what a function answered then.
func (w *past) call(function, text string) any {
	name := loop.CallName(function, text)
	v, ok := w.record.Calls[name]
	if !ok {
		w.miss("%s was not asked then", name)
	}
	return v
}

// Row gives the loop memory.
func (w *past) Row(context.Context) rules.Row {
	r := w.record.Row
	return rules.Row{
		Continuations: r.Continuations, Total: r.Total, Progress: r.Before, Same: r.Same, Elapsed: r.Elapsed, Step: r.Step,
	}
}

// Given tells in how many verdicts a rule had been.
func (w *past) Given(_ context.Context, r *rules.Rule) int {
	n, ok := w.record.Repeated[r.Name]
	if !ok {
		w.miss("how often the rule %s had been heard is not in the log", r.Name)
	}
	return n
}
