package replay

import (
	"context"
	"path"
	"strconv"
	"time"

	"github.com/ralph-sdk/ralph/internal/inputs"
	"github.com/ralph-sdk/ralph/internal/vocab"
	"github.com/ralph-sdk/ralph/loop"
	"github.com/ralph-sdk/ralph/rules"
	"github.com/ralph-sdk/ralph/schema"
)

// past provides the facts of a record.
type past struct {
	record  *loop.Record
	unknown []string // requested, but not in the record
}

// Fact returns what the record has of a fact. Fields that it lacks look missing; check finds them afterwards, among all
// that was read.
func (w *past) Fact(_ context.Context, decl *rules.Fact, args []string) rules.Value {
	read, ok := inputs.Gathered(w.record, decl.Name)
	arguments, _ := decl.Split(args)
	switch {
	case !ok:
		w.miss("the fact %s was not gathered then", decl.Name)
		return rules.Value{Status: rules.Missing, Quiet: true, Problem: "it is not in the log"}
	case read.Source != decl.Source.Name:
		w.miss("the fact %s came from %s then, and comes from %s now", decl.Name, read.Source, decl.Source.Name)
	case (decl.Source.Argument == "path" || decl.Source.Argument == "pattern") && read.Path != "" && len(arguments) > 0 &&
		path.Clean(arguments[0]) != path.Clean(read.Path):
		w.miss("the fact %s was read from %s then, and is read from %s now", decl.Name, read.Path, arguments[0])
	}
	v := rules.Value{Status: read.Status, Problem: read.Problem, Path: read.Path, Version: "then", Quiet: !read.Unusable, Found: read.Status != rules.Missing}
	if age, ok := inputs.Known(w.record, "age("+decl.Name+")"); ok {
		if d, err := time.ParseDuration(age.(string)); err == nil {
			v.ModTime = w.record.Time.Add(-d)
		}
	}
	if v.Status == rules.Missing {
		v.Version = "" // of no file, which an effect could create
	}
	if v.Status == rules.OK {
		v.V = value(decl, inputs.Document(w.record, decl.Name))
	}
	return v
}

// value returns a value of a record in the types that rules expect.
func value(decl *rules.Fact, doc any) any {
	if doc == nil {
		doc = decl.Source.Value.Type.Zero()
	}
	if doc == nil {
		doc = map[string]any{}
	}
	if decl.Source.Argument == "pattern" {
		files, _ := doc.([]any)
		for _, f := range files {
			if fields, ok := f.(map[string]any); ok {
				if age, ok := fields["age"].(int); ok {
					fields["age"] = time.Duration(age)
				}
			}
		}
		return files
	}
	if decl.Schema != nil && decl.Source.Value.Around == nil {
		return decl.Schema.Check(schema.Document{Value: doc}).Value
	}
	return doc
}

// ofRecord returns what a record has of a name outside of its inputs; nil for other names.
func ofRecord(r *loop.Record, name string) any {
	switch name {
	case vocab.SessionID:
		return r.Session
	case vocab.HookEventName:
		return r.Event
	case vocab.Host:
		return r.Host
	case vocab.AgentID:
		return r.Agent
	case vocab.Project:
		return r.Root
	}
	return nil
}

// Name returns one of ralph's own names.
func (w *past) Name(_ context.Context, name string) any {
	if v := ofRecord(w.record, name); v != nil {
		return v
	}
	v, _ := inputs.Known(w.record, name)
	text, _ := v.(string)
	entry, _ := vocab.Find(name)
	switch entry.Zero.(type) {
	case func(string) bool:
		return func(text string) bool {
			v, _ := w.call(name, text).(bool)
			return v
		}
	case func(string) string:
		return func(text string) string {
			v, _ := w.call(name, text).(string)
			return v
		}
	case func(int) []any:
		return func(int) []any {
			w.miss("the conversation is not in the log")
			return []any{}
		}
	case time.Duration:
		d, _ := time.ParseDuration(text)
		return d
	case time.Time:
		at, _ := time.Parse(time.RFC3339Nano, text)
		return at
	}
	return v
}

// call returns the recorded result of a function.
func (w *past) call(function, text string) any {
	name := function + "(" + strconv.Quote(text) + ")"
	v, ok := w.record.Calls[name]
	if !ok {
		w.miss("%s was not asked then", name)
	}
	return v
}

// options returns the recorded event, its time, and the memory of the loop.
func (w *past) options(p *rules.Program) rules.Options {
	r, s := w.record, w.record.Streak
	o := rules.Options{Event: r.Event, Time: r.Time, Trace: rules.TraceFull}
	values := map[string]any{}
	for name := range p.Memory {
		if v, ok := inputs.Known(r, "memory."+name); ok { // otherwise check reports whether it is read now
			values[name] = v
		}
	}
	o.Memory, o.Project = inputs.Memories(p, rules.Said{At: r.Time}, r.Repeated, s.Waited, values)
	o.Memory.Streak, o.Memory.Total, o.Memory.Progress, o.Memory.Same, o.Memory.Failures = s.Continuations, s.Total, s.Before, s.Same, s.Failed
	if s.Continuations > 0 {
		o.Memory.Since, o.Memory.Latest = r.Time.Add(-s.Elapsed), r.Time.Add(-s.Step)
	}
	return o
}
