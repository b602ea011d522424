package rules

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// Values returns facts with fixed values. The keys are names of facts, as in [Fact].Name, and ralph's own names in
// full: "state", "transcript.last", "env.HOME". Values convert as in [ValueOf]; functions need a func of their type,
// such as func(string) bool for "said". What m lacks is missing, or the zero value of its type. A key that is neither a
// fact of the policy nor one of ralph's names is a problem of the verdict.
//
// You must not modify m while it is in use.
func Values(m map[string]any) Facts { return values(m) }

type values map[string]any

func (m values) Fact(_ context.Context, f *Fact, _ []string) Value {
	v, ok := m[f.Name]
	if !ok {
		return Value{Status: Missing, Problem: "is not given", Quiet: true}
	}
	return ValueOf(f, v)
}

func (m values) Name(_ context.Context, name string) any { return m[name] }

// ValueOf returns the Value of a source for a Go value: a present fact. A rule converts and checks what it reads of the
// value, and nothing else: fields that no rule reads cost nothing. [Value.Whole] does it at once.
//
// v is nil (the fact is missing) or anything that encoding/json writes. A rule sees what that writes, with its names of
// fields, except that []byte is a string, a nil slice or map is an empty one, and a time.Duration stays a duration. A
// func(context.Context) (any, error), also as a field or an element, is called if a rule reads it, at most once a
// decision; if it returns an error, what it supplies is unusable, as a source that fails. If v is a [Value] that is
// OK, its V is the Go value, unless ValueOf made it, and the rest stays.
//
// A Go value has its type: "1" is no integer, while a file may spell one so. A field of the wrong type, or one that
// cannot convert, is unusable by itself: only rules that read it report it. Fields are checked as a whole where the schema
// has a keyword that looks at several of them, such as anyOf or minProperties. A value that cannot be used at all makes
// the fact invalid, with the reason as its problem.
//
// The program must not change v before the decision is made: until Eval, or Run of a loop, returns. A rule may see a part
// that was read earlier as it was, and the rest as it is. What a verdict contains is a copy.
func ValueOf(f *Fact, v any) Value {
	out, ok := v.(Value)
	switch {
	case !ok:
		out = Value{V: v}
	case !out.Status.known():
		return Value{Status: Invalid, Problem: fmt.Sprintf("has the unknown status %q", string(out.Status))}
	case out.of != nil || out.read != nil || out.Status != OK:
		return out
	}
	if out.V == nil {
		out.Status, out.Problem, out.Quiet = Missing, "is nil", true
		return out
	}
	if f == nil {
		f = &Fact{}
	}
	out.of = &goValue{given: reflect.ValueOf(out.V), body: f.Source.Value.Body}
	switch {
	case f.Schema != nil && f.Source.Value.Around == nil:
		out.of.typ = f.Schema
	case f.plan.sym != nil:
		out.of.typ, out.of.sparse = f.plan.sym.typ, true
	}
	return out
}

// Whole returns v with all of its value converted and checked, if [ValueOf] made it: V then has only JSON types, and is a
// copy. It is for tests of a source.
func (v Value) Whole(ctx context.Context) Value {
	if v = v.begun(ctx); v.read == nil {
		return v
	}
	v.read.reach(ctx, nil, everything, nil)
	v.read.judge()
	v.read.root.whole = true
	return v.as(v.read)
}

// begun returns v such that rules can read its Go value.
func (v Value) begun(ctx context.Context) Value {
	if v.of == nil {
		return v
	}
	r := &reading{goValue: v.of, root: part{typ: v.of.typ}, unusable: slices.Clip(v.Unusable), warnings: slices.Clip(v.Warnings)}
	r.begin(ctx)
	return v.as(r)
}

// as returns v with what was read of its Go value.
func (v Value) as(r *reading) Value {
	if r.status != OK {
		return Value{Status: r.status, Problem: r.problem, Quiet: r.quiet, Path: v.Path, Version: v.Version, ModTime: v.ModTime, Private: v.Private, Meta: v.Meta}
	}
	v.V, v.Unusable, v.Warnings, v.of, v.read = r.root.value, r.unusable, r.warnings, nil, r
	return v
}

// sound reports whether the fields of a value are as [Value] documents them; a foreign value inside a list or an object
// is an error where it is used.
func (v *Value) sound() bool {
	switch v.V.(type) {
	case nil, bool, int, float64, string, time.Duration, []any, map[string]any:
		return v.Status.known()
	}
	return v.of != nil || v.read != nil || v.Status != OK && v.Status.known()
}

func (s Status) known() bool { return s == OK || s == Missing || s == Invalid || s == Withheld }
